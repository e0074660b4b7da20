package io.warmpath.wiring.tokens;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.tokens.EngineFiles;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.model.ModelFolders;
import io.warmpath.wiring.engines.EngineParts;
import io.warmpath.wiring.memory.MemoryPlan;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What engines tell about tokens: their model's files, the tokens of a prompt, and whether these
 * are the tokens made here. {@link #follow} once, {@link #close} once; the rest on any thread.
 */
public final class EngineTokenParts implements AutoCloseable {
    private final WarmpathConfig config;
    private final MeterRegistry meters;
    private final ModelTokens tokens;
    private final EngineQuestions questions;
    private final SelfCheck check;
    private final TokenOrigins origins;
    private final EngineIds ids;

    /**
     * @param names what stands for what
     * @param takesTexts decisions look at prompts, if need be at their texts
     * @param settled told of a worker once it is clear where its models' tokens come from
     */
    public EngineTokenParts(
            WarmpathConfig config,
            MemoryPlan plan,
            Vertx vertx,
            EngineParts engines,
            MeterRegistry meters,
            ModelTokens tokens,
            ModelNames names,
            boolean takesTexts,
            Consumer<Worker> settled) {
        this.config = config;
        this.meters = meters;
        this.tokens = tokens;
        questions = new EngineQuestions(vertx, engines.tls(), engines.addresses(), plan);
        questions.bind(meters);
        check =
                new SelfCheck(
                        questions.tokenizer(), questions.executor(), meters, System::nanoTime);
        origins =
                new TokenOrigins(
                        tokens::has,
                        ModelSettings.askingEngines(config),
                        names::base,
                        takesTexts,
                        settled);
        ids = questions.ids(origins::asksEngines, config.tokens().deadline());
    }

    /** Asks each worker that comes for its model's files. */
    public void follow(FleetRegistry registry, FleetSources sources) {
        registry.addListener(
                new EngineModels(
                        tokens,
                        questions.places(),
                        ModelFolders.of(System.getenv(), System.getProperty("user.home")),
                        questions.tokenizer(),
                        trusted(config.tokens().engineFiles(), sources),
                        questions.executor(),
                        origins));
        origins.bind(meters, () -> registry.snapshot().workers(), ids::isAbsent);
    }

    public SelfCheck check() {
        return check;
    }

    public EngineIds ids() {
        return ids;
    }

    /** Where the tokens of a worker's models come from, by model. */
    public Map<String, String> origins(Worker worker) {
        return origins.words(worker, ids.isAbsent(worker));
    }

    @Override
    public void close() {
        questions.close();
    }

    private static Predicate<Worker> trusted(EngineFiles whose, FleetSources sources) {
        return switch (whose) {
            case OFF -> worker -> false;
            case CONFIGURED -> worker -> sources.sources(worker.url()).contains(SourceName.CONFIG);
            case ALL -> worker -> true;
        };
    }
}
