package io.warmpath.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.net.Gather;
import io.warmpath.net.HeapBytes;
import io.warmpath.upstream.answer.AnswerHead;
import io.warmpath.upstream.answer.AnswerParser;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One connection to an engine; serves one call at a time. Its event loop only. What one read turn
 * brings is parsed as it comes and handed on once, when the turn ends.
 */
final class RawConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = Logger.getLogger(RawConnection.class);

    private final RawPool pool;
    private final AnswerParser parser = new AnswerParser();
    private final Gather.Stream burst = new Gather.Stream();
    private @Nullable Channel channel;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ChannelFuture sent; // the request
    private @Nullable RawCall call;
    private int turnLength;
    private boolean tooMuch;
    private boolean closing;
    private boolean reused;
    private long keepNanos;
    private long idleSince;

    RawConnection(RawPool pool) {
        this.pool = pool;
        this.keepNanos = pool.loop().options().keepAlive().toNanos();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        channel = ctx.channel();
    }

    EngineAddress address() {
        return pool.address();
    }

    /** True from the second call on. */
    boolean reused() {
        return reused;
    }

    boolean isUsable() {
        return !closing && channel != null && channel.isActive();
    }

    void idleSince(long now) {
        idleSince = now;
    }

    boolean isOld(long now) {
        return now - idleSince >= keepNanos;
    }

    /**
     * Sends the request.
     *
     * @throws IllegalArgumentException it cannot be written; nothing was sent
     */
    void send(RawCall next, UpstreamRequest request) {
        ChannelHandlerContext at = context;
        if (at == null) {
            throw new IllegalStateException("sent before the connection stands");
        }
        HeapBytes body = HeapBytes.of(request.body());
        ByteBuf out =
                PooledByteBufAllocator.DEFAULT.directBuffer(RequestHead.HEAD_BYTES + body.length());
        try {
            RequestHead.write(out, address(), request);
            out.writeBytes(body.array(), body.offset(), body.length());
        } catch (RuntimeException e) {
            out.release();
            throw e;
        }
        begin(next);
        sent = at.channel().writeAndFlush(out);
    }

    private void begin(RawCall next) {
        call = next;
        turnLength = 0;
        tooMuch = false;
        parser.begin();
        burst.begin();
    }

    /** Goes on reading, or stops. */
    void read(boolean on) {
        if (channel != null) {
            channel.config().setAutoRead(on);
        }
    }

    /** The call does not want the rest: the engine has to see that at once. */
    void abandon() {
        call = null;
        close();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    void close() {
        closing = true;
        if (channel != null) {
            channel.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            if (call == null) {
                close(); // bytes without a request
                return;
            }
            int n = in.readableBytes();
            byte[] b = pool.loop().turn(turnLength + n);
            in.readBytes(b, turnLength, n);
            int end = turnLength + n;
            turnLength = parser.parse(b, turnLength, turnLength, end);
            tooMuch |= parser.leftOver(end);
        } finally {
            in.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        RawCall current = call;
        if (current == null) {
            return;
        }
        deliver(current);
        if (call == current) {
            pool.loop().readDone(burst);
        }
    }

    private void deliver(RawCall current) {
        int n = turnLength;
        turnLength = 0;
        byte[] b = pool.loop().turn(n);
        AnswerHead head = parser.head();
        if (parser.isBad()) {
            call = null;
            close();
            current.malformed(head, b, n, parser.fault());
        } else if (head != null && parser.isDone()) {
            finish(head);
            current.turn(head, b, n, true);
        } else if (head != null) {
            current.turn(head, b, n, false);
        }
    }

    /** The answer is complete: back into the pool, or away. */
    private void finish(AnswerHead head) {
        call = null;
        Channel ch = channel;
        ChannelFuture request = sent;
        sent = null;
        reused = true;
        if (head.keepAliveSeconds() >= 0) {
            // The engine closes after this time; a second earlier, no request meets the close.
            long allowed = Math.max(0, head.keepAliveSeconds() - 1) * 1_000_000_000L;
            keepNanos = Math.min(pool.loop().options().keepAlive().toNanos(), allowed);
        }
        boolean again =
                head.keepAlive()
                        && !tooMuch
                        && (request != null && request.isSuccess())
                        && isUsable();
        if (again && ch != null) {
            ch.config().setAutoRead(true);
            pool.free(this);
        } else {
            close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closing = true;
        RawCall current = call;
        call = null;
        pool.gone(this);
        if (current == null) {
            return;
        }
        AnswerHead head = parser.head();
        if (head != null && parser.endsAtClose()) {
            current.turn(head, pool.loop().turn(0), 0, true);
        } else {
            current.broke();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // A reset by the engine; the call hears of it when the channel has become inactive.
        LOG.debugf("engine connection %s: %s", ctx.channel(), cause);
        close();
    }
}
