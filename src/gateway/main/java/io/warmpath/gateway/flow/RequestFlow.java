package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.warmpath.access.Visit;
import io.warmpath.admission.Admission;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.agent.EngineSessions;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.BodyPace;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.request.Visits;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.load.LoadBook;
import io.warmpath.routing.Router;
import io.warmpath.session.Affinity;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.WarmLedger;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.upstream.EngineClient;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The use case: prompt to tokens, wait for room, match, decide, book, send, pass on, close the
 * books.
 *
 * <p>Shared by all event loops; each request stays on its own. Nothing here blocks.
 */
public final class RequestFlow {
    /** Names of blocks, four for each next turn that was computed ahead: 4 MB. */
    private static final int WARMED = 40_000;

    final Fleet fleet;
    final ModelNames models;
    final TokenStep tokenStep;
    final Planner planner;
    final LoadBook load;
    final Admission admission;
    final EngineClient engines;
    final GatewayOptions options;
    final FlowMetrics metrics;
    final SelfCheck selfCheck;
    final Affinity affinity;
    final PrefillBudget prefills;
    final Pins pins;
    final WarmLedger warmed = new WarmLedger(WARMED);
    final EngineSessions sessions;
    final PromptTokens tokens;
    final TokenLanes lanes;
    final @Nullable SharedCache shared;
    final Migration migration;
    final Retries retries;
    final TimedAnswer.Times times;
    private final BodyMemory bodies;
    private final BodyPace bodyPace;
    final LongSupplier nanoTime;

    /**
     * @param models what the names in requests stand for
     * @param tokenizers runs the prompts that are not cheap
     * @param engineIds for prompts that {@code tokens} does not know
     * @param affinity where a session's requests go
     * @param prefills what next turns may cost
     * @param sessions that clients open and close
     * @param pins what clients want to have kept in cache
     * @param shared the pools of the workers; null: none is asked
     * @param migration streams that go on elsewhere when their worker dies
     * @param retries how much may be asked of engines twice
     * @param nanoTime as {@link System#nanoTime}
     */
    public RequestFlow(
            Fleet fleet,
            ModelNames models,
            PromptTokens tokens,
            Overlaps overlaps,
            Router router,
            LoadBook load,
            Admission admission,
            EngineClient engines,
            TokenLanes tokenizers,
            GatewayOptions options,
            FlowMetrics metrics,
            DecisionLog decisions,
            EventWatch events,
            SelfCheck selfCheck,
            EngineIds engineIds,
            Affinity affinity,
            PrefillBudget prefills,
            EngineSessions sessions,
            Pins pins,
            @Nullable SharedCache shared,
            Migration migration,
            Retries retries,
            LongSupplier nanoTime) {
        this.fleet = fleet;
        this.models = models;
        this.tokenStep =
                new TokenStep(
                        tokens,
                        overlaps.prompts(),
                        overlaps.takesTexts(),
                        router.mode(),
                        tokenizers,
                        options.tokenDeadline(),
                        metrics,
                        engineIds,
                        shared,
                        nanoTime);
        this.planner =
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
                        nanoTime);
        this.shared = shared;
        this.migration = migration;
        this.retries = retries;
        this.selfCheck = selfCheck;
        this.affinity = affinity;
        this.prefills = prefills;
        this.sessions = sessions;
        this.pins = pins;
        this.tokens = tokens;
        this.lanes = tokenizers;
        this.load = load;
        this.admission = admission;
        this.engines = engines;
        this.options = options;
        this.metrics = metrics;
        this.times = new TimedAnswer.Times(options.clients(), nanoTime);
        this.bodies = new BodyMemory(options.clients().bodyMemory());
        this.bodyPace = new BodyPace(options.clients().bodySpan(), nanoTime);
        metrics.bodies(bodies);
        this.nanoTime = nanoTime;
    }

    /**
     * Starts the request; to be called on its event loop, whose context is given. The answer comes
     * on the same loop.
     */
    public Exchange start(Context context, InferenceRequest request, Answer answer) {
        return start(context, request, answer, EngineForm.AS_SENT);
    }

    /**
     * As {@link #start(Context, InferenceRequest, Answer)}, for a request that is not what the
     * engines read.
     */
    public Exchange start(
            Context context, InferenceRequest request, Answer answer, EngineForm form) {
        Visit visit = Visits.of(context);
        InferenceRequest whose = request.of(visit).named(models);
        Exchange exchange = new Exchange(this, context, whose, answer, form, visit);
        exchange.begin();
        return exchange;
    }

    /**
     * The body of a chat with what was said before in its session, where the client does not send
     * that itself. On the request's event loop, where one of the two is called.
     *
     * @param next gets null when the body is right as it is
     * @throws io.warmpath.fault.GatewayException instead of {@code refused}
     */
    public void complete(
            Context context,
            InferenceRequest request,
            Consumer<@Nullable Buffer> next,
            Consumer<GatewayError> refused) {
        SessionHistory.complete(sessions.table, context, request.named(models), next, refused);
    }

    /** Whether decisions need the prompts of requests, those apart that want them explained. */
    public boolean looksAtPrompts() {
        return tokenStep.looksAtPrompts();
    }

    /** How fast bodies have to come. */
    public BodyPace bodyPace() {
        return bodyPace;
    }

    /** What the bodies of all requests take. */
    public BodyMemory bodies() {
        return bodies;
    }

    /** What the names of models in requests stand for. */
    public ModelNames models() {
        return models;
    }

    /** Answers questions about prompts and books for those who send them themselves. */
    public Advisor advisor() {
        return new Advisor(this);
    }
}
