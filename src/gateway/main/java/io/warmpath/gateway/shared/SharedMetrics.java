package io.warmpath.gateway.shared;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.warmpath.pool.PoolStanding;
import io.warmpath.pool.PoolUnavailableException.Reason;
import io.warmpath.routing.SharedHits;
import io.warmpath.routing.SharedView.Outcome;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Meters of the questions to pools. Any thread. Two have the names that Dynamo's router gives them,
 * so that dashboards made for it fit.
 */
final class SharedMetrics {
    private final DistributionSummary hitRate;
    private final DistributionSummary beyond;
    private final Timer query;
    private final Counter keys;
    private final Map<Outcome, Counter> outcomes = new EnumMap<>(Outcome.class);
    private final Map<Reason, Counter> errors = new EnumMap<>(Reason.class);

    /** {@code open}: the pools there are now. */
    SharedMetrics(MeterRegistry registry, Supplier<Collection<OpenPool>> open) {
        hitRate =
                DistributionSummary.builder("router.shared.cache.hit.rate")
                        .description("Part of a request's blocks that its worker's pool holds")
                        .serviceLevelObjectives(0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1)
                        .register(registry);
        beyond =
                DistributionSummary.builder("router.shared.cache.beyond.blocks")
                        .description("Blocks in the pool behind the chosen worker's device prefix")
                        .serviceLevelObjectives(1, 4, 16, 64, 256, 1024, 4096)
                        .register(registry);
        query =
                Timer.builder("warmpath.shared.cache.query")
                        .description("Time until a pool answered, also when nobody waited any more")
                        .serviceLevelObjectives(
                                Duration.ofMillis(1),
                                Duration.ofMillis(2),
                                Duration.ofMillis(5),
                                Duration.ofMillis(10),
                                Duration.ofMillis(50),
                                Duration.ofMillis(200),
                                Duration.ofSeconds(1))
                        .register(registry);
        keys =
                Counter.builder("warmpath.shared.cache.keys")
                        .description("Keys that masters were asked for")
                        .register(registry);
        for (Outcome outcome : Outcome.values()) {
            outcomes.put(
                    outcome,
                    Counter.builder("warmpath.shared.cache.questions")
                            .description("Questions to pools by what became of them")
                            .tag("outcome", word(outcome))
                            .register(registry));
        }
        for (Reason reason : Reason.values()) {
            errors.put(
                    reason,
                    Counter.builder("warmpath.shared.cache.errors")
                            .description("Questions that pools did not answer, by cause")
                            .tag("cause", word(reason))
                            .register(registry));
        }
        Gauge.builder("warmpath.shared.cache.pools", open, p -> p.get().size())
                .description("Pools that workers share")
                .strongReference(true)
                .register(registry);
        Gauge.builder(
                        "warmpath.shared.cache.breakers.open",
                        open,
                        p ->
                                p.get().stream()
                                        .filter(
                                                o ->
                                                        o.pool.standing().breaker()
                                                                != PoolStanding.BreakerState.CLOSED)
                                        .count())
                .description("Pools that are left alone because they failed again and again")
                .strongReference(true)
                .register(registry);
        Gauge.builder(
                        "warmpath.shared.cache.mismatched",
                        open,
                        p -> p.get().stream().filter(OpenPool::isMismatched).count())
                .description("Pools that hold none of the pages that workers have stored there")
                .strongReference(true)
                .register(registry);
        pages(
                registry,
                open,
                "warmpath.shared.cache.pages",
                "Pages of prompts that were looked up",
                PoolStanding::pagesLookedUp);
        pages(
                registry,
                open,
                "warmpath.shared.cache.pages.remembered",
                "Pages of prompts that were known from earlier answers",
                PoolStanding::pagesFound);
    }

    /** Sums over the pools there are now: what left with its last worker is not counted on. */
    private static void pages(
            MeterRegistry registry,
            Supplier<Collection<OpenPool>> open,
            String name,
            String doc,
            ToLongFunction<PoolStanding> count) {
        FunctionCounter.builder(
                        name,
                        open,
                        p ->
                                p.get().stream()
                                        .mapToLong(o -> count.applyAsLong(o.pool.standing()))
                                        .sum())
                .description(doc)
                .register(registry);
    }

    /** A question has come to its end, for the request that asked it. */
    void outcome(Outcome outcome) {
        count(outcomes, outcome);
    }

    void answered(long nanos, int keysAsked) {
        query.record(nanos, TimeUnit.NANOSECONDS);
        keys.increment(keysAsked);
    }

    void failed(Reason reason) {
        count(errors, reason);
    }

    /** A request was decided. {@code device}: blocks on the chosen worker's device. */
    void decided(SharedHits hits, int promptBlocks, int device) {
        if (promptBlocks > 0) {
            hitRate.record((double) hits.hitsBeyond(0) / promptBlocks);
        }
        beyond.record(hits.hitsBeyond(device));
    }

    private static <E extends Enum<E>> void count(Map<E, Counter> counters, E value) {
        Counter counter = counters.get(value);
        if (counter != null) {
            counter.increment();
        }
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
