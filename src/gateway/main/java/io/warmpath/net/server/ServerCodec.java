package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AttributeKey;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.warmpath.net.VertxInternals;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP/1.1 codec of one client's connection, for whoever answers some of its requests without
 * it: neither it nor Vert.x learns of those, so each must be read and answered as a whole while the
 * codec {@link #isIdle}. The connection's event loop only.
 */
public final class ServerCodec {
    /** Of a listener: what takes requests past the codecs of the connections that it accepts. */
    private static final AttributeKey<Consumer<ServerCodec>> WAY =
            AttributeKey.valueOf(ServerCodec.class, "way");

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
     * Requests behind {@code request} may go past the codec of its connection, and those of all
     * connections without TLS that its listener accepts from now on. To be called before anything
     * of the request's body has been read.
     *
     * @param way is given the codec of each such connection, once, on its event loop; of none where
     *     requests cannot go past it
     */
    public static void pass(HttpServerRequest request, Consumer<ServerCodec> way) {
        Channel channel = ServerPipeline.channel(request.connection());
        if (request.version() != HttpVersion.HTTP_1_1 || channel == null) {
            return;
        }
        Channel listener = channel.parent();
        if (listener != null) {
            listener.attr(WAY).set(way);
        }
        give(ServerPipeline.codec(channel, true), way);
    }

    /**
     * Bytes are there that no handler behind has seen, the first ones unless this connection has
     * TLS: with it, a request may have come with the end of its handshake.
     */
    static void opened(Channel channel) {
        Channel listener = channel.parent();
        Consumer<ServerCodec> way = listener == null ? null : listener.attr(WAY).get();
        if (way != null && channel.pipeline().get(SslHandler.class) == null) {
            give(ServerPipeline.codec(channel, false), way);
        }
    }

    private static void give(@Nullable ServerCodec codec, Consumer<ServerCodec> way) {
        if (codec != null) {
            way.accept(codec);
        }
    }

    /**
     * Puts {@code handler} where bytes arrive before the codec sees them, behind TLS. What it does
     * not let go of at once, it must make its {@link #own}, also what it passes on.
     */
    public void precede(String name, ChannelHandler handler) {
        ChannelPipeline pipeline = decoder.pipeline();
        pipeline.addBefore(decoder.name(), name, handler);
        if (pipeline.get(SslHandler.class) == null) {
            ClientReads.share(pipeline.channel());
        }
    }

    /** {@code in}: what has been read, taken. Returns the same bytes, to be kept. */
    public ByteBuf own(ByteBuf in) {
        return ClientReads.own(in, decoder.alloc());
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
                && ServerPipeline.unread(reader) == 0
                && (!(reader instanceof StrictDecoder strict) || strict.isBetweenRequests());
    }

    /** It has read requests of HTTP/1.1 whole, and has not answered all of them; no other. */
    public boolean isAnswering() {
        return state.isAnswering();
    }

    /** The head of an answer has gone through it, and its end has not. */
    public boolean hasBegunAnswer() {
        return state.hasBegunAnswer();
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
