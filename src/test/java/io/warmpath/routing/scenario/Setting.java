package io.warmpath.routing.scenario;

import io.warmpath.admission.Policies;
import io.warmpath.admission.QueuePolicy;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.LatencyPriors;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One way to route.
 *
 * @param name as the table has it
 * @param predictedMillis how long a decision stands for its events; 0: not at all
 * @param queue null: nobody waits
 * @param naive in place of the product's choice; null: the product chooses
 */
record Setting(
        String name,
        RouterOptions options,
        long predictedMillis,
        @Nullable Policies queue,
        @Nullable Rule naive) {
    /** As delivered. */
    static final Setting KV = of("kv", RouterOptions.of(RouterMode.KV), 0);

    /** Prompts count eight times as much as what is decoding. */
    static final Setting KV_SCALE_8 =
            of(
                    "kv, prefill-load-scale 8",
                    RouterOptions.of(RouterMode.KV)
                            .with(BlockWeights.DEFAULT.withPrefillLoadScale(8)),
                    0);

    static final Setting KV_PREDICTED =
            of("kv, predictions 5 s", RouterOptions.of(RouterMode.KV), 5_000);

    /** Its predictions are on by default. */
    static final Setting LATENCY =
            of(
                    "kv, cost latency",
                    RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY, LatencyPriors.DEFAULT),
                    5_000);

    /** A preset: caches count double, prefill four times, requests spread. */
    static final Setting AGENTIC =
            of(
                    "kv, agentic",
                    RouterOptions.of(RouterMode.KV).with(BlockWeights.DEFAULT.agentic()),
                    0);

    /** A preset: caches do not count. */
    static final Setting LOAD_AWARE =
            of(
                    "kv, load-aware",
                    RouterOptions.of(RouterMode.KV).with(BlockWeights.DEFAULT.loadAware()),
                    0);

    static final Setting KV_QUEUE =
            new Setting(
                    "kv, queue at 2 batches",
                    RouterOptions.of(RouterMode.KV),
                    0,
                    Policies.single(QueuePolicy.FCFS, 2),
                    null);

    static final Setting ROUND_ROBIN =
            of("round-robin", RouterOptions.of(RouterMode.ROUND_ROBIN), 0);

    static final List<Setting> TABLE =
            List.of(KV, KV_SCALE_8, AGENTIC, LOAD_AWARE, LATENCY, ROUND_ROBIN);

    private static Setting of(String name, RouterOptions options, long predictedMillis) {
        return new Setting(name, options, predictedMillis, null, null);
    }

    static Setting naive(String name, Rule rule) {
        return new Setting(name, RouterOptions.of(RouterMode.KV), 0, null, rule);
    }
}
