package io.warmpath.wiring.settings;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.config.ExplainHeaders;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.engine.MigrationConfig;
import io.warmpath.config.engine.RawPath;
import io.warmpath.config.engine.RetryConfig;
import io.warmpath.config.router.DisaggregationConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.fleet.Place;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.Retries;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.Splitting;
import io.warmpath.routing.TransferCost;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.wiring.memory.MemoryPlan;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** What decides on requests and carries them out, from the settings. Stateless. */
public final class FlowSettings {
    private FlowSettings() {}

    public static LoadTracker loadTracker(RouterConfig r, long secret, BookingListener listener) {
        return new LoadTracker(System::nanoTime, RouterSettings.load(r), secret, listener);
    }

    public static io.warmpath.routing.Router router(
            WarmpathConfig config,
            LoadBook load,
            RouterOptions options,
            DecisionLog log,
            boolean queueing) {
        // Who is told why is told both costs, and one of them is learnt. A queue has to know when
        // prompts of answers in one piece are computed.
        boolean explained =
                options.mode().comparesCosts() && config.explain().headers() != ExplainHeaders.OFF;
        return Routers.create(
                options,
                VllmCacheAwareSettings.options(config.routing().vllmCacheAware()),
                VllmCacheAwareSettings.perModel(config.routing().vllmCacheAware()),
                load,
                ThreadLocalRandom::current,
                System::nanoTime,
                log.isOn() || explained || queueing);
    }

    public static Migration migration(
            MigrationConfig config, MemoryPlan plan, MeterRegistry meters) {
        return new Migration(
                new MigrationOptions(
                        config.limit(),
                        (int) Math.min(config.maxSize().bytes(), Integer.MAX_VALUE),
                        plan.kept(config.maxMemory().bytes())),
                meters);
    }

    public static Retries retries(RetryConfig config) {
        return new Retries(
                new Retries.Options(
                        config.maxWorkers(),
                        config.budget(),
                        config.budgetPerSecond(),
                        config.hedgePercentile(),
                        config.hedgeShare()),
                System::nanoTime);
    }

    public static GatewayOptions options(
            WarmpathConfig config, MemoryPlan plan, long maxBodyBytes) {
        GatewayOptions d = GatewayOptions.defaults();
        return new GatewayOptions(
                maxBodyBytes,
                d.holdBytes(),
                d.tailBytes(),
                GatewayOptions.Explain.valueOf(config.explain().headers().name()),
                config.tokens().deadline(),
                config.http().retryAfter(),
                d.bodyLinger(),
                config.disaggregation().stallTimeout(),
                config.upstream().requestUsage() && RouterSettings.predictsCache(config),
                config.upstream().forwardNvext(),
                config.upstream().forwardHandOff(),
                config.upstream().rawPath() == RawPath.AUTO,
                RouterSettings.classTolerations(config.router()),
                ClientSettings.bounds(config.http(), plan, maxBodyBytes));
    }

    /**
     * Between a worker that prefills and one that decodes. {@code rates}: what engines show of it.
     */
    public static Splitting splitting(DisaggregationConfig config, TransferRates rates) {
        TransferCost cost =
                TransferCost.of(
                        config.transferSetup().toNanos() / 1e6,
                        (double) config.kvBytesPerToken().bytes(),
                        config.transferRate(),
                        config.transferWeight());
        cost = within(cost, Place.Shared.ZONE, config.transferRateZone());
        cost = within(cost, Place.Shared.RACK, config.transferRateRack());
        cost = within(cost, Place.Shared.NODE, config.transferRateNode());
        return new Splitting(
                cost,
                rates,
                config.splitFromTokens().stream().mapToLong(Long::longValue).findFirst());
    }

    private static TransferCost within(
            TransferCost cost, Place.Shared by, Optional<Double> gigabits) {
        return gigabits.map(g -> cost.within(by, g)).orElse(cost);
    }
}
