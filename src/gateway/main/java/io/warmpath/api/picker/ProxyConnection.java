package io.warmpath.api.picker;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.Allowance;
import io.warmpath.net.server.FrameGuard;
import io.warmpath.net.server.ServerPipeline;
import org.jspecify.annotations.Nullable;

/**
 * What one connection of a proxy may cost beside its running requests. On its event loop.
 *
 * <p>A proxy gives its streams up when clients leave: all of a connection at once, and hundreds a
 * second for as long as it likes. More than that is a flood.
 */
final class ProxyConnection {
    private static final AttributeKey<ProxyConnection> KEY =
            AttributeKey.valueOf(ProxyConnection.class, "connection");

    /** Twice the streams that a connection may have. */
    private static final int MOST_GIVEN_UP = 2 * PickerServer.MOST_STREAMS;

    private static final int GIVEN_UP_PER_SECOND = 1000;

    private final BodyMemory memory;
    private final Allowance givenUp;
    private long held;

    private ProxyConnection(Calls calls) {
        this.memory = calls.memory;
        this.givenUp = new Allowance(MOST_GIVEN_UP, GIVEN_UP_PER_SECOND, calls.nanoTime);
    }

    static ProxyConnection of(HttpServerRequest request, Calls calls) {
        Channel channel = ServerPipeline.channel(request.connection());
        @Nullable ProxyConnection known = channel == null ? null : channel.attr(KEY).get();
        if (known == null) {
            known = new ProxyConnection(calls);
            if (channel != null) {
                channel.attr(KEY).set(known);
            }
        }
        return known;
    }

    /** Another stream was given up before there was an answer to it. */
    void givenUp(HttpServerRequest by) {
        if (!givenUp.take()) {
            FrameGuard.cut(by);
        }
    }

    /**
     * What one stream has of the memory of all bodies, for bytes that wait: of messages that are
     * not whole, and of answers that are not taken. Those of one connection together may take half
     * of it.
     */
    final class Share {
        private final BodyMemory.Reservation reserved = memory.reserve();
        private long taken;

        /**
         * @param runs the stream's request was sent to an engine
         * @return false: there is no room for so many bytes more
         */
        boolean take(int bytes, boolean runs) {
            if (held + bytes > memory.limit() / 2 || !reserved.take(bytes, runs)) {
                return false;
            }
            held += bytes;
            taken += bytes;
            return true;
        }

        /** May be called again. */
        void free() {
            held -= taken;
            taken = 0;
            reserved.free();
        }
    }
}
