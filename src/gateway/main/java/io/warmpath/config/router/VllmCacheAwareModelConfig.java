package io.warmpath.config.router;

import io.warmpath.config.setting.Setting;
import io.warmpath.prefix.BlockTracker;
import java.util.Optional;

/** One model in the mode vllm-cache-aware; what is not set is as for all. */
public interface VllmCacheAwareModelConfig {
    @Setting(doc = "As `block-size`, for one model.", unit = "tokens", min = 0, max = 65536)
    Optional<Integer> blockSize();

    @Setting(
            doc = "As `max-blocks-per-backend`, for one model.",
            unit = "blocks",
            min = 1,
            max = 1 << 30)
    Optional<Long> maxBlocksPerBackend();

    @Setting(doc = "As `cache-threshold`, for one model.", min = 0, max = 1)
    Optional<Double> cacheThreshold();

    @Setting(doc = "As `load-factor`, for one model.", min = 1, max = 1e6)
    Optional<Double> loadFactor();

    @Setting(doc = "As `hashing`, for one model.")
    Optional<BlockTracker.Hashing> hashing();
}
