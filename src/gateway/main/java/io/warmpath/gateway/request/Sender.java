package io.warmpath.gateway.request;

import io.vertx.core.Context;
import io.warmpath.upstream.EngineClient;
import java.util.Objects;
import java.util.Set;

/**
 * Who sends a request to its engine where that is not this gateway, but a proxy that has asked
 * where to. Of one request; on its event loop.
 */
public interface Sender {
    /** What is sent by it: once, to the engine that was chosen. */
    EngineClient engines();

    /** Ids of the workers that it can send to; empty: all. */
    Set<Long> workers();

    /** How many it wants to be named beside the chosen one, for when that one fails. */
    int fallbacks();

    /** Before the request goes on; on its context. */
    static void put(Context context, Sender sender) {
        context.putLocal(Sender.class, sender);
    }

    /**
     * @throws NullPointerException nobody was named
     */
    static Sender of(Context context) {
        return Objects.requireNonNull(context.getLocal(Sender.class), "no sender");
    }
}
