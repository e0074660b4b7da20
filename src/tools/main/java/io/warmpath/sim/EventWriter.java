package io.warmpath.sim;

import io.warmpath.sim.http.SimExchange;
import org.jspecify.annotations.Nullable;

/**
 * Sends one answer, as events or whole, and breaks it off when that is planned. Engine's thread.
 */
final class EventWriter {
    private final SimExchange exchange;
    private final @Nullable Death death;
    private int sent;

    /**
     * A planned end in mid-answer.
     *
     * @param events still sent
     * @param stalls the connection stays as it is
     */
    record Death(int events, boolean stalls, Runnable act) {}

    EventWriter(SimExchange exchange, @Nullable Death death) {
        this.exchange = exchange;
        this.death = death;
    }

    /** The next event of a stream. */
    void send(String event) {
        if (!exchange.open()) {
            return;
        }
        if (death != null && sent == death.events()) {
            death.act().run();
            return;
        }
        sent++;
        exchange.event(event);
    }

    /** All has been sent. */
    void end() {
        if (death == null || !death.stalls()) {
            exchange.endStream();
        }
    }

    /** The answer to a request that did not ask for a stream. */
    void whole(String json) {
        if (death == null) {
            exchange.json(200, json);
        } else {
            death.act().run();
        }
    }
}
