package io.warmpath.api.health;

import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;

/**
 * One dependency without which requests are still answered: always UP, with its state as data. Any
 * thread.
 */
public final class DependencyCheck implements HealthCheck {
    private final String name;
    private final Supplier<Report> report;

    /** {@code name}: as {@code /q/health} shows it. {@code report}: answers from memory. */
    public DependencyCheck(String name, Supplier<Report> report) {
        this.name = name;
        this.report = report;
    }

    /** How a dependency is. */
    public enum State {
        /** This gateway is configured to do without. */
        OFF,
        WORKING,
        /** Lost, or a part of it: requests are routed with less knowledge. */
        DEGRADED
    }

    /**
     * The state of a dependency now.
     *
     * @param data texts, flags and whole numbers; no secret and no address of an engine
     */
    public record Report(State state, Map<String, Object> data) {
        public static final Report OFF = new Report(State.OFF, Map.of());

        public static Report of(boolean works, Map<String, Object> data) {
            return new Report(works ? State.WORKING : State.DEGRADED, data);
        }
    }

    @Override
    public HealthCheckResponse call() {
        Report now = report.get();
        return response(name, true, now.state().name().toLowerCase(Locale.ROOT), now.data());
    }

    /** A check's answer, whose first data is {@code state}. */
    public static HealthCheckResponse response(
            String name, boolean up, String state, Map<String, Object> data) {
        HealthCheckResponseBuilder builder =
                HealthCheckResponse.named(name).status(up).withData("state", state);
        data.forEach(
                (key, value) -> {
                    switch (value) {
                        case Boolean flag -> builder.withData(key, flag);
                        case Number number -> builder.withData(key, number.longValue());
                        default -> builder.withData(key, value.toString());
                    }
                });
        return builder.build();
    }
}
