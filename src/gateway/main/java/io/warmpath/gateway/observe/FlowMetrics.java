package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.routing.RouterMode;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * What is told of the request flow: meters, all of which are looked up once, here; and where wanted
 * the steps of single requests. Any thread.
 *
 * <p>Names are {@code warmpath.*} and appear as {@code warmpath_*} in Prometheus' text.
 */
public final class FlowMetrics {
    /** How a request ended; each request has exactly one. */
    public enum Outcome {
        /** The engine's answer, below 400, was passed on whole. */
        OK,
        /** The engine's answer, 400 or above, was passed on. */
        ENGINE_ERROR,
        /** Refused here: bad JSON, too large, unknown model. */
        REJECTED,
        /** Refused here: all workers busy, or the queue full. */
        OVERLOADED,
        /** No worker was there or none could be reached. */
        NO_WORKER,
        /** The engine failed before anything of the answer had been passed on. */
        UPSTREAM_FAILED,
        /** The engine failed in the middle of the answer. */
        BROKEN_MID_ANSWER,
        /** It took longer than any request may. */
        TIMED_OUT,
        /** The client left. */
        CANCELLED,
        /** A bug here. */
        INTERNAL
    }

    /** Why a request was refused although its model has workers. */
    public enum Overload {
        BUSY,
        QUEUE_FULL,
        /** It would have had to wait, and did not want to. */
        NO_WAIT
    }

    /** Why another worker, or another connection, was tried. */
    public enum RetryCause {
        UNREACHABLE,
        BROKE,
        STATUS,
        /** A stream without its first token in time. */
        TIMEOUT,
        /** Same worker, new connection. */
        STALE_CONNECTION
    }

    /** What became of asking a second worker because the first one was late. */
    public enum Hedge {
        SENT,
        /** The second one answered first. */
        WON,
        LOST,
        /** Too many lately. */
        NO_BUDGET,
        NO_WORKER
    }

    /** Why a request was routed by load alone. */
    public enum WithoutTokens {
        /** Tools, images, batches, or a model without a tokenizer. */
        UNKNOWN,
        /** The tokenising queue was full. */
        QUEUE_FULL,
        FAILED,
        /** Took longer than the deadline. */
        LATE
    }

    /** What came of asking an engine for a prompt's token ids. */
    public enum EngineAnswer {
        /** By the engine, or remembered. */
        ANSWERED,
        /** It cannot be asked about such a prompt, or finds it wrong. */
        REFUSED,
        FAILED,
        /** Too many questions run already. */
        BUSY,
        /** Took longer than the deadline. */
        LATE,
        /** It has no tokenizer that could be asked. */
        ABSENT
    }

    /** What became of a prompt that was to be computed before it comes. */
    public enum Prefill {
        /** The engine has computed it. */
        OK,
        /** The engine has refused it, or could not be reached. */
        FAILED,
        /** Users' requests leave the worker no time. */
        BUSY,
        /** Too many, or too many tokens, for this worker already. */
        BUDGET,
        /** The tokenising queue was full. */
        QUEUE_FULL,
        /** Its tokens are not known, or the engine may not take them. */
        UNKNOWN,
        /** The answer before it was too long to be kept. */
        TOO_LONG
    }

    /** How a prediction compares with what the engine reported. */
    public enum Prediction {
        EQUAL,
        OVER,
        UNDER
    }

    private static final Duration[] STEPS =
            LongStream.of(10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000)
                    .mapToObj(us -> Duration.ofNanos(1_000 * us))
                    .toArray(Duration[]::new);

    private static final int MAX_MODELS = 100;
    private static final String OTHER_MODELS = "other";

    private final Map<Outcome, Counter> outcomes;
    private final Map<RetryCause, Counter> retries;
    private final Counter retriesRefused;
    private final Map<Hedge, Counter> hedges;
    private final Map<WithoutTokens, Counter> withoutTokens;
    private final Map<Overload, Counter> overloads;
    private final Counter noMemory;
    private final Counter byText;
    private final Map<EngineAnswer, Counter> engineAnswers;
    private final Map<Prediction, Counter> predictions;
    private final Map<Prefill, Counter> prefills;
    private final Counter prefilledTokens;
    private final Counter prefilledHits;
    private final Map<String, Map<Prediction, Counter>> workerPredictions =
            new ConcurrentHashMap<>();
    private final MeterRegistry registry;
    private final Tracing tracing;
    private final Map<RouterMode, Counter> decisions;
    private final Counter indexFailures;
    private final Counter promptTokens;
    private final Counter predictedTokens;
    private final Counter reportedTokens;
    private final Map<String, ModelMeters> models = new ConcurrentHashMap<>();
    private final Timer tokenising;
    private final Timer matching;
    private final Timer choosing;
    private final Timer overhead;
    private final Timer queueWait;
    private final LongAdder active = new LongAdder();
    private final LongAdder queued = new LongAdder();

    public FlowMetrics(MeterRegistry registry) {
        this(registry, Tracing.NONE);
    }

    /**
     * @param tracing told of the steps of single requests
     */
    public FlowMetrics(MeterRegistry registry, Tracing tracing) {
        this.registry = registry;
        this.tracing = tracing;
        outcomes =
                counters(
                        registry,
                        Outcome.class,
                        o ->
                                Counter.builder("warmpath.requests")
                                        .description("Inference requests by how they ended")
                                        .tag("outcome", tag(o)));
        retries =
                counters(
                        registry,
                        RetryCause.class,
                        c ->
                                Counter.builder("warmpath.retries")
                                        .description("Second tries before the first byte")
                                        .tag("cause", tag(c)));
        retriesRefused =
                Counter.builder("warmpath.retries.refused")
                        .description("Second tries not made because there were too many lately")
                        .register(registry);
        hedges =
                counters(
                        registry,
                        Hedge.class,
                        h ->
                                Counter.builder("warmpath.hedges")
                                        .description(
                                                "Second workers asked because a first token was"
                                                        + " late, and who answered first")
                                        .tag("result", tag(h)));
        withoutTokens =
                counters(
                        registry,
                        WithoutTokens.class,
                        c ->
                                Counter.builder("warmpath.requests.without.tokens")
                                        .description("Requests routed by load alone")
                                        .tag("cause", tag(c)));
        byText =
                Counter.builder("warmpath.requests.by.text")
                        .description(
                                "Requests routed by their text's prefix, as nobody knew their"
                                        + " tokens")
                        .register(registry);
        engineAnswers =
                counters(
                        registry,
                        EngineAnswer.class,
                        a ->
                                Counter.builder("warmpath.engine.tokenize")
                                        .description(
                                                "Prompts whose token ids an engine was to make")
                                        .tag("result", tag(a)));
        overloads =
                counters(
                        registry,
                        Overload.class,
                        c ->
                                Counter.builder("warmpath.overload.rejections")
                                        .description("Requests refused because of load")
                                        .tag("cause", tag(c)));
        noMemory =
                Counter.builder("warmpath.overload.rejections")
                        .description("Requests refused because of load")
                        .tag("cause", "memory")
                        .register(registry);
        queueWait =
                Timer.builder("warmpath.queue.wait")
                        .description("Time in the queue, of the requests that had to wait")
                        .register(registry);
        Gauge.builder("warmpath.queue.requests", queued, LongAdder::doubleValue)
                .description("Requests that wait for a rank with room")
                .register(registry);
        prefills =
                counters(
                        registry,
                        Prefill.class,
                        p ->
                                Counter.builder("warmpath.prefill.ahead")
                                        .description(
                                                "Prompts of next turns that clients asked to have"
                                                        + " computed ahead")
                                        .tag("result", tag(p)));
        prefilledTokens =
                Counter.builder("warmpath.prefill.ahead.tokens")
                        .description(
                                "Tokens of such prompts beyond those of the turn before, computed")
                        .register(registry);
        prefilledHits =
                Counter.builder("warmpath.prefill.ahead.hit.tokens")
                        .description(
                                "Of these tokens, those that the next turn's engine reported as"
                                        + " cached")
                        .register(registry);
        predictions =
                counters(
                        registry,
                        Prediction.class,
                        p ->
                                Counter.builder("warmpath.predictions")
                                        .description(
                                                "Predicted against reported cached tokens, per"
                                                        + " request")
                                        .tag("result", tag(p)));
        decisions =
                counters(
                        registry,
                        RouterMode.class,
                        m ->
                                Counter.builder("warmpath.decisions")
                                        .description("Routing decisions, second ones included")
                                        .tag("mode", m.flag()));
        indexFailures =
                Counter.builder("warmpath.index.failures")
                        .description("Look-ups that failed; the request was routed by load alone")
                        .register(registry);
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
        tokenising = step("warmpath.tokenising", "Prompt to token ids");
        matching = step("warmpath.match", "Look-up of a prompt's blocks in the index");
        choosing = step("warmpath.decide", "Choice of a rank, without the look-up");
        overhead =
                step(
                        "warmpath.overhead",
                        "From the request's last byte until it is sent to an engine, without the"
                                + " time in the queue");
        Gauge.builder("warmpath.requests.active", active, LongAdder::doubleValue)
                .description("Inference requests between their last byte and their end")
                .register(registry);
    }

    public Tracing tracing() {
        return tracing;
    }

    public void started() {
        active.increment();
    }

    public void ended(Outcome outcome) {
        active.decrement();
        count(outcomes, outcome);
    }

    /** The fleet serves this model: its meters are there before its first request. */
    public void serves(String model) {
        of(model);
    }

    /**
     * Meters of the requests for a model. Those beyond {@value #MAX_MODELS} models share one set:
     * LoRA adapters may be many.
     *
     * @param model that the fleet serves, so that clients cannot make up new ones
     */
    public ModelMeters of(String model) {
        ModelMeters known = models.get(model);
        if (known != null) {
            return known;
        }
        String name = models.size() < MAX_MODELS ? model : OTHER_MODELS;
        return models.computeIfAbsent(name, m -> new ModelMeters(registry, m));
    }

    /** A request that never became one: refused before it could be started. */
    public void rejected() {
        count(outcomes, Outcome.REJECTED);
    }

    /** A request that never became one: all bodies together take what they may. */
    public void noMemory() {
        noMemory.increment();
        count(outcomes, Outcome.OVERLOADED);
    }

    /** Shows what the bodies take; once. */
    public void bodies(BodyMemory memory) {
        Gauge.builder("warmpath.request.body.bytes", memory, BodyMemory::held)
                .description("Memory of requests' bodies until their answers begin")
                .baseUnit("bytes")
                .register(registry);
    }

    /** The client left before its request was complete. */
    public void cancelledEarly() {
        count(outcomes, Outcome.CANCELLED);
    }

    private Timer step(String name, String description) {
        return Timer.builder(name)
                .description(description)
                .serviceLevelObjectives(STEPS)
                .register(registry);
    }

    public void matched(long nanos) {
        matching.record(nanos, TimeUnit.NANOSECONDS);
    }

    public void chosen(long nanos) {
        choosing.record(nanos, TimeUnit.NANOSECONDS);
    }

    /** A request leaves for its first engine. */
    public void leaves(long nanos) {
        overhead.record(nanos, TimeUnit.NANOSECONDS);
    }

    public void tokenised(long nanos) {
        tokenising.record(nanos, TimeUnit.NANOSECONDS);
    }

    public void prefill(Prefill result) {
        count(prefills, result);
    }

    /** A next turn's prompt was computed; this many of its tokens were new. */
    public void prefilled(int tokens) {
        prefill(Prefill.OK);
        prefilledTokens.increment(tokens);
    }

    /** So many tokens that were computed ahead have been found by the next turn. */
    public void prefilledHit(int tokens) {
        prefilledHits.increment(tokens);
    }

    public void decided(RouterMode mode) {
        count(decisions, mode);
    }

    public void retried(RetryCause cause) {
        count(retries, cause);
    }

    public void retryRefused() {
        retriesRefused.increment();
    }

    public void hedged(Hedge result) {
        count(hedges, result);
    }

    public void withoutTokens(WithoutTokens cause) {
        count(withoutTokens, cause);
    }

    public void byText() {
        byText.increment();
    }

    public void askedEngine(EngineAnswer answer) {
        count(engineAnswers, answer);
    }

    public void overloaded(Overload cause) {
        count(overloads, cause);
    }

    public void queued() {
        queued.increment();
    }

    public void unqueued(long waitedNanos) {
        queued.decrement();
        queueWait.record(waitedNanos, TimeUnit.NANOSECONDS);
    }

    public void indexFailed() {
        indexFailures.increment();
    }

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
        count(predictions, p);
        count(workerPredictions.computeIfAbsent(worker, this::workerPredictions), p);
    }

    private Map<Prediction, Counter> workerPredictions(String worker) {
        return counters(
                registry,
                Prediction.class,
                p ->
                        Counter.builder("warmpath.worker.predictions")
                                .description(
                                        "Predicted against reported cached tokens, per request to"
                                                + " the worker")
                                .tag("worker", worker)
                                .tag("result", tag(p)));
    }

    /** The worker has gone, and its meters with it. */
    public void forget(String worker) {
        Map<Prediction, Counter> gone = workerPredictions.remove(worker);
        if (gone != null) {
            gone.values().forEach(registry::remove);
        }
    }

    private static <E extends Enum<E>> Map<E, Counter> counters(
            MeterRegistry registry, Class<E> type, Function<E, Counter.Builder> builder) {
        Map<E, Counter> counters = new EnumMap<>(type);
        for (E value : type.getEnumConstants()) {
            counters.put(value, builder.apply(value).register(registry));
        }
        return counters;
    }

    private static <E extends Enum<E>> void count(Map<E, Counter> counters, E value) {
        Counter counter = counters.get(value);
        if (counter != null) {
            counter.increment();
        }
    }

    private static String tag(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
