package io.warmpath.wiring;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.warmpath.admission.Admission;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.api.Routes;
import io.warmpath.api.client.ClientGate;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.agent.EngineSessions;
import io.warmpath.gateway.agent.NextTurn;
import io.warmpath.gateway.agent.SessionTurns;
import io.warmpath.gateway.answer.AnswerReport;
import io.warmpath.gateway.flow.FlowParts;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.Moving;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.flow.Sending;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.pin.PinMetrics;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.plan.EntranceParts;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.plan.Planning;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.gateway.prompt.HotPrompts;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.ModelRewrites;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.load.ActiveAdapters;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.session.Affinity;
import io.warmpath.session.PrefillBudget;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.session.SessionParts;
import io.warmpath.wiring.settings.FlowSettings;
import io.warmpath.wiring.tokens.TokenParts;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The path of requests, put together from its parts. What is not set has no effect: nothing is
 * explained, bound, kept, checked or shared, and everybody may ask. The warm-up is such a path.
 */
final class RequestPath {
    private final WarmpathConfig config;
    private final TokenParts tokens;
    private final Fleet fleet;
    private final PromptTokens prompts;
    private final EngineClient engines;
    private final LoadTracker load;
    private final Overlaps overlaps;
    private final io.warmpath.routing.Router router;
    private final GatewayOptions options;
    private final Migration migration;
    private final FlowMetrics metrics;
    private Admission admission;
    private DecisionLog decisions = DecisionLog.OFF;
    private EventWatch events = EventWatch.OFF;
    private SelfCheck selfCheck = SelfCheck.off();
    private EngineIds engineIds = EngineIds.OFF;
    private Affinity affinity = Affinity.off();
    private PrefillBudget prefills = PrefillBudget.off();
    private EngineSessions engineSessions;
    private Pins pins;
    private Objectives objectives = Objectives.NONE;
    private ModelRewrites rewrites = ModelRewrites.NONE;
    private @Nullable SharedCache shared;
    private @Nullable HotPrompts hot;
    private TransferRates transfers = new TransferRates();
    private ActiveAdapters adapters = new ActiveAdapters();

    /**
     * @param tokens names of models, and the threads that tokenise
     * @param prompts makes token ids of prompts
     * @param overlaps which engine holds what of a prompt
     */
    RequestPath(
            WarmpathConfig config,
            TokenParts tokens,
            PromptTokens prompts,
            Fleet fleet,
            EngineClient engines,
            LoadTracker load,
            Overlaps overlaps,
            io.warmpath.routing.Router router,
            GatewayOptions options,
            Migration migration,
            FlowMetrics metrics) {
        this.config = config;
        this.tokens = tokens;
        this.prompts = prompts;
        this.fleet = fleet;
        this.engines = engines;
        this.load = load;
        this.overlaps = overlaps;
        this.router = router;
        this.options = options;
        this.migration = migration;
        this.metrics = metrics;
        admission = new Admission(AdmissionOptions.OFF, load, System::nanoTime);
        engineSessions = EngineSessions.off(engines);
        pins = Pins.off(new PinMetrics(new SimpleMeterRegistry()));
    }

    RequestPath admission(Admission value) {
        admission = value;
        return this;
    }

    RequestPath decisions(DecisionLog value) {
        decisions = value;
        return this;
    }

    RequestPath events(EventWatch value) {
        events = value;
        return this;
    }

    /**
     * Engines' own lengths and ids of prompts, to compare with and to use where there are none
     * here.
     */
    RequestPath engineTokens(SelfCheck check, EngineIds ids) {
        selfCheck = check;
        engineIds = ids;
        return this;
    }

    RequestPath sessions(SessionParts parts) {
        affinity = parts.affinity();
        prefills = parts.prefills();
        engineSessions = parts.engineSessions();
        return this;
    }

    RequestPath pins(Pins value) {
        pins = value;
        return this;
    }

    /** Names that requests may give their priority by. */
    RequestPath objectives(Objectives value) {
        objectives = value;
        return this;
    }

    /** What operators have models stand for, beside the configuration. */
    RequestPath rewrites(ModelRewrites value) {
        rewrites = value;
        return this;
    }

    /** {@code pool}: null: engines share nothing. */
    RequestPath shared(@Nullable SharedCache pool) {
        shared = pool;
        return this;
    }

    /** {@code prompts}: null: which prefixes are hot is not looked at. */
    RequestPath hot(@Nullable HotPrompts prompts) {
        hot = prompts;
        return this;
    }

    /**
     * What engines show of how KV caches move between them, and of adapters that have requests
     * there.
     */
    RequestPath told(TransferRates ofTransfers, ActiveAdapters ofAdapters) {
        transfers = ofTransfers;
        adapters = ofAdapters;
        return this;
    }

    /**
     * @param notReady why it is not, though requests are answered; empty when it is
     * @param gate who may ask
     */
    Routes routes(Supplier<String> notReady, ClientGate gate) {
        TokenStep tokenStep =
                new TokenStep(
                        prompts,
                        overlaps.prompts(),
                        overlaps.takesTexts(),
                        router.mode(),
                        tokens.threads(),
                        options.tokenDeadline(),
                        metrics,
                        engineIds,
                        shared,
                        System::nanoTime);
        Planner planner =
                new Planner(
                        fleet,
                        overlaps,
                        router,
                        load,
                        metrics,
                        decisions,
                        options.classTolerations(),
                        events,
                        selfCheck,
                        pins,
                        shared,
                        System::nanoTime,
                        hot,
                        FlowSettings.splitting(config.disaggregation(), transfers),
                        adapters);
        EntranceParts entrance =
                new EntranceParts(
                        planner, admission, metrics, options.retryAfter(), System::nanoTime);
        NextTurn.Parts nextTurns =
                new NextTurn.Parts(prefills, load, tokens.threads(), prompts, engines, metrics);
        RequestFlow flow =
                new RequestFlow(
                        new FlowParts(
                                new Planning(
                                        fleet,
                                        tokens.names().behind(rewrites),
                                        objectives,
                                        tokenStep,
                                        planner,
                                        entrance),
                                new SessionTurns(
                                        affinity,
                                        engineSessions,
                                        planner,
                                        admission,
                                        tokens.threads()),
                                new Sending(
                                        load,
                                        engines,
                                        0,
                                        false,
                                        () -> ThreadLocalRandom.current().nextLong(),
                                        pins,
                                        nextTurns,
                                        new AnswerReport.Parts(
                                                nextTurns.warmed(),
                                                shared,
                                                selfCheck,
                                                events,
                                                metrics)),
                                new Moving(migration, prompts, tokens.threads(), selfCheck),
                                FlowSettings.retries(config.retry()),
                                options,
                                metrics,
                                System::nanoTime));
        return new Routes(
                fleet,
                flow,
                tokens.models(),
                tokens.threads(),
                options,
                metrics,
                notReady,
                () -> ThreadLocalRandom.current().nextLong(),
                gate);
    }
}
