package io.warmpath.api;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocal;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.warmpath.gateway.BodyMemory;
import io.warmpath.upstream.ServerCodec;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes requests of the usual shape out of a client's connection before the server's codec sees
 * them: a POST for an engine whose head is there in one read ({@link RawHead}) and whose body is
 * short. Everything else goes on to the codec.
 *
 * <p>Only between two requests: while one is received or answered, by the codec or here, nothing
 * else is taken. What a client sends behind a request that runs here is kept, and reading stops,
 * until that one is answered.
 *
 * <p>In front of the decoder, from a connection's first request on; one per connection, its event
 * loop only.
 */
final class RawInlet extends ChannelInboundHandlerAdapter {
    /** What becomes of the requests. On the request's event loop. */
    interface Door {
        /** Longest body that may come. */
        long maxBodyBytes();

        /** Nobody has to show who they are; otherwise a body is not read before that. */
        boolean isOpenToAll();

        BodyMemory.Share memory();

        /** A request is there. */
        void arrived(RawRequest request, Buffer body);

        /** The client has gone before its request was there. */
        void cancelledEarly();
    }

    /** Longer bodies are not read on event loops, so the codec's copies do not matter. */
    private static final int MAX_BODY = LongBodies.SHORT_BYTES;

    private static final byte[] NOTHING = {};

    private static final String NAME = "warmpath-raw-inlet";

    private static final FastThreadLocal<byte[]> HEADS =
            new FastThreadLocal<>() {
                @Override
                protected byte[] initialValue() {
                    return new byte[RawHead.MAX_BYTES];
                }
            };

    private final ServerCodec codec;
    private final Door door;
    private final RawRequests requests;
    private final RawReply.Line line;
    private final Channel channel;
    private @Nullable ChannelHandlerContext context;

    private boolean throughCodec = true; // so went what came last
    private @Nullable Body body; // is on its way
    private @Nullable RawRequest running;
    private @Nullable ByteBuf kept; // came behind the running one

    private RawInlet(ServerCodec codec, Door door, RawRequests requests) {
        this.codec = codec;
        this.door = door;
        this.requests = requests;
        this.line = new RawReply.Line(codec.encoder());
        this.channel = codec.encoder().channel();
    }

    /**
     * @param codec that requests go past from now on; null: they cannot, or do already
     */
    static void install(@Nullable ServerCodec codec, Door door, RawRequests requests) {
        if (codec != null) {
            codec.precede(NAME, new RawInlet(codec, door, requests));
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof ByteBuf in) {
            read(ctx, in);
        } else {
            ctx.fireChannelRead(message);
        }
    }

    private void read(ChannelHandlerContext ctx, ByteBuf in) {
        if (running != null || kept != null) {
            keep(in);
        } else if (body != null) {
            collect(ctx, body, in);
        } else if (!take(in)) {
            throughCodec = true;
            line.used();
            ctx.fireChannelRead(in);
        }
    }

    /**
     * @return false: nothing was taken
     */
    private boolean take(ByteBuf in) {
        if (throughCodec && !codec.isIdle()) {
            return false;
        }
        byte[] bytes = HEADS.get();
        int looked = Math.min(in.readableBytes(), bytes.length);
        in.getBytes(in.readerIndex(), bytes, 0, looked);
        RawHead head = RawHead.read(bytes, looked);
        if (head == null) {
            return false;
        }
        int there = in.readableBytes() - head.length();
        if (!mayTake(head, there) || !requests.enter()) {
            return false;
        }
        int first = Math.min(there, head.bodyLength());
        BodyMemory.Share memory = door.memory();
        if (!memory.take(first)) {
            requests.exit();
            return false;
        }
        throughCodec = false;
        codec.requestBegan();
        Body arriving =
                new Body(
                        head,
                        first < head.bodyLength() ? Arrays.copyOf(bytes, head.length()) : NOTHING,
                        memory);
        body = arriving;
        add(arriving, in.skipBytes(head.length()), first);
        return true;
    }

    /**
     * @param there bytes behind the head
     */
    private boolean mayTake(RawHead head, int there) {
        int length = head.bodyLength();
        return length <= Math.min(MAX_BODY, door.maxBodyBytes())
                && (there >= length || door.isOpenToAll());
    }

    /** Of a request whose head is there. A client that only promises bytes gets no memory. */
    private static final class Body {
        private final RawHead head;
        private final byte[] headBytes; // where not everything came at once
        private final BodyMemory.Share memory;
        private byte[] bytes = NOTHING;
        private int filled;

        Body(RawHead head, byte[] headBytes, BodyMemory.Share memory) {
            this.head = head;
            this.headBytes = headBytes;
            this.memory = memory;
        }

        int missing() {
            return head.bodyLength() - filled;
        }

        void add(ByteBuf in, int more) {
            if (bytes.length - filled < more) {
                int size = Math.min(head.bodyLength(), Math.max(2 * filled, filled + more));
                bytes = Arrays.copyOf(bytes, size);
            }
            in.readBytes(bytes, filled, more);
            filled += more;
        }
    }

    private void collect(ChannelHandlerContext ctx, Body arriving, ByteBuf in) {
        int more = Math.min(in.readableBytes(), arriving.missing());
        if (arriving.memory.take(more)) {
            add(arriving, in, more);
        } else {
            handOver(ctx, arriving, in);
        }
    }

    private void add(Body arriving, ByteBuf in, int more) {
        arriving.add(in, more);
        codec.received(more);
        if (in.isReadable()) {
            keep(in);
        } else {
            in.release();
        }
        if (arriving.missing() == 0) {
            body = null;
            codec.requestEnded();
            start(arriving);
        }
    }

    /** There is no memory for its body: the codec's way knows how to say so. */
    private void handOver(ChannelHandlerContext ctx, Body unfinished, ByteBuf in) {
        body = null;
        unfinished.memory.free();
        requests.exit();
        throughCodec = true;
        line.used();
        codec.requestHandedOver();
        ctx.fireChannelRead(
                Unpooled.wrappedBuffer(
                        Unpooled.wrappedBuffer(unfinished.headBytes),
                        Unpooled.wrappedBuffer(unfinished.bytes, 0, unfinished.filled),
                        in));
    }

    private void start(Body complete) {
        Context own = codec.context();
        RawRequest request =
                new RawRequest(line, complete.head, own, complete.memory, this::answered);
        running = request;
        @SuppressWarnings("deprecation") // the only public way without a copy
        Buffer bytes = Buffer.buffer(Unpooled.wrappedBuffer(complete.bytes, 0, complete.filled));
        codec.run(own, () -> door.arrived(request, bytes));
    }

    private void keep(ByteBuf in) {
        channel.config().setAutoRead(false);
        kept = kept == null ? in : Unpooled.wrappedBuffer(kept, in);
    }

    private void answered(RawRequest request) {
        running = null;
        codec.answered();
        requests.exit();
        if (kept != null) {
            channel.eventLoop().execute(this::goOn); // not inside the answer's last step
        }
    }

    private void goOn() {
        ByteBuf in = kept;
        ChannelHandlerContext ctx = context;
        if (in == null || ctx == null) {
            return;
        }
        kept = null;
        channel.config().setAutoRead(true); // before anybody else has a reason to stop it
        if (!take(in)) {
            throughCodec = true;
            line.used();
            codec.headBegins();
            ctx.fireChannelRead(in);
            ctx.fireChannelReadComplete();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        RawRequest now = running;
        if (now != null && channel.isWritable()) {
            codec.run(now.context(), now::drain);
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        ReferenceCountUtil.release(kept);
        kept = null;
        Body unfinished = body;
        if (unfinished != null) {
            body = null;
            unfinished.memory.free();
            requests.exit();
            door.cancelledEarly();
        }
        RawRequest left = running;
        if (left != null) {
            running = null;
            codec.run(left.context(), left::disconnected);
            requests.exit();
        }
        ctx.fireChannelInactive();
    }
}
