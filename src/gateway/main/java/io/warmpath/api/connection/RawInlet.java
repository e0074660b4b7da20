package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.unix.Socket;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.request.RequestParser;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.net.server.ServerCodec;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes requests of the common shape out of a client's connection before the server's codec sees
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
public final class RawInlet extends ChannelInboundHandlerAdapter {
    /** What becomes of the requests. On the request's event loop. */
    public interface Receiver {
        /** Longest body that may come. */
        long maxBodyBytes();

        /** Nobody has to show who they are; otherwise a body is not read before that. */
        boolean isOpenToAll();

        /** A program of this machine may ask for this host, without TLS. */
        boolean allowsName(String host);

        BodyMemory.Reservation memory();

        /** A request is there. */
        void arrived(RawRequest request, Buffer body);

        /** The client has gone before its request was there. */
        void cancelledEarly();
    }

    /** Longer bodies are not read on event loops, so the codec's copies do not matter. */
    private static final int MAX_BODY = RequestParser.SHORT_BYTES;

    private static final int MAX_BYTES = RawHead.MAX_BYTES + MAX_BODY;

    private static final String NAME = "warmpath-raw-inlet";

    private final ServerCodec codec;
    private final Receiver receiver;
    private final RawRequests requests;
    private final RawReply.ClientChannel client;
    private final Channel channel;
    private final boolean local; // a program of this machine asks, without TLS
    private @Nullable ChannelHandlerContext context;
    private String host = ""; // for which it has asked, and may

    private boolean throughCodec = true; // so went what came last
    private boolean fed = true; // the codec has got something in this turn
    private @Nullable Body body; // is on its way
    private @Nullable RawRequest running;
    private @Nullable ByteBuf kept; // came behind the running one
    private @Nullable HalfClosed halfClosed; // nothing more will come

    private RawInlet(ServerCodec codec, Receiver receiver, RawRequests requests) {
        this.codec = codec;
        this.receiver = receiver;
        this.requests = requests;
        this.client = new RawReply.ClientChannel(codec.encoder());
        this.channel = codec.encoder().channel();
        this.local =
                channel.remoteAddress() instanceof InetSocketAddress peer
                        && peer.getAddress() != null
                        && peer.getAddress().isLoopbackAddress()
                        && channel.pipeline().get(SslHandler.class) == null;
    }

    /** Requests go past {@code codec} from now on. */
    public static void install(ServerCodec codec, Receiver receiver, RawRequests requests) {
        codec.precede(NAME, new RawInlet(codec, receiver, requests));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        if (client.socket() != null) {
            HalfClosed.allow(channel);
        }
    }

    /** Others need not know: what is whole is answered, and nothing else could be. */
    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        Socket socket = client.socket();
        if (!(event instanceof ChannelInputShutdownEvent) || socket == null) {
            ctx.fireUserEventTriggered(event);
        } else if (!isAnswering()) {
            ctx.close();
        } else if (halfClosed == null) {
            halfClosed = new HalfClosed(channel, socket, this::isAnswering);
            halfClosed.watch();
            RawRequest now = running;
            if (now != null) {
                codec.run(now.context(), now::inputEnded);
            } else if (codec.hasBegunAnswer()) {
                client.inputEnded();
            } else {
                RawReply.sayContinue(client);
            }
        }
    }

    /** A request that is there as a whole waits for its answer, or for its turn. */
    private boolean isAnswering() {
        return running != null || kept != null || codec.isAnswering();
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
            feed(ctx, in);
        }
    }

    /** Gives the codec what it is to read. */
    private void feed(ChannelHandlerContext ctx, ByteBuf in) {
        throughCodec = true;
        fed = true;
        client.used();
        ctx.fireChannelRead(codec.own(in));
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (fed) { // otherwise nobody behind has read anything
            fed = false;
            ctx.fireChannelReadComplete();
        }
    }

    /**
     * @return false: nothing was taken
     */
    private boolean take(ByteBuf in) {
        if (throughCodec && !codec.isIdle()) {
            return false;
        }
        if (!RawHead.mayBegin(in) || in.readableBytes() > MAX_BYTES) {
            return false;
        }
        byte[] bytes = new byte[in.readableBytes()];
        in.getBytes(in.readerIndex(), bytes);
        RawHead head = RawHead.read(bytes, bytes.length);
        if (head == null) {
            return false;
        }
        int there = bytes.length - head.length();
        if (!mayTake(head, there) || !requests.enter()) {
            return false;
        }
        int first = Math.min(there, head.bodyLength());
        BodyMemory.Reservation memory = receiver.memory();
        if (!memory.take(first)) {
            requests.exit();
            return false;
        }
        throughCodec = false;
        codec.requestBegan();
        Body arriving = new Body(head, memory, bytes, first);
        body = arriving;
        added(arriving, in.skipBytes(head.length() + first), first);
        return true;
    }

    /** {@code there}: bytes behind the head. */
    private boolean mayTake(RawHead head, int there) {
        int length = head.bodyLength();
        return length <= Math.min(MAX_BODY, receiver.maxBodyBytes())
                && (there >= length || receiver.isOpenToAll())
                && (!local || mayAskFor(head.headers().get("host")));
    }

    /** The codec's way refuses others. */
    private boolean mayAskFor(@Nullable String asked) {
        if (host.equals(asked)) {
            return true;
        }
        if (asked == null || !receiver.allowsName(asked)) {
            return false;
        }
        host = asked;
        return true;
    }

    /** Of a request whose head is there. A client that only promises bytes gets no memory. */
    private static final class Body {
        private final RawHead head;
        private final BodyMemory.Reservation memory;
        private byte[] bytes; // with the head before it
        private int filled;

        Body(RawHead head, BodyMemory.Reservation memory, byte[] bytes, int there) {
            this.head = head;
            this.memory = memory;
            this.bytes = bytes;
            this.filled = head.length() + there;
        }

        int missing() {
            return head.length() + head.bodyLength() - filled;
        }

        void add(ByteBuf in, int more) {
            if (bytes.length - filled < more) {
                int size = Math.min(filled + missing(), Math.max(2 * filled, filled + more));
                bytes = Arrays.copyOf(bytes, size);
            }
            in.readBytes(bytes, filled, more);
            filled += more;
        }

        ByteBuf complete() {
            return Unpooled.wrappedBuffer(bytes, head.length(), head.bodyLength());
        }

        ByteBuf soFar() {
            return Unpooled.wrappedBuffer(bytes, 0, filled);
        }
    }

    private void collect(ChannelHandlerContext ctx, Body arriving, ByteBuf in) {
        int more = Math.min(in.readableBytes(), arriving.missing());
        if (arriving.memory.take(more)) {
            arriving.add(in, more);
            added(arriving, in, more);
        } else {
            handOver(ctx, arriving, in);
        }
    }

    /** {@code in}: what is left of it. */
    private void added(Body arriving, ByteBuf in, int more) {
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
        codec.requestHandedOver();
        feed(ctx, Unpooled.wrappedBuffer(unfinished.soFar(), codec.own(in)));
    }

    private void start(Body complete) {
        Context own = codec.context();
        RawRequest request =
                new RawRequest(client, complete.head, own, complete.memory, this::answered);
        running = request;
        @SuppressWarnings("deprecation") // the only public way without a copy
        Buffer bytes = Buffer.buffer(complete.complete());
        codec.run(own, () -> receiver.arrived(request, bytes));
    }

    private void keep(ByteBuf in) {
        channel.config().setAutoRead(false);
        ByteBuf own = codec.own(in);
        kept = kept == null ? own : Unpooled.wrappedBuffer(kept, own);
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
            codec.headBegins();
            feed(ctx, in);
            channelReadComplete(ctx);
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
        if (halfClosed != null) {
            halfClosed.end();
        }
        ReferenceCountUtil.release(kept);
        kept = null;
        Body unfinished = body;
        if (unfinished != null) {
            body = null;
            unfinished.memory.free();
            requests.exit();
            receiver.cancelledEarly();
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
