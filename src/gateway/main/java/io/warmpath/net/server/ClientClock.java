package io.warmpath.net.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.util.AttributeKey;
import io.warmpath.net.Deadlines;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Closes the connection of a client that sends too slowly, or nothing, or is one too many. It looks
 * at what goes by in two places: bytes as they come from the socket, and requests and answers
 * between codec and Vert.x. That tells a silent stream, which is never cut, from a silent client.
 * Of HTTP/2 it knows only whether anything runs. Nothing is allocated per request; the time is read
 * twice. One per client connection, its event loop only.
 */
final class ClientClock extends Deadlines.Entry {
    /** Of a connection, where clients may not take their time. */
    static final AttributeKey<ClientClock> KEY = AttributeKey.valueOf(ClientClock.class, "clock");

    private final ClientLimits limits;
    private final Channel channel;
    @Nullable ClientClock idleBefore; // these three are the list's
    @Nullable ClientClock idleAfter;
    boolean isIdle;
    long idleSince; // for whoever is in it
    private ClientConnections.@Nullable Idle idle; // null before the channel has its loop
    private @Nullable Deadlines deadlines; // null before the channel has its loop
    private boolean begun; // the messages are seen: HTTP/1
    private boolean heard; // bytes before that, or of HTTP/2
    private volatile boolean lively = true; // bytes since somebody asked
    private boolean head;
    private boolean body;
    private boolean held; // in this span the gateway stopped reading the body
    private long bytes;
    private long waitingSince; // for what is waited for now
    private int unanswered;

    ClientClock(ClientLimits limits, Channel channel) {
        this.limits = limits;
        this.channel = channel;
    }

    /** For the beginning of the pipeline. */
    final class Bytes extends ChannelInboundHandlerAdapter {
        @Override
        @SuppressWarnings("FutureReturnValueIgnored")
        public void channelActive(ChannelHandlerContext ctx) {
            ClientConnections.Idle others = limits.connections().idle(channel.eventLoop());
            idle = others;
            if (!limits.connections().opened(others)) {
                channel.close(); // channelInactive follows
                return;
            }
            deadlines = limits.loops().of(channel.eventLoop());
            enter(limits.idleNanos());
            isIdle(others);
            ctx.fireChannelActive();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ClientConnections.Idle others = idle;
            if (others != null) {
                idle = null;
                others.remove(ClientClock.this);
                limits.connections().closed();
            }
            Deadlines all = deadlines;
            if (all != null) {
                all.remove(ClientClock.this);
                deadlines = null;
            }
            ctx.fireChannelInactive();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            heard = true;
            if (!lively) {
                lively = true;
            }
            busy();
            // Before the messages are seen, bytes are those of TLS, whose handshake has a time-out.
            boolean first = begun && !head && !body && unanswered == 0;
            head |= first;
            ctx.fireChannelRead(message);
            if (first && head) {
                waitFor(limits.headNanos());
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.fireChannelReadComplete();
            held |= body && !channel.config().isAutoRead();
        }
    }

    /** Between codec and Vert.x. */
    final class Messages extends CodecMessages {
        /** {@code first}: the head of a request has gone by already. */
        Messages(boolean first) {
            begun = true;
            if (first) {
                requestBegan();
            }
        }

        @Override
        void requestBegan() {
            ClientClock.this.requestBegan();
        }

        @Override
        void received(int more) {
            ClientClock.this.received(more);
        }

        @Override
        void requestEnded() {
            ClientClock.this.requestEnded();
        }

        @Override
        void answered() {
            ClientClock.this.answered();
        }
    }

    /** Whether anything has come since this was asked last. Any one thread. */
    boolean wasLively() {
        boolean was = lively;
        lively = false;
        return was;
    }

    /** More of the body of the request that is received now. */
    void received(int more) {
        if (body) {
            bytes += more;
        }
    }

    /** The request that is received now is there as a whole. */
    void requestEnded() {
        body = false;
        if (unanswered == 0) { // the answer did not wait for it
            nothingToDo();
        }
    }

    /** A request was answered. */
    void answered() {
        if (unanswered > 0) {
            unanswered--;
            if (!body) {
                nothingToDo();
            }
        }
    }

    /** What there is of a request that did not go through the codec goes there after all. */
    void requestHandedOver() {
        unanswered--;
        body = false;
        headBegins();
    }

    /** Bytes that were kept back go to the codec now. */
    void headBegins() {
        busy();
        head = true;
        waitFor(limits.headNanos());
    }

    void requestBegan() {
        head = false;
        body = true;
        held = false;
        bytes = 0;
        unanswered++;
        waitFor(limits.bodyNanos());
    }

    private void busy() {
        ClientConnections.Idle others = idle;
        if (others != null) {
            others.remove(this);
        }
    }

    private void nothingToDo() {
        waitFor(limits.idleNanos());
        ClientConnections.Idle others = idle;
        if (others != null && unanswered == 0) {
            isIdle(others);
        }
    }

    /** No stream of HTTP/2 is open: another client may take its place. */
    void nothingRuns() {
        ClientConnections.Idle others = idle;
        if (others != null && !isIdle) {
            idleSince = limits.nanoTime().getAsLong();
            others.add(this);
        }
    }

    private void isIdle(ClientConnections.Idle others) {
        idleSince = waitingSince;
        others.add(this);
    }

    /** Another client needs its place. */
    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    void displace() {
        busy();
        channel.close();
    }

    private void waitFor(long nanos) {
        waitingSince = limits.nanoTime().getAsLong();
        deadline(waitingSince, nanos);
    }

    private void enter(long nanos) {
        waitFor(nanos);
        Deadlines all = deadlines;
        if (all != null) {
            all.add(this);
        }
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    protected void expired() {
        if (!begun && !ServerPipeline.isOfVertx(channel.pipeline())) {
            return; // no client of the gateway's
        }
        LongAdder late = late();
        if (late != null) {
            late.increment();
            channel.close();
            return;
        }
        bytes = 0;
        held = false;
        heard = false;
        enter(body ? limits.bodyNanos() : limits.idleNanos());
    }

    /** What to count it as; null: it may go on. */
    private @Nullable LongAdder late() {
        if (!begun) {
            return usesHttp2() ? null : limits.idles();
        }
        if (body) {
            boolean ours = held || !channel.config().isAutoRead();
            return ours || bytes >= limits.leastBytes() ? null : limits.bodies();
        }
        if (unanswered > 0) {
            return null;
        }
        return head ? limits.heads() : limits.idles();
    }

    private boolean usesHttp2() {
        Http2ConnectionHandler http2 = channel.pipeline().get(Http2ConnectionHandler.class);
        return http2 != null && (heard || http2.connection().numActiveStreams() > 0);
    }
}
