package io.warmpath.api.connection;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.unix.Socket;
import io.warmpath.net.SocketWriter;
import org.jspecify.annotations.Nullable;

/**
 * Keeps flushes back for a moment, so that an answer's head, bytes and end are one system call; and
 * tells the running answer that its client has gone, which Vert.x 4.5 does not while another
 * request of the same connection waits behind it. One per client connection, between the encoder
 * and the socket (before TLS); its event loop only. Also sets how much a slow client makes us hold:
 * together with one read of the engine no more than 64 kB.
 */
final class FlushHandler extends ChannelDuplexHandler {
    private static final String NAME = "warmpath-flushes";
    private static final WriteBufferWaterMark HELD = new WriteBufferWaterMark(8 << 10, 32 << 10);

    private final @Nullable Socket socket;
    private @Nullable ChannelHandlerContext context;
    private boolean held;
    private boolean pending;
    private @Nullable Runnable gone;
    private @Nullable Runnable inputEnd;

    private FlushHandler(@Nullable Socket socket) {
        this.socket = socket;
    }

    /** The connection's handler; put in place when it has none. */
    static FlushHandler of(ChannelHandlerContext encoder) {
        FlushHandler there = encoder.pipeline().get(FlushHandler.class);
        if (there == null) {
            there = new FlushHandler(SocketWriter.socket(encoder));
            encoder.pipeline().addBefore(encoder.name(), NAME, there);
            encoder.channel().config().setWriteBufferWaterMark(HELD);
        }
        return there;
    }

    /** Of the connection, where nobody has to see what goes past the encoder. */
    @Nullable Socket socket() {
        return socket;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    /**
     * @param action what to do when the connection ends; replaces the one before. Harmless when the
     *     answer is over
     */
    void onGone(Runnable action) {
        gone = action;
    }

    /** {@code action}: what to do when the client sends nothing more; as {@link #onGone}. */
    void onInputEnd(Runnable action) {
        inputEnd = action;
    }

    /** The client sends nothing more. */
    void inputEnded() {
        if (inputEnd != null) {
            inputEnd.run();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        Runnable action = gone;
        gone = null;
        if (action != null) {
            action.run();
        }
        ctx.fireChannelInactive();
    }

    /** From here on nothing is flushed. */
    void hold() {
        held = true;
    }

    /** Something is written that nobody else will flush. */
    void pending() {
        pending = true;
    }

    /** Flushes now what was to be flushed meanwhile. */
    void release() {
        held = false;
        if (pending && context != null) {
            pending = false;
            context.flush();
        }
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        if (held) {
            pending = true;
        } else {
            ctx.flush();
        }
    }
}
