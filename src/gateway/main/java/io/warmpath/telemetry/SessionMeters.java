package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.gateway.agent.SessionCloser;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionTable;
import java.util.Locale;
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

    /** Those that clients open and close. */
    public static void bind(
            MeterRegistry registry, ControlledSessions table, SessionCloser closer) {
        Gauge.builder("warmpath.sessions.open", table, ControlledSessions::size)
                .description("Sessions that clients have opened and not closed")
                .register(registry);
        Gauge.builder(
                        "warmpath.sessions.history.bytes",
                        table,
                        ControlledSessions::conversationBytes)
                .description("Conversations kept for clients that send only what is new")
                .register(registry);
        for (ControlledSessions.Event e : ControlledSessions.Event.values()) {
            FunctionCounter.builder("warmpath.sessions.control", table, t -> t.counted(e))
                    .description(
                            "What became of sessions that clients open: opened, adopted from"
                                    + " another gateway, given to one, bound to a rank, bound again after a loss, unknown at a later turn, refused"
                                    + " for want of room, kept from pinning more than allowed, not"
                                    + " a continuation of what the engine holds, too long to keep,"
                                    + " not opened by the engine, expired, closed")
                    .tag("event", e.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
        for (SessionCloser.Result r : SessionCloser.Result.values()) {
            FunctionCounter.builder("warmpath.sessions.closes", closer, c -> c.counted(r))
                    .description(
                            "Sessions that engines were to let go of: done, failed after all tries,"
                                    + " engine gone, dropped because too many were waiting")
                    .tag("result", r.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
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
