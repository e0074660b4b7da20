package io.warmpath.routing;

import io.warmpath.load.LoadBook;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

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

    /**
     * @param nanoTime as {@link System#nanoTime}
     */
    public static Router create(
            RouterOptions options,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random,
            LongSupplier nanoTime) {
        return switch (options.mode()) {
            case KV -> new CostRouter(options, loads, random, nanoTime);
            case RANDOM -> new RandomRouter(options, loads, random);
            case ROUND_ROBIN -> new RoundRobinRouter(options, loads);
            case VLLM_CACHE_AWARE ->
                    new VllmCacheAwareRouter(VllmCacheAwareOptions.DEFAULT, options, loads, random);
            case POWER_OF_TWO, LEAST_LOADED -> new RequestCountRouter(options, loads, random);
            case DIRECT -> new DirectRouter(new CostRouter(options, loads, random, nanoTime));
        };
    }
}
