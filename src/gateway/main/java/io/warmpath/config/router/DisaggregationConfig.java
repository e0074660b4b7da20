package io.warmpath.config.router;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.ByteSize;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import java.time.Duration;
import java.util.Optional;

/**
 * What it costs to hand a prompt's KV cache from the worker that computes it to the one that
 * decodes. Part of {@link WarmpathConfig}.
 */
public interface DisaggregationConfig {
    @WithDefault("128K")
    @WithConverter(ByteSize.Reader.class)
    @Setting(
            doc =
                    "KV cache of one token, all layers together: 128K for a model of 8 billion"
                            + " parameters, 320K for 70 (src/docs/how-to/disaggregation.md). vLLM's engines"
                            + " show it themselves when they fetch caches by NIXL.",
            minSize = "1",
            maxSize = "64M")
    ByteSize kvBytesPerToken();

    @WithDefault("25")
    @Setting(
            doc =
                    "What the network carries between two workers; it counts until engines have shown"
                            + " it themselves.",
            unit = "Gbit/s",
            min = 0.001,
            max = 100000)
    double transferRate();

    @Setting(
            doc =
                    "The same between workers of one zone, by their label `zone`. Not set: as"
                            + " between any two.",
            unit = "Gbit/s",
            min = 0.001,
            max = 100000)
    Optional<Double> transferRateZone();

    @Setting(
            doc = "The same between workers of one `rack`. Not set: as in one zone.",
            unit = "Gbit/s",
            min = 0.001,
            max = 100000)
    Optional<Double> transferRateRack();

    @Setting(
            doc = "The same between workers of one `node`. Not set: as in one rack.",
            unit = "Gbit/s",
            min = 0.001,
            max = 100000)
    Optional<Double> transferRateNode();

    @WithDefault("2ms")
    @WithConverter(TimeSpan.class)
    @Setting(doc = "What passes before the first byte of a cache moves.", maxTime = "1m")
    Duration transferSetup();

    @WithDefault("30s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc =
                    "A split request whose prompt is not computed and moved so long after it was"
                            + " expected to be is done again by other workers, where there are any."
                            + " 0: wait for ever.",
            maxTime = "1h")
    Duration stallTimeout();

    @WithDefault("0.1")
    @Setting(
            doc =
                    "In the cost by blocks (`--router-cost blocks`): what a block that is moved costs"
                            + " where one that is computed costs 1.",
            min = 0,
            max = 100)
    double transferWeight();

    @Setting(
            doc =
                    "Split the prompts of which a worker that does whole requests would have to compute"
                            + " at least so many tokens, and no others, as Dynamo's thresholds do. Not"
                            + " set: whatever is cheaper.",
            unit = "tokens",
            min = 0)
    Optional<Long> splitFromTokens();
}
