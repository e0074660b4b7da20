package io.warmpath.wiring.settings;

import io.warmpath.adapter.nativeindex.NativeBlockTracker;
import io.warmpath.config.router.VllmCacheAwareConfig;
import io.warmpath.config.router.VllmCacheAwareModelConfig;
import io.warmpath.gateway.prompt.TrackerOverlaps;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.routing.modes.VllmCacheAwareOptions;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The parts of the mode vllm-cache-aware from its configuration, for all models and for one. */
public final class VllmCacheAwareSettings {
    private VllmCacheAwareSettings() {}

    static VllmCacheAwareOptions options(VllmCacheAwareConfig all) {
        return new VllmCacheAwareOptions((float) all.cacheThreshold(), all.loadFactor());
    }

    /** Of the models that have their own. */
    static Map<String, VllmCacheAwareOptions> perModel(VllmCacheAwareConfig all) {
        Map<String, VllmCacheAwareOptions> perModel = new LinkedHashMap<>();
        all.models()
                .forEach(
                        (model, own) ->
                                perModel.put(
                                        model,
                                        new VllmCacheAwareOptions(
                                                own.cacheThreshold()
                                                        .orElse(all.cacheThreshold())
                                                        .floatValue(),
                                                own.loadFactor().orElse(all.loadFactor()))));
        return perModel;
    }

    /** {@code library}: as in {@link NativeBlockTracker}. */
    public static TrackerOverlaps trackers(VllmCacheAwareConfig all, Optional<Path> library) {
        return new TrackerOverlaps(
                (model, blockSize) ->
                        new NativeBlockTracker(
                                library,
                                new BlockTracker.Options(
                                        blockSize, hashing(all, model), maxBlocks(all, model))),
                model -> blockSize(all, model));
    }

    private static int blockSize(VllmCacheAwareConfig all, String model) {
        VllmCacheAwareModelConfig own = all.models().get(model);
        return own == null ? all.blockSize() : own.blockSize().orElse(all.blockSize());
    }

    private static long maxBlocks(VllmCacheAwareConfig all, String model) {
        VllmCacheAwareModelConfig own = all.models().get(model);
        return own == null
                ? all.maxBlocksPerBackend()
                : own.maxBlocksPerBackend().orElse(all.maxBlocksPerBackend());
    }

    private static BlockTracker.Hashing hashing(VllmCacheAwareConfig all, String model) {
        VllmCacheAwareModelConfig own = all.models().get(model);
        return own == null ? all.hashing() : own.hashing().orElse(all.hashing());
    }
}
