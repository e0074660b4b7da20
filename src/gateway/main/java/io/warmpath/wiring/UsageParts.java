package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.config.TelemetryConfig;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.Refusal;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.load.LoadBook;
import io.warmpath.load.WorkerLoad;
import io.warmpath.routing.Router;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.telemetry.TenantMeters;
import io.warmpath.telemetry.UsageFeed;
import io.warmpath.telemetry.UsageTracing;
import io.warmpath.usage.FleetHistory;
import io.warmpath.usage.UsageBook;
import io.warmpath.usage.UsageBook.Watch;
import io.warmpath.wiring.settings.SteadyMillis;
import java.time.InstantSource;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What requests have used: followed always, for tenants, for workers, and for whoever wants more.
 */
final class UsageParts implements AutoCloseable {
    private static final long SAMPLE_MILLIS = 1_000;

    private final Vertx vertx;
    private final FleetRegistry fleet;
    private final LoadBook load;
    private final UsageBook book;
    private final FleetHistory history;
    private final Tracing tracing;
    private long timer = -1;

    /**
     * @param keyless clients show nothing, so that tenants have no name to keep from others
     * @param channel gets each request that has ended; null: nobody else wants it
     */
    UsageParts(
            TelemetryConfig.Usage config,
            boolean keyless,
            Vertx vertx,
            MeterRegistry meters,
            FleetRegistry fleet,
            LoadBook load,
            Router router,
            LatencyPriors priors,
            @Nullable Consumer<UsageTracing.Usage> channel) {
        this.vertx = vertx;
        this.fleet = fleet;
        this.load = load;
        InstantSource clock = InstantSource.system();
        LongSupplier millis = SteadyMillis.ofMachine();
        TenantMeters tenants = new TenantMeters(meters);
        boolean named = keyless || config.tenantMetrics();
        book = new UsageBook(config.tenants(), millis, named ? tenants : Watch.NONE);
        if (!named) {
            tenants.came(book.all());
        }
        history = new FleetHistory(millis);
        UsageFeed feed =
                new UsageFeed(
                        book,
                        history,
                        model -> fleet.snapshot().knows(model),
                        (rank, tokens) -> prefillMillis(router, priors, rank, tokens));
        tracing = new UsageTracing(channel == null ? feed : new Both(feed, channel), clock);
        fleet.addListener(
                new FleetListener() {
                    @Override
                    public void added(Worker worker) {
                        history.came(worker.name());
                    }

                    @Override
                    public void removed(Worker worker) {
                        history.left(worker.name());
                    }
                });
        // Those that are configured were there before.
        fleet.snapshot().workers().forEach(w -> history.came(w.name()));
    }

    private record Both(UsageFeed feed, Consumer<UsageTracing.Usage> channel)
            implements UsageTracing.Sink {
        @Override
        public void tried(UsageTracing.Tried tried) {
            feed.tried(tried);
        }

        @Override
        public void used(UsageTracing.Usage usage) {
            feed.used(usage);
            channel.accept(usage);
        }

        @Override
        public void refused(Refusal refusal) {
            feed.refused(refusal);
        }
    }

    private static double prefillMillis(
            Router router, LatencyPriors priors, Candidate rank, long tokens) {
        return router.prefillFactor(rank.slot()) * priors.prefillMillis((double) tokens, 0);
    }

    /** Follows every request. */
    Tracing tracing() {
        return tracing;
    }

    UsageBook book() {
        return book;
    }

    FleetHistory history() {
        return history;
    }

    /** Each second: what is booked on each worker. */
    void start() {
        timer = vertx.setPeriodic(SAMPLE_MILLIS, id -> sample());
    }

    private void sample() {
        for (Worker w : fleet.snapshot().workers()) {
            long prefillTokens = 0;
            double blocks = 0;
            for (Worker.Rank r : w.ranks()) {
                WorkerLoad now = load.load(r.slot());
                prefillTokens += now.prefillTokens();
                blocks += now.blocks();
            }
            history.sample(w.name(), prefillTokens, blocks);
        }
    }

    @Override
    public void close() {
        vertx.cancelTimer(timer);
    }
}
