package io.warmpath.net.server;

import io.netty.bootstrap.ChannelInitializerExtension;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.net.FileShortage;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sees every accepted connection before Vert.x does: puts a {@link LastRequestGate} into those
 * without TLS ({@link ServerPipeline#guard} comes too late for what Vert.x answers before any
 * route), a {@link StrictDecoder} and a {@link ClientClock} into all. Requests of those without TLS
 * go past the codec from the first one on, once their listener knows how ({@link
 * ServerCodec#pass}). Where none can be accepted for lack of files, others make room.
 *
 * <p>Netty makes the one instance by its name in {@code META-INF/services}, once {@link #enable}
 * was called before the first listener. Any thread.
 */
public final class ServerConnections extends ChannelInitializerExtension {
    private static final String PROPERTY = "io.netty.bootstrap.extensions";

    // Netty makes the instance, so what it is to do can only lie here.
    private static volatile @Nullable ClientLimits current;
    private static volatile @Nullable Handler<HttpServerRequest> refuse;

    private static final OpenClients OPEN = new OpenClients();

    /** Ports of listeners whose other sides are no clients, and speak HTTP/2 alone. */
    private static final Map<Integer, ClientLimits> PROXIES = new ConcurrentHashMap<>();

    /** Lets Netty look for extensions, unless somebody has said how it shall. */
    public static void enable() {
        if (System.getProperty(PROPERTY) == null) {
            System.setProperty(PROPERTY, "serviceload");
        }
    }

    /** For connections that are accepted from now on. {@code limits}: null: clients have none. */
    public static void limit(@Nullable ClientLimits limits) {
        current = limits;
    }

    /**
     * For connections that are accepted from now on.
     *
     * @param answer answers what is no request ({@link HttpServerRequest#decoderResult} says why)
     *     and ends the connection; on its event loop
     */
    public static void refuse(Handler<HttpServerRequest> answer) {
        refuse = answer;
    }

    /**
     * Connections to this port are not clients', and speak HTTP/2 alone. Before it is open.
     *
     * @param limits null: once it is closed, another listener may have the port
     */
    public static void proxies(int port, @Nullable ClientLimits limits) {
        if (limits == null) {
            PROXIES.remove(port);
        } else {
            PROXIES.put(port, limits);
        }
    }

    /**
     * The process is about to end: accepts no client any more, and leaves those that are connected
     * the time to ask once more, which should be answered with {@code Connection: close}.
     *
     * @param quiet for how long nobody says anything who is still there
     * @param gone once all have gone, or have been quiet; on any thread
     */
    public static void letGo(Duration quiet, Runnable gone) {
        OPEN.letGo(channel -> proxies(channel) != null, quiet, gone);
    }

    /** Null: its other side is a client. */
    private static @Nullable ClientLimits proxies(Channel channel) {
        return channel.localAddress() instanceof InetSocketAddress at
                ? PROXIES.get(at.getPort())
                : null;
    }

    @Override
    public void postInitializeServerListenerChannel(ServerChannel channel) {
        OPEN.listens(channel);
        channel.pipeline().addLast(new Accepting()); // before the one that Netty adds itself
    }

    /** Accepts nobody for a moment when files have run out, and lets idle clients make room. */
    private static final class Accepting extends ChannelInboundHandlerAdapter {
        private static final int PAUSE_MILLIS = 100;

        @Override
        @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for the pause
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (!FileShortage.OF_PROCESS.explains(cause)) {
                ctx.fireExceptionCaught(cause);
                return;
            }
            ClientLimits limits = current;
            if (limits != null) {
                limits.connections().makeRoom(limits.nanoTime().getAsLong());
            }
            ChannelConfig listener = ctx.channel().config();
            if (listener.isAutoRead()) {
                listener.setAutoRead(false);
                ctx.executor()
                        .schedule(
                                () -> listener.setAutoRead(true),
                                PAUSE_MILLIS,
                                TimeUnit.MILLISECONDS);
            }
        }
    }

    @Override
    public void postInitializeServerChildChannel(Channel channel) {
        ClientLimits proxies = proxies(channel);
        ClientLimits limits = proxies != null ? proxies : current;
        if (proxies == null) {
            OPEN.connected(channel);
        }
        if (limits != null) {
            ClientClock clock = new ClientClock(limits, channel);
            channel.attr(ClientClock.KEY).set(clock);
            channel.pipeline().addFirst(clock.new Bytes());
        }
        if (proxies != null) {
            channel.pipeline().addFirst(new Proxies(proxies));
            return;
        }
        ClientReads.into(channel);
        channel.pipeline().addFirst(new FirstRead()); // so that the clock knows whether it is TLS
    }

    /**
     * Puts the guard between TLS, if there is any, and the codec, which are there by the first
     * read.
     */
    private static final class Proxies extends ChannelInboundHandlerAdapter {
        private final ClientLimits limits;

        Proxies(ClientLimits limits) {
            this.limits = limits;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            FrameGuard guard = new FrameGuard(limits, true);
            if (!ServerPipeline.behindTls(ctx.pipeline(), guard)) {
                ctx.pipeline().addAfter(ctx.name(), null, guard);
            }
            ctx.fireChannelRead(message);
            ctx.pipeline().remove(this);
        }
    }

    /**
     * Vert.x has made its pipeline by the time of the first read, with TLS by that of the first one
     * behind the handshake.
     */
    private static final class FirstRead extends ChannelInboundHandlerAdapter {
        private boolean watched; // what comes out of TLS is

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ServerPipeline.harden(ctx.pipeline(), refuse);
            if (!watched) {
                watched = true;
                ServerPipeline.behindTls(ctx.pipeline(), new FirstDecrypted());
            }
            boolean known = ServerPipeline.gate(ctx.pipeline(), false, false);
            ServerCodec.opened(ctx.channel());
            ctx.fireChannelRead(message);
            if (known && !ctx.isRemoved()) {
                ctx.pipeline().remove(this);
            }
        }
    }

    /**
     * The decoder has to be held to its rules before the first request, which may come with the end
     * of the handshake; its codec is there by then.
     */
    private static final class FirstDecrypted extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ServerPipeline.harden(ctx.pipeline(), refuse);
            ClientLimits limits = current;
            if (limits != null && ctx.pipeline().get(Http2ConnectionHandler.class) != null) {
                ctx.pipeline().addAfter(ctx.name(), null, new FrameGuard(limits, false));
            }
            ctx.fireChannelRead(message);
            ctx.pipeline().remove(this);
        }
    }
}
