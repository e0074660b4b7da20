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
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fresh engines and a gateway in front of them. Any thread. {@link #settle} is what makes
 * predictions comparable: it waits until the gateway has applied every batch of events that the
 * engines have published, by comparing its counter with theirs.
 */
final class Stage implements AutoCloseable {
    static final String MODEL = "demo";
    static final int BLOCK_SIZE = 16;

    private static final int POOL_PAGES = 1_000_000;
    private static final double POOL_TOKENS_PER_SECOND = 30_000;
    private static final Duration START_LIMIT = Duration.ofSeconds(90);
    private static final Duration SETTLE_LIMIT = Duration.ofSeconds(15);
    private static final long LOOK_AGAIN_MILLIS = 3;

    /**
     * What a stage is made of.
     *
     * @param name for people
     * @param engines how many
     * @param engine what one of them is like, by its number from 0; a pool is added where there is
     *     one
     * @param pooled the engines share a pool
     * @param port of the gateway
     * @param files flags of the gateway that say where the model's files are
     * @param mode flags of the gateway that say how it routes
     * @param settings of the gateway, as its environment
     * @param log file for everything that the gateway prints
     */
    record Setup(
            String name,
            int engines,
            IntFunction<SimOptions.Builder> engine,
            boolean pooled,
            int port,
            List<String> files,
            List<String> mode,
            Map<String, String> settings,
            Path log) {
        private List<String> flags() {
            return Stream.concat(files.stream(), mode.stream()).toList();
        }
    }

    private final String name;
    private final List<SimEngine> engines;
    private final @Nullable SimPool pool;
    private final GatewayProcess gateway;
    private final GatewayClient client;

    private Stage(
            String name, List<SimEngine> engines, @Nullable SimPool pool, GatewayProcess gateway) {
        this.name = name;
        this.engines = List.copyOf(engines);
        this.pool = pool;
        this.gateway = gateway;
        this.client = new GatewayClient(gateway.url());
    }

    /** Starts everything; the gateway is not ready yet. */
    static Stage start(Setup setup, SimTokenizer tokenizer) throws DemoFailure {
        List<SimEngine> engines = new ArrayList<>();
        @Nullable SimPool pool = null;
        try {
            if (setup.pooled()) {
                pool = SimPool.start("127.0.0.1", 0, MODEL, POOL_PAGES, POOL_TOKENS_PER_SECOND);
            }
            for (int i = 0; i < setup.engines(); i++) {
                SimOptions.Builder options = setup.engine().apply(i);
                if (pool != null) {
                    options.pool(pool);
                }
                engines.add(SimEngine.start(options.build(), tokenizer));
            }
            GatewayProcess gateway =
                    GatewayProcess.start(
                            setup.port(),
                            setup.flags(),
                            engines.stream().map(SimEngine::url).toList(),
                            setup.settings(),
                            setup.log());
            return new Stage(setup.name(), engines, pool, gateway);
        } catch (IOException e) {
            close(engines, pool);
            throw new DemoFailure("cannot start the engines: " + e.getMessage(), e);
        } catch (DemoFailure | RuntimeException e) {
            close(engines, pool);
            throw e;
        }
    }

    String name() {
        return name;
    }

    GatewayClient client() {
        return client;
    }

    GatewayProcess gateway() {
        return gateway;
    }

    List<URI> engines() {
        return engines.stream().map(SimEngine::url).toList();
    }

    /** Returns when the gateway knows every engine and has warmed up. */
    void awaitReady() throws DemoFailure, InterruptedException {
        long until = System.nanoTime() + START_LIMIT.toNanos();
        while (client.metric("warmpath_workers", "state=\"ready\"").orElse(0) < engines.size()
                || !client.ready()) {
            gateway.checkAlive();
            if (System.nanoTime() > until) {
                throw new DemoFailure(
                        "the gateway was not ready, with all of its "
                                + engines.size()
                                + " engines, within "
                                + START_LIMIT.toSeconds()
                                + " s:\n"
                                + gateway.tail());
            }
            TimeUnit.MILLISECONDS.sleep(10 * LOOK_AGAIN_MILLIS);
        }
        settle();
    }

    /** Waits until the gateway has applied all events published so far. */
    void settle() throws DemoFailure, InterruptedException {
        long until = System.nanoTime() + SETTLE_LIMIT.toNanos();
        long published =
                engines.stream()
                        .mapToLong(e -> e.stats().sum(SimStats.RankStats::publishedBatches))
                        .sum();
        while (true) {
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
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        }
    }

    @Override
    public void close() {
        gateway.close();
        client.close();
        close(engines, pool);
    }

    private static void close(List<SimEngine> engines, @Nullable SimPool pool) {
        engines.forEach(SimEngine::close);
        if (pool != null) {
            pool.close();
        }
    }
}
