package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Meters of the workers that Kubernetes tells of. */
public final class KubernetesMeters {
    private KubernetesMeters() {}

    /**
     * @param problems pods that cannot be taken as workers, or have a role that is not known, now
     */
    public static <S> void bind(
            MeterRegistry registry,
            S source,
            Predicate<S> connected,
            ToDoubleFunction<S> problems,
            ToDoubleFunction<S> lists,
            ToDoubleFunction<S> failures) {
        Gauge.builder("warmpath.kubernetes.connected", source, s -> connected.test(s) ? 1 : 0)
                .description("1 while the API server answers")
                .register(registry);
        Gauge.builder("warmpath.kubernetes.problems", source, problems)
                .description(
                        "Pods that cannot be taken as workers, or whose role is not known; the"
                                + " log says why")
                .register(registry);
        FunctionCounter.builder("warmpath.kubernetes.lists", source, lists)
                .description("Times all objects of a kind were listed anew")
                .register(registry);
        FunctionCounter.builder("warmpath.kubernetes.failures", source, failures)
                .description("Questions to the API server that failed")
                .register(registry);
    }

    /**
     * @param serving endpoints of the InferencePool that serve
     * @param objectives InferenceObjectives of the pool
     * @param rewrites InferenceModelRewrites of the pool
     */
    public static <S> void bindPool(
            MeterRegistry registry,
            S source,
            ToDoubleFunction<S> serving,
            ToDoubleFunction<S> objectives,
            ToDoubleFunction<S> rewrites) {
        Gauge.builder("warmpath.kubernetes.pool.endpoints", source, serving)
                .description(
                        "Endpoints of the InferencePool that serve; 0 also when it is not there")
                .register(registry);
        Gauge.builder("warmpath.kubernetes.pool.objectives", source, objectives)
                .description("InferenceObjectives of the InferencePool")
                .register(registry);
        Gauge.builder("warmpath.kubernetes.pool.rewrites", source, rewrites)
                .description("InferenceModelRewrites of the InferencePool")
                .register(registry);
    }
}
