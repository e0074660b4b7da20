package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RouterMode;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;

/**
 * Meters of the request flow, all of which are looked up once, here; and where wanted a trace of
 * the steps of single requests. Any thread. Names are {@code warmpath.*} and appear as {@code
 * warmpath_*} in Prometheus' text.
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
        /** Its tenant has its part of the queue. */
        TENANT_SHARE,
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
        STALE_CONNECTION,
        /** The worker's queue was full. */
        FULL
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
        /** Tools, images, or a model without a tokenizer. */
        UNKNOWN(NotExact.TOKENS_UNKNOWN),
        /** The tokenising queue was full. */
        QUEUE_FULL(NotExact.TOKENS_LATE),
        FAILED(NotExact.TOKENS_FAILED),
        /** Took longer than the deadline. */
        LATE(NotExact.TOKENS_LATE);

        private final NotExact reason;

        WithoutTokens(NotExact reason) {
            this.reason = reason;
        }

        /** Why nothing is predicted then. */
        public NotExact reason() {
            return reason;
        }
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

    private static final Duration[] STEPS =
            LongStream.of(10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000)
                    .mapToObj(us -> Duration.ofNanos(1_000 * us))
                    .toArray(Duration[]::new);

    private static final int MAX_MODELS = 100;
    private static final String OTHER_MODELS = "other";

    private final EnumCounters<Outcome> outcomes;
    private final EnumCounters<RetryCause> retries;
    private final Counter retriesRefused;
    private final EnumCounters<Hedge> hedges;
    private final EnumCounters<WithoutTokens> withoutTokens;
    private final EnumCounters<Overload> overloads;
    private final Counter noMemory;
    private final Counter noFiles;
    private final Counter byText;
    private final EnumCounters<EngineAnswer> engineAnswers;
    private final MeterRegistry registry;
    private final Tracing tracing;
    private final PredictionMeters predictions;
    private final PrefillMeters prefills;
    private final DisaggMeters disagg;
    private final EnumCounters<RouterMode> decisions;
    private final Counter indexFailures;
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

    /** {@code tracing}: gets the steps of single requests. */
    public FlowMetrics(MeterRegistry registry, Tracing tracing) {
        this.registry = registry;
        this.tracing = tracing;
        this.predictions = new PredictionMeters(registry);
        this.prefills = new PrefillMeters(registry);
        this.disagg = new DisaggMeters(registry);
        outcomes =
                new EnumCounters<>(
                        registry,
                        Outcome.class,
                        "outcome",
                        "warmpath.requests",
                        "Inference requests by how they ended");
        retries =
                new EnumCounters<>(
                        registry,
                        RetryCause.class,
                        "cause",
                        "warmpath.retries",
                        "Second tries before the first byte");
        retriesRefused =
                counter(
                        "warmpath.retries.refused",
                        "Second tries not made because there were too many lately");
        hedges =
                new EnumCounters<>(
                        registry,
                        Hedge.class,
                        "result",
                        "warmpath.hedges",
                        "Second workers asked because a first token was late, and who answered"
                                + " first");
        withoutTokens =
                new EnumCounters<>(
                        registry,
                        WithoutTokens.class,
                        "cause",
                        "warmpath.requests.without.tokens",
                        "Requests routed by load alone");
        byText =
                counter(
                        "warmpath.requests.by.text",
                        "Requests routed by their text's prefix, as nobody knew their tokens");
        engineAnswers =
                new EnumCounters<>(
                        registry,
                        EngineAnswer.class,
                        "result",
                        "warmpath.engine.tokenize",
                        "Prompts whose token ids an engine was to make");
        overloads =
                new EnumCounters<>(
                        registry,
                        Overload.class,
                        "cause",
                        "warmpath.overload.rejections",
                        "Requests refused because of load");
        noMemory = overload("memory");
        noFiles = overload("files");
        queueWait =
                Timer.builder("warmpath.queue.wait")
                        .description("Time in the queue, of the requests that had to wait")
                        .register(registry);
        Gauge.builder("warmpath.queue.requests", queued, LongAdder::doubleValue)
                .description("Requests that wait for a rank with room")
                .register(registry);
        decisions =
                new EnumCounters<>(
                        registry,
                        RouterMode.class,
                        RouterMode::flag,
                        "mode",
                        "warmpath.decisions",
                        "Routing decisions, second ones included");
        indexFailures =
                counter(
                        "warmpath.index.failures",
                        "Look-ups that failed; the request was routed by load alone");
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

    /** What was predicted of engines' caches, and what they reported. */
    public PredictionMeters predictions() {
        return predictions;
    }

    /** Prompts that are computed ahead. */
    public PrefillMeters prefills() {
        return prefills;
    }

    /** Requests of which one worker does one half, and another one the other. */
    public DisaggMeters disagg() {
        return disagg;
    }

    public void started() {
        active.increment();
    }

    /** Requests between their last byte and their end. */
    public long active() {
        return active.sum();
    }

    /** Of these, those that wait for a rank with room. */
    public long waiting() {
        return queued.sum();
    }

    public void ended(Outcome outcome) {
        active.decrement();
        outcomes.count(outcome);
    }

    /** The fleet serves this model: its meters are there before its first request. */
    public void serves(String model) {
        of(model);
    }

    /** Nobody serves this model any more: its meters are not shown any longer. */
    public void gone(String model) {
        ModelMeters left = models.remove(model);
        if (left != null) {
            left.remove(registry);
        }
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
        outcomes.count(Outcome.REJECTED);
    }

    /** Tells those who follow requests of one that was answered before it began. */
    public void refused(Refusal refusal) {
        tracing.refused(refusal);
    }

    /** A request that never became one: all bodies together take what they may. */
    public void noMemory() {
        noMemory.increment();
        outcomes.count(Outcome.OVERLOADED);
    }

    /** A request was refused because no connection to an engine could be opened. */
    public void noFiles() {
        noFiles.increment();
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
        outcomes.count(Outcome.CANCELLED);
    }

    private Counter overload(String cause) {
        return Counter.builder("warmpath.overload.rejections")
                .description("Requests refused because of load")
                .tag("cause", cause)
                .register(registry);
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).register(registry);
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

    public void decided(RouterMode mode) {
        decisions.count(mode);
    }

    public void retried(RetryCause cause) {
        retries.count(cause);
    }

    public void retryRefused() {
        retriesRefused.increment();
    }

    public void hedged(Hedge result) {
        hedges.count(result);
    }

    public void withoutTokens(WithoutTokens cause) {
        withoutTokens.count(cause);
    }

    public void byText() {
        byText.increment();
    }

    public void askedEngine(EngineAnswer answer) {
        engineAnswers.count(answer);
    }

    public void overloaded(Overload cause) {
        overloads.count(cause);
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
}
