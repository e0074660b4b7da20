package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.routing.NotExact;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Meters of what was predicted of engines' caches, and of what engines reported. Any thread. */
public final class PredictionMeters {
    /** How a prediction compares with what the engine reported. */
    private enum Prediction {
        EQUAL,
        OVER,
        UNDER
    }

    private final MeterRegistry registry;
    private final Counter promptTokens;
    private final Counter predictedTokens;
    private final Counter reportedTokens;
    private final EnumCounters<Prediction> all;
    private final EnumCounters<NotExact> notExact;
    private final Map<String, EnumCounters<Prediction>> byWorker = new ConcurrentHashMap<>();

    PredictionMeters(MeterRegistry registry) {
        this.registry = registry;
        promptTokens =
                Counter.builder("warmpath.prompt.tokens")
                        .description("Prompt tokens of requests whose tokens are known")
                        .register(registry);
        predictedTokens =
                Counter.builder("warmpath.cached.tokens.predicted")
                        .description("Cached tokens predicted on the chosen workers")
                        .register(registry);
        reportedTokens =
                Counter.builder("warmpath.cached.tokens.reported")
                        .description("Cached tokens that engines reported")
                        .register(registry);
        all =
                new EnumCounters<>(
                        registry,
                        Prediction.class,
                        "result",
                        "warmpath.predictions",
                        "Predicted against reported cached tokens, per request");
        notExact =
                new EnumCounters<>(
                        registry,
                        NotExact.class,
                        "reason",
                        "warmpath.predictions.not.exact",
                        "Answers whose cached tokens were not predicted, or not exactly, by why");
    }

    /** {@code prompt}: tokens of it. {@code cached}: of these, predicted on the chosen worker. */
    public void predicted(int prompt, int cached) {
        promptTokens.increment(prompt);
        predictedTokens.increment(cached);
    }

    public void reported(long cached) {
        reportedTokens.increment((double) cached);
    }

    /** The worker has said how much of a prompt was cached. */
    public void compared(String worker, int predicted, long reported) {
        Prediction p =
                predicted == reported
                        ? Prediction.EQUAL
                        : predicted > reported ? Prediction.OVER : Prediction.UNDER;
        all.count(p);
        byWorker.computeIfAbsent(worker, this::ofWorker).count(p);
    }

    /** A worker has answered, and what it reports as cached may be another number. */
    public void notExact(NotExact reason) {
        notExact.count(reason);
    }

    /** Answers by reason, of those that there were. */
    public Map<NotExact, Long> notExact() {
        return notExact.counts();
    }

    private EnumCounters<Prediction> ofWorker(String worker) {
        return new EnumCounters<>(
                registry,
                Prediction.class,
                "result",
                "warmpath.worker.predictions",
                "Predicted against reported cached tokens, per request to the worker",
                "worker",
                worker);
    }

    /** The worker has gone, and its meters with it. */
    public void forget(String worker) {
        EnumCounters<Prediction> gone = byWorker.remove(worker);
        if (gone != null) {
            gone.remove();
        }
    }
}
