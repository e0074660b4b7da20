package io.warmpath.wiring.index;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.adapter.mooncake.MooncakeKeyStore;
import io.warmpath.adapter.mooncake.MooncakeOptions;
import io.warmpath.adapter.nativeindex.NativePageDigests;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.router.SharedCacheConfig;
import io.warmpath.config.router.SharedCacheHits;
import io.warmpath.config.router.SharedCacheType;
import io.warmpath.config.state.IndexImplementation;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.Place;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.gateway.shared.SharedOptions;
import io.warmpath.pool.JdkPageDigests;
import io.warmpath.pool.LmcacheChunks;
import io.warmpath.pool.PageDigests;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolOptions;
import io.warmpath.pool.PoolStanding;
import io.warmpath.pool.ProbingPool;
import io.warmpath.pool.SharedPool;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.SharedRule;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.settings.RouterSettings;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pools that workers share, as configured. {@link #start} and {@link #close} once each, not on
 * an event loop.
 */
public final class SharedCacheParts implements AutoCloseable {
    private static final long CHECK_MILLIS = 5_000;

    private final Vertx vertx;
    private final AddressGuard guard;
    private final @Nullable SharedCache cache;
    private final @Nullable LmcacheParts lmcache;
    private long timer = -1;

    /**
     * @param hashing for prompts that are too long for an event loop
     * @throws StartFailure when the settings cannot be used
     */
    public SharedCacheParts(
            WarmpathConfig config,
            MemoryPlan plan,
            Vertx vertx,
            Executor hashing,
            MeterRegistry meters,
            AddressGuard guard,
            LongSupplier nanoTime) {
        this.vertx = vertx;
        this.guard = guard;
        SharedCacheConfig shared = config.sharedCache();
        if (!isOn(config)) {
            cache = null;
            lmcache = null;
            return;
        }
        if (RouterSettings.mode(config.router()) != RouterMode.KV) {
            throw new StartFailure(
                    "warmpath.shared-cache.type needs the mode kv (--router-mode): "
                            + RouterSettings.mode(config.router()).flag()
                            + " does not look at caches");
        }
        PageDigests digests =
                config.index().implementation() == IndexImplementation.JAVA
                        ? new JdkPageDigests()
                        : new NativePageDigests(config.index().nativePath().map(Path::of));
        PoolOptions asked =
                PoolOptions.DEFAULTS
                        .withAll(shared.hits() == SharedCacheHits.ANY)
                        .withTtls(shared.heldTtl(), shared.missingTtl());
        MooncakeOptions d = MooncakeOptions.DEFAULTS;
        MooncakeOptions masters =
                new MooncakeOptions(
                        shared.keysPerRequest(),
                        d.connections(),
                        shared.timeout(),
                        d.maxAnswerBytes(),
                        d.viewCheck());
        lmcache =
                shared.type() == SharedCacheType.LMCACHE
                        ? LmcacheParts.open(shared, plan, meters, nanoTime)
                        : null;
        cache =
                new SharedCache(
                        options(shared),
                        layout -> pool(layout, masters, digests, hashing, asked, nanoTime),
                        meters,
                        nanoTime);
    }

    private SharedPool pool(
            PoolLayout layout,
            MooncakeOptions masters,
            PageDigests digests,
            Executor hashing,
            PoolOptions asked,
            LongSupplier nanoTime) {
        if (layout.recipe() instanceof LmcacheChunks chunks && lmcache != null) {
            return new ProbingPool(
                    layout,
                    lmcache.store(chunks.instance()),
                    digests,
                    hashing,
                    LmcacheParts.OPTIONS,
                    nanoTime);
        }
        return new ProbingPool(
                layout,
                new MooncakeKeyStore(vertx, layout.masters(), masters, nanoTime, reach()),
                digests,
                hashing,
                asked,
                nanoTime);
    }

    private MooncakeKeyStore.Reach reach() {
        return new MooncakeKeyStore.Reach() {
            @Override
            public boolean judges(URI master) {
                return guard.judges(master.getHost());
            }

            @Override
            public void check(URI master, InetAddress found) throws IOException {
                guard.check(Place.of(master), found);
            }
        };
    }

    /** The preset load-aware looks at no cache, so at no pool. */
    static boolean isOn(WarmpathConfig config) {
        return config.sharedCache().type() != SharedCacheType.NONE && !config.router().loadAware();
    }

    /** With the worth of pool blocks; load-aware has none. */
    public static RouterOptions weighed(RouterOptions options, WarmpathConfig config) {
        SharedCacheConfig shared = config.sharedCache();
        return config.router().loadAware()
                ? options
                : options.with(
                        options.weights()
                                .withShared(
                                        shared.multiplier().orElse(0.0),
                                        switch (shared.hits()) {
                                            case CONTIGUOUS -> SharedRule.CONTIGUOUS;
                                            case ANY -> SharedRule.BEYOND_DEVICE;
                                        }));
    }

    private SharedOptions options(SharedCacheConfig shared) {
        List<URI> masters = masters(shared.masters().orElse(List.of()));
        masters.forEach(master -> guard.trust(master.getHost()));
        return new SharedOptions(
                switch (shared.type()) {
                    case LMCACHE -> SharedOptions.Kind.LMCACHE;
                    case MOONCAKE_STORE -> SharedOptions.Kind.MOONCAKE_STORE;
                    case HICACHE, NONE -> SharedOptions.Kind.HICACHE;
                },
                shared.deadline(),
                masters,
                shared.engineVersion().orElse(""),
                shared.checkInterval());
    }

    private static List<URI> masters(List<String> urls) {
        List<URI> all = new ArrayList<>();
        for (String url : urls) {
            try {
                URI uri = new URI(url.strip());
                if (!"http".equals(uri.getScheme()) || uri.getHost() == null) {
                    throw new URISyntaxException(url, "not of the form http://host:9003");
                }
                all.add(uri);
            } catch (URISyntaxException e) {
                throw new StartFailure("warmpath.shared-cache.masters: " + e.getMessage());
            }
        }
        return all;
    }

    /** The process has no memory left, or has again. Any thread. */
    public void memoryFull(boolean now) {
        if (lmcache != null) {
            lmcache.room().full(now);
        }
    }

    /** Pools of workers that come are asked, if any is. */
    public void follow(FleetRegistry registry) {
        if (cache != null) {
            registry.addListener(cache);
        }
    }

    /** Null: no pool is asked. */
    public @Nullable SharedCache cache() {
        return cache;
    }

    /** How the ways to the pools are doing. Any thread. */
    public Map<PoolLayout, PoolStanding> standings() {
        return cache == null ? Map.of() : cache.standings();
    }

    public void start() {
        if (cache != null) {
            timer = vertx.setPeriodic(CHECK_MILLIS, id -> cache.check());
        }
    }

    @Override
    public void close() {
        vertx.cancelTimer(timer);
        if (cache != null) {
            cache.close();
        }
        if (lmcache != null) {
            lmcache.close();
        }
    }
}
