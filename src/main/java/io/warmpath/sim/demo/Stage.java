package io.warmpath.sim.demo;

import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.SimPool;
import io.warmpath.sim.SimStats;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Fresh engines and a gateway in front of them. One thread, but for {@link #close}.
 *
 * <p>{@link #settle} is what makes predictions comparable: it waits until the gateway has applied
 * every batch of events that the engines have published, by comparing its counter with theirs.
 */
final class Stage implements AutoCloseable {
    static final String MODEL = "demo";
    static final int BLOCK_SIZE = 16;

    private static final int POOL_PAGES = 1_000_000;
    private static final double POOL_TOKENS_PER_SECOND = 30_000;

    /**
     * Every answer of the pool counts, and none is remembered as missing: predictions are compared
     * with what the engines find a moment later.
     */
    private static final Map<String, String> POOL_SETTINGS =
            Map.of(
                    "WARMPATH_SHARED_CACHE_TYPE", "hicache",
                    "WARMPATH_SHARED_CACHE_MULTIPLIER", "0.5",
                    "WARMPATH_SHARED_CACHE_DEADLINE", "1s",
                    "WARMPATH_SHARED_CACHE_TIMEOUT", "10s",
                    "WARMPATH_SHARED_CACHE_MISSING_TTL", "0ms");

    private static final Duration START_LIMIT = Duration.ofSeconds(90);
    private static final Duration SETTLE_LIMIT = Duration.ofSeconds(15);
    private static final long LOOK_AGAIN_NANOS = Duration.ofMillis(3).toNanos();

    /**
     * What the gateway is started with.
     *
     * @param mode of the routing
     * @param model flags that say where the model's files are
     * @param settings environment
     * @param log file for everything it prints
     */
    record GatewaySetup(
            int port, String mode, List<String> model, Map<String, String> settings, Path log) {}

    private final List<SimEngine> engines = new ArrayList<>();
    private final @Nullable SimPool pool;
    private final GatewayProcess gateway;
    private final GatewayClient client;

    /**
     * Starts everything and returns when the gateway knows every engine.
     *
     * @param pooled the engines share a pool, and the gateway asks it
     */
    Stage(
            DemoFlags flags,
            int port,
            String mode,
            boolean pooled,
            SimTokenizer tokenizer,
            Path tokenizerFile,
            Path log)
            throws DemoFailure, InterruptedException {
        this(
                flags.engines,
                pooled ? pool() : null,
                (i, pool) -> options(flags, i, pool),
                tokenizer,
                new GatewaySetup(
                        port,
                        mode,
                        List.of("--tokenizer", MODEL + "=" + tokenizerFile),
                        pooled ? POOL_SETTINGS : Map.of(),
                        log));
    }

    /** One engine of several. */
    interface EngineOptions {
        SimOptions of(int number, @Nullable SimPool pool);
    }

    /** The same with other engines and another gateway. */
    Stage(
            int count,
            @Nullable SimPool pool,
            EngineOptions options,
            SimTokenizer tokenizer,
            GatewaySetup setup)
            throws DemoFailure, InterruptedException {
        @Nullable GatewayProcess started = null;
        this.pool = pool;
        try {
            for (int i = 0; i < count; i++) {
                engines.add(SimEngine.start(options.of(i, pool), tokenizer));
            }
            List<URI> urls = engines.stream().map(SimEngine::url).toList();
            started =
                    GatewayProcess.start(
                            setup.port(),
                            setup.mode(),
                            setup.model(),
                            urls,
                            setup.settings(),
                            setup.log());
            gateway = started;
            client = new GatewayClient(gateway.url());
            awaitReady(count);
            settle();
        } catch (IOException e) {
            closeEngines();
            throw new DemoFailure("cannot start the engines: " + e.getMessage(), e);
        } catch (DemoFailure | InterruptedException | RuntimeException e) {
            if (started != null) {
                started.close();
            }
            closeEngines();
            throw e;
        }
    }

    private static SimPool pool() throws DemoFailure {
        try {
            return SimPool.start("127.0.0.1", 0, MODEL, POOL_PAGES, POOL_TOKENS_PER_SECOND);
        } catch (IOException e) {
            throw new DemoFailure("cannot start the pool: " + e.getMessage(), e);
        }
    }

    private static SimOptions options(DemoFlags flags, int number, @Nullable SimPool pool) {
        SimOptions.Builder options = SimOptions.builder();
        if (pool != null) {
            options.pool(pool);
        }
        return options.models(List.of(MODEL))
                .wire(flags.wire)
                .blockSize(BLOCK_SIZE)
                .gpuBlocks(flags.gpuBlocks)
                .hostBlocks(flags.hostBlocks)
                .prefillTokensPerSecond(6_000)
                .hostLoadTokensPerSecond(60_000)
                .interToken(Duration.ofMillis(8))
                .seed(flags.seed + number)
                .build();
    }

    GatewayClient client() {
        return client;
    }

    GatewayProcess gateway() {
        return gateway;
    }

    List<SimEngine> engines() {
        return engines;
    }

    /** Waits until the gateway has applied all events published so far. */
    void settle() throws DemoFailure, InterruptedException {
        long until = System.nanoTime() + SETTLE_LIMIT.toNanos();
        while (true) {
            // The engines first: what they publish meanwhile can only make the gateway's count
            // higher.
            long published =
                    engines.stream()
                            .mapToLong(e -> e.stats().sum(SimStats.RankStats::publishedBatches))
                            .sum();
            OptionalDouble applied = client.metric("warmpath_events_batches_total", "");
            if (applied.isPresent() && applied.getAsDouble() >= published) {
                return;
            }
            gateway.checkAlive();
            if (System.nanoTime() > until) {
                throw new DemoFailure(
                        "the engines have published "
                                + published
                                + " batches of events, the gateway says it has applied "
                                + (applied.isPresent() ? (long) applied.getAsDouble() : "nothing")
                                + "; its log is "
                                + gateway.log());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    private void awaitReady(int workers) throws DemoFailure, InterruptedException {
        long until = System.nanoTime() + START_LIMIT.toNanos();
        while (client.metric("warmpath_workers", "state=\"ready\"").orElse(0) < workers) {
            gateway.checkAlive();
            if (System.nanoTime() > until) {
                throw new DemoFailure(
                        "the gateway did not find its "
                                + workers
                                + " engines within "
                                + START_LIMIT.toSeconds()
                                + " s:\n"
                                + gateway.tail());
            }
            LockSupport.parkNanos(10 * LOOK_AGAIN_NANOS);
        }
    }

    @Override
    public void close() {
        gateway.close();
        client.close();
        closeEngines();
    }

    private void closeEngines() {
        engines.forEach(SimEngine::close);
        if (pool != null) {
            pool.close();
        }
    }
}
