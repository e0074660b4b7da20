package io.warmpath.gateway.shared;

import io.warmpath.fleet.Worker;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.LmcacheMetadata;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.metadata.VllmStoreMetadata;
import io.warmpath.pool.LmcacheChunks;
import io.warmpath.pool.PageRecipe;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.SglangPages;
import io.warmpath.pool.SglangRanks;
import io.warmpath.pool.SglangVersion;
import io.warmpath.pool.VllmPages;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Which pool a worker is in, by what it and the operator say. Immutable. */
sealed interface PoolMembership {
    /** It uses none of this kind. */
    record None() implements PoolMembership {}

    /** It uses one, but cannot be credited for it. */
    record Unusable(String why) implements PoolMembership {}

    record Member(PoolLayout layout) implements PoolMembership {}

    static PoolMembership of(Worker worker, SharedOptions options) {
        PoolMetadata published = worker.offload().pool();
        boolean ours =
                switch (options.kind()) {
                    case HICACHE -> published instanceof HiCacheMetadata;
                    case MOONCAKE_STORE -> published instanceof VllmStoreMetadata;
                    case LMCACHE -> published instanceof LmcacheMetadata;
                };
        if (published == null || !ours) {
            return new None();
        }
        // LMCache's chunks are of many blocks.
        if (!(published instanceof LmcacheMetadata) && published.pageSize() != worker.blockSize()) {
            return new Unusable(
                    ("page-size mismatch: its pages have %s tokens, its blocks here %s; they"
                                    + " must agree")
                            .formatted(published.pageSize(), worker.blockSize()));
        }
        try {
            PageRecipe recipe =
                    switch (published) {
                        case HiCacheMetadata sglang -> recipe(sglang, worker, options);
                        case VllmStoreMetadata vllm -> recipe(vllm);
                        case LmcacheMetadata lmcache -> recipe(lmcache, worker);
                    };
            return new Member(new PoolLayout(recipe, masters(published, options)));
        } catch (IllegalArgumentException e) {
            return new Unusable(String.valueOf(e.getMessage()));
        }
    }

    private static PageRecipe recipe(HiCacheMetadata m, Worker worker, SharedOptions options) {
        SglangVersion version =
                version(m.version())
                        .or(() -> version(worker.version()))
                        .or(() -> version(options.engineVersion()))
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "its SGLang version is not known, and with it the"
                                                        + " form of its keys; set"
                                                        + " warmpath.shared-cache.engine-version"));
        return new SglangPages(
                version,
                m.pageSize(),
                m.mla(),
                m.eagle(),
                new SglangRanks(
                        m.tpSize(), m.ppSize(), m.splitHeads() ? m.tpLcmSize() : m.tpSize(), 1, 1),
                m.backendTag(),
                modelName(m, worker));
    }

    private static String modelName(HiCacheMetadata m, Worker worker) {
        if (!m.modelName().isEmpty()) {
            return m.modelName();
        }
        Set<String> own = worker.served().own();
        if (own.size() != 1) {
            throw new IllegalArgumentException(
                    "it serves "
                            + own
                            + ": which of them begins its keys has to be told by model_name");
        }
        return own.iterator().next();
    }

    private static PageRecipe recipe(VllmStoreMetadata m) {
        return new VllmPages(
                m.pageSize(),
                m.hashSeed(),
                m.modelName(),
                m.storeNamespace(),
                m.cachePrefix(),
                m.tpRanks(),
                m.pcpRanks(),
                m.dcpRanks(),
                m.ppRanks(),
                m.groups());
    }

    private static PageRecipe recipe(LmcacheMetadata m, Worker worker) {
        return new LmcacheChunks(
                m.instanceId(),
                m.pageSize(),
                worker.blockSize(),
                LmcacheChunks.Hashing.parse(m.hashAlgorithm()),
                m.hashSeed());
    }

    private static Optional<SglangVersion> version(String text) {
        return SglangVersion.parse(text);
    }

    private static List<URI> masters(PoolMetadata m, SharedOptions options) {
        if (m instanceof LmcacheMetadata lmcache) {
            return List.of(URI.create(LmcacheChunks.SCHEME + "://" + lmcache.instanceId()));
        }
        if (!options.masters().isEmpty()) {
            return options.masters();
        }
        String address = m.masterServerAddress();
        if (address.isEmpty() || address.contains("://")) {
            throw new IllegalArgumentException(
                    (address.isEmpty() ? "it names no master" : "its master is " + address)
                            + "; set warmpath.shared-cache.masters to the masters' admin URLs");
        }
        int colon = address.lastIndexOf(':');
        String host = colon < 0 || address.endsWith("]") ? address : address.substring(0, colon);
        return List.of(URI.create("http://" + host + ":" + m.masterMetricsPort()));
    }
}
