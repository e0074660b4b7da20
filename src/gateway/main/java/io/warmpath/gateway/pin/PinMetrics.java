package io.warmpath.gateway.pin;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.session.pin.PinLedger;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** Meters of what clients want to have kept. Any thread. */
public final class PinMetrics {
    /** What became of a client's wish; each has exactly one. */
    public enum Result {
        /** The worker keeps it, as far as it says. */
        OK,
        /** It is kept already, for as long. */
        COVERED,
        /** The worker said no. */
        REJECTED,
        /** The worker could not be asked, or not in time. */
        FAILED,
        /** The worker has no way to keep it. */
        UNSUPPORTED,
        /** Pins are off. */
        DISABLED,
        /** There is no room in the ledger, or in the tenant's part of it. */
        QUOTA,
        /** Too many wait for this worker already, or for the tokenizer. */
        QUEUE_FULL,
        /** The prompt's tokens are not known. */
        UNKNOWN
    }

    /** What became of a request that was to keep a prefix fresh. */
    public enum KeepAlive {
        /** It was there. */
        KEPT,
        /** It had been evicted, and was computed again. */
        COMPUTED,
        /** Done, and the engine does not say what was cached. */
        UNSAID,
        FAILED,
        /** Users' requests leave the worker no time. */
        BUSY,
        BUDGET
    }

    private final Map<Result, Counter> results;
    private final Map<KeepAlive, Counter> keepAlives;
    private final Counter lost;
    private final Counter retries;
    private final MeterRegistry registry;

    public PinMetrics(MeterRegistry registry) {
        this.registry = registry;
        results =
                counters(
                        Result.class,
                        "warmpath.pins",
                        "Prompts that clients asked to have kept in cache, by what became of it");
        keepAlives =
                counters(
                        KeepAlive.class,
                        "warmpath.pins.keep.alives",
                        "Requests that were to keep a pinned prefix fresh");
        lost =
                Counter.builder("warmpath.pins.lost")
                        .description("Pins of which a request found less in cache than they have")
                        .register(registry);
        retries =
                Counter.builder("warmpath.pins.retries")
                        .description("Pins that a worker was asked for once more")
                        .register(registry);
    }

    /** Those of the ledger. */
    public void bind(PinLedger ledger) {
        Gauge.builder("warmpath.pins.held", ledger, PinLedger::size)
                .description("Pins in the ledger, those that are being asked for included")
                .register(registry);
        Gauge.builder("warmpath.pins.tokens", ledger, PinLedger::tokens)
                .description("Tokens of their prompts")
                .register(registry);
        FunctionCounter.builder("warmpath.pins.hits", ledger, PinLedger::hits)
                .description(
                        "Requests that went to a worker that keeps a beginning of their prompt")
                .register(registry);
        FunctionCounter.builder("warmpath.pins.hit.tokens", ledger, PinLedger::hitTokens)
                .description("Prompt tokens that were kept for them")
                .register(registry);
    }

    void ended(Result result) {
        Objects.requireNonNull(results.get(result)).increment();
    }

    void keepAlive(KeepAlive result) {
        Objects.requireNonNull(keepAlives.get(result)).increment();
    }

    void lost() {
        lost.increment();
    }

    void retried() {
        retries.increment();
    }

    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private <E extends Enum<E>> Map<E, Counter> counters(Class<E> of, String name, String doc) {
        Map<E, Counter> all = new EnumMap<>(of);
        Function<E, Counter> one =
                e ->
                        Counter.builder(name)
                                .description(doc)
                                .tag("result", word(e))
                                .register(registry);
        for (E e : of.getEnumConstants()) {
            all.put(e, one.apply(e));
        }
        return all;
    }
}
