package io.warmpath.upstream;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.vertx.core.Context;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP/1.1 codec of one client's connection, for whoever answers some of its requests without
 * it: neither it nor Vert.x learns of those, so each must be read and answered as a whole while the
 * codec {@link #isIdle}.
 *
 * <p>The connection's event loop only.
 */
public final class ServerCodec {
    private final ChannelHandlerContext decoder;
    private final ByteToMessageDecoder reader;
    private final ChannelHandlerContext encoder;
    private final LastRequestGate gate;
    private final CodecState state;
    private final Context connection;
    private final @Nullable ClientClock clock;

    ServerCodec(
            ChannelHandlerContext decoder,
            ByteToMessageDecoder reader,
            ChannelHandlerContext encoder,
            LastRequestGate gate,
            CodecState state,
            Context connection,
            @Nullable ClientClock clock) {
        this.decoder = decoder;
        this.reader = reader;
        this.encoder = encoder;
        this.gate = gate;
        this.state = state;
        this.connection = connection;
        this.clock = clock;
    }

    /**
     * Of the connection of {@code request}, to be asked before anything of its body has been read.
     *
     * @return null where requests cannot go past it, or do already
     */
    public static @Nullable ServerCodec of(HttpServerRequest request) {
        return request.version() == HttpVersion.HTTP_1_1
                ? VertxInternals.codec(request.connection(), true)
                : null;
    }

    /**
     * Of a connection on which nothing has been read yet.
     *
     * @return null where requests cannot go past it
     */
    public static @Nullable ServerCodec of(HttpConnection connection) {
        return VertxInternals.codec(connection, false);
    }

    /** Puts {@code handler} where bytes arrive before the codec sees them, behind TLS. */
    public void precede(String name, ChannelHandler handler) {
        decoder.pipeline().addBefore(decoder.name(), name, handler);
    }

    /** Bytes can be written past the codec from here on. */
    public ChannelHandlerContext encoder() {
        return encoder;
    }

    /** It is between two requests: what it has got is read, and what it has read is answered. */
    public boolean isIdle() {
        return state.isQuiet()
                && gate.isOpen()
                && !decoder.isRemoved()
                && VertxInternals.unread(reader) == 0;
    }

    /** For one more request. */
    public Context context() {
        return VertxInternals.another(connection);
    }

    /** Runs what belongs to a request of {@code context}. */
    public void run(Context context, Runnable task) {
        Object before = VertxInternals.enter(context);
        try {
            task.run();
        } finally {
            VertxInternals.leave(context, before);
        }
    }

    /** The head of a request that goes past it was read; the time-outs of clients hold for it. */
    public void requestBegan() {
        if (clock != null) {
            clock.requestBegan();
        }
    }

    /** So much more of the body has arrived. */
    public void received(int bytes) {
        if (clock != null) {
            clock.received(bytes);
        }
    }

    /** The whole body has. */
    public void requestEnded() {
        if (clock != null) {
            clock.requestEnded();
        }
    }

    /** What there is of the request goes to the codec after all. */
    public void requestHandedOver() {
        if (clock != null) {
            clock.requestHandedOver();
        }
    }

    /** The request was answered. */
    public void answered() {
        if (clock != null) {
            clock.answered();
        }
    }

    /** Bytes that were kept back while a request was answered now go to it. */
    public void headBegins() {
        if (clock != null) {
            clock.headBegins();
        }
    }
}
