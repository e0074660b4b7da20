package io.warmpath.routing.modes;

import io.warmpath.load.LoadBook;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.Scorer;
import io.warmpath.routing.rates.Speeds;
import io.warmpath.routing.rates.WorkerRates;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Makes the router that the options name. */
public final class Routers {
    private Routers() {}

    /**
     * @param random asked at each draw, so that {@code ThreadLocalRandom::current} fits; must be
     *     safe for the threads that decide
     */
    public static Router create(
            RouterOptions options, LoadBook loads, Supplier<? extends RandomGenerator> random) {
        return create(options, loads, random, System::nanoTime);
    }

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    public static Router create(
            RouterOptions options,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random,
            LongSupplier nanoTime) {
        return create(
                options, VllmCacheAwareOptions.DEFAULT, Map.of(), loads, random, nanoTime, false);
    }

    /**
     * @param all of the mode {@code vllm-cache-aware}
     * @param perModel the same of models that have their own
     * @param keepsSpeeds the workers' speeds are learnt whatever the mode and the cost, so that
     *     detailed decisions tell the cost in milliseconds too, and a replay can weigh them by it
     */
    public static Router create(
            RouterOptions options,
            VllmCacheAwareOptions all,
            Map<String, VllmCacheAwareOptions> perModel,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random,
            LongSupplier nanoTime,
            boolean keepsSpeeds) {
        if (!keepsSpeeds && options.shownCost() == CostKind.BLOCKS) {
            return create(options, all, perModel, loads, random, null);
        }
        WorkerRates rates = new WorkerRates(options.latency(), nanoTime);
        Router router = create(options, all, perModel, loads, random, rates);
        return new LearningRouter(router, options, loads, rates);
    }

    /** One that learns nothing itself. */
    static Router create(
            RouterOptions options,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random,
            @Nullable Speeds speeds) {
        return create(options, VllmCacheAwareOptions.DEFAULT, Map.of(), loads, random, speeds);
    }

    private static Router create(
            RouterOptions options,
            VllmCacheAwareOptions all,
            Map<String, VllmCacheAwareOptions> perModel,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random,
            @Nullable Speeds speeds) {
        Scorer scorer = new Scorer(options, loads, speeds);
        return switch (options.mode()) {
            case KV -> new CostRouter(RouterMode.KV, scorer, random);
            case RANDOM -> new RandomRouter(scorer, random);
            case ROUND_ROBIN -> new RoundRobinRouter(scorer);
            case VLLM_CACHE_AWARE -> new VllmCacheAwareRouter(all, perModel, scorer, loads, random);
            case POWER_OF_TWO, LEAST_LOADED ->
                    new RequestCountRouter(options.mode(), scorer, random);
            case DIRECT -> new DirectRouter(new CostRouter(RouterMode.DIRECT, scorer, random));
        };
    }
}
