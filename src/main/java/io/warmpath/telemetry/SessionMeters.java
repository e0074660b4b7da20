package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.session.SessionTable;
import java.util.function.ToDoubleFunction;

/** Meters of the sessions that are bound to a rank. */
public final class SessionMeters {
    private SessionMeters() {}

    public static void bind(MeterRegistry registry, SessionTable table) {
        Gauge.builder("warmpath.sessions.bound", table, SessionTable::size)
                .description("Sessions that are bound to a rank")
                .register(registry);
        count(registry, table, "opened", SessionTable::opened);
        count(registry, table, "moved", SessionTable::moved);
        count(registry, table, "expired", SessionTable::expired);
        count(registry, table, "ended", SessionTable::ended);
        count(registry, table, "refused", SessionTable::refused);
    }

    private static void count(
            MeterRegistry registry,
            SessionTable table,
            String event,
            ToDoubleFunction<SessionTable> value) {
        FunctionCounter.builder("warmpath.sessions.events", table, value)
                .description(
                        "Sessions bound, bound to another rank, forgotten after their idle time,"
                                + " ended by client or operator; requests for which no room was left")
                .tag("event", event)
                .register(registry);
    }
}
