package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.net.Allowance;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends an HTTP/2 connection whose other side sends frames that ask for nothing: PING, SETTINGS,
 * PRIORITY, WINDOW_UPDATE, RST_STREAM, CONTINUATION, empty DATA, unknown ones. Each of them uses up
 * a part of an {@link Allowance}, as each reset does that this side is made to send; each frame of
 * an answer gives some back, as whoever takes answers opens windows, probes the line and ends
 * streams. It reads nothing while the other side takes nothing of what lies in the socket. Between
 * the bytes (TLS is off them) and the codec; one connection, its event loop.
 */
public final class FrameGuard extends ChannelDuplexHandler {
    /** Twice the streams that a connection may have: all may be given up, and opened, at once. */
    static final int MOST = 10_000;

    private static final int PER_SECOND = 500;

    /**
     * What one frame of an answer may cost the other side: windows of two kinds, a PING, a reset.
     */
    private static final int FOR_ANSWER = 4;

    private static final int GOAWAY_BYTES = 8;

    private final ClientLimits limits;
    private final boolean alone;
    private final ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
    private final Allowance allowance;
    private final FrameHeads received = new FrameHeads(preface.readableBytes(), this::received);
    private final FrameHeads sent = new FrameHeads(0, this::sent);
    private @Nullable ChannelHandlerContext context;
    private @Nullable Http2ConnectionHandler codec;
    private boolean cut;

    /** {@code alone}: nothing but HTTP/2 is spoken here. */
    FrameGuard(ClientLimits limits, boolean alone) {
        this.limits = limits;
        this.alone = alone;
        this.allowance = new Allowance(MOST, PER_SECOND, limits.nanoTime());
    }

    /** Ends the connection of this request: its other side asks for nothing but work. */
    public static void cut(HttpServerRequest request) {
        Channel channel = ServerPipeline.channel(request.connection());
        FrameGuard guard = channel == null ? null : channel.pipeline().get(FrameGuard.class);
        if (guard != null) {
            guard.cut("streams that are given up");
        } else {
            request.connection().close();
        }
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it ends with its loop
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        if (alone) {
            ctx.executor().schedule(this::greeted, limits.headNanos(), TimeUnit.NANOSECONDS);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    private void greeted() {
        ChannelHandlerContext ctx = context;
        if (preface.isReadable() && ctx != null && ctx.channel().isActive()) {
            limits.heads().increment();
            ctx.close();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        preface.release();
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof ByteBuf b && !cut) {
            if (alone && preface.isReadable() && !begins(b)) {
                cut = true;
                ctx.close();
            } else {
                received.add(b);
            }
        }
        if (cut) {
            ReferenceCountUtil.release(message);
        } else {
            ctx.fireChannelRead(message);
        }
    }

    private boolean begins(ByteBuf b) {
        int known = Math.min(preface.readableBytes(), b.readableBytes());
        for (int i = 0; i < known; i++) {
            if (preface.readByte() != b.getByte(b.readerIndex() + i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.fireChannelReadComplete();
        Http2ConnectionHandler http2 = codec;
        if (http2 == null) {
            http2 = ctx.pipeline().get(Http2ConnectionHandler.class);
            codec = http2;
        }
        ClientClock clock = ctx.channel().attr(ClientClock.KEY).get();
        if (http2 != null && clock != null && http2.connection().numActiveStreams() == 0) {
            clock.nothingRuns();
        }
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // whoever writes has the promise
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf b) {
            sent.add(b);
        }
        ctx.write(message, promise);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        ctx.fireChannelWritabilityChanged();
    }

    private void received(int type, int length, int code) {
        if (type != FrameHeads.HEADERS && (type != FrameHeads.DATA || length == 0)) {
            costs();
        }
    }

    private void sent(int type, int length, int code) {
        if (type == FrameHeads.HEADERS || type == FrameHeads.DATA) {
            allowance.give(FOR_ANSWER);
        } else if (type == FrameHeads.RST_STREAM && code != Http2Error.NO_ERROR.code()) {
            if (code == Http2Error.REFUSED_STREAM.code()) {
                limits.connections().refusedStreams().increment();
            }
            costs();
        }
    }

    private void costs() {
        if (!allowance.take()) {
            cut("frames that ask for nothing");
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    private void cut(String what) {
        ChannelHandlerContext ctx = context;
        if (cut || ctx == null) {
            return;
        }
        cut = true;
        limits.connections().flooding().increment();
        byte[] why = ("too many " + what).getBytes(StandardCharsets.US_ASCII);
        ByteBuf frame = ctx.alloc().buffer();
        frame.writeMedium(GOAWAY_BYTES + why.length).writeByte(7).writeByte(0).writeInt(0);
        frame.writeInt(0).writeInt((int) Http2Error.ENHANCE_YOUR_CALM.code()).writeBytes(why);
        ctx.writeAndFlush(frame);
        ctx.close();
    }
}
