package io.warmpath.config.router;

import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.config.setting.TimeSpan;
import io.warmpath.prefix.BlockTracker;
import java.time.Duration;
import java.util.Map;

/** The mode vllm-cache-aware. */
public interface VllmCacheAwareConfig {
    @WithDefault("0")
    @Setting(
            doc = "Tokens per block; 0: as each engine tells.",
            unit = "tokens",
            min = 0,
            max = 65536)
    int blockSize();

    @WithDefault("100000")
    @Setting(
            doc =
                    "Blocks remembered of each worker after an eviction; between two of them at"
                            + " most twice as many.",
            unit = "blocks",
            min = 1,
            max = 1 << 30)
    long maxBlocksPerBackend();

    @WithDefault("60s")
    @WithConverter(TimeSpan.class)
    @Setting(
            doc = "Time between evictions; a bare number counts seconds.",
            minTime = "10ms",
            maxTime = "1d")
    Duration evictionIntervalSecs();

    @WithDefault("0.3")
    @Setting(
            doc = "Part of a prompt's blocks that a worker must hold more of than this.",
            min = 0,
            max = 1)
    double cacheThreshold();

    @WithDefault("1.25")
    @Setting(
            doc =
                    "A worker gets a prompt for its blocks only while it runs fewer requests"
                            + " than this times the mean.",
            min = 1,
            max = 1e6)
    double loadFactor();

    @WithDefault("position")
    @Setting(
            doc =
                    "How a block is told from others: by its tokens and position, or by its"
                            + " tokens and all before them (chained), which takes no prompt for"
                            + " another.")
    BlockTracker.Hashing hashing();

    /** What models have of their own, by model name. */
    Map<String, VllmCacheAwareModelConfig> models();
}
