package io.warmpath.sim.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;

/**
 * HTTP/1.1 on one event loop: everything of one engine happens on one thread. {@link #open} and
 * {@link #port} from any thread; the rest on the loop.
 */
public final class HttpServer {
    private static final int MAX_BODY_BYTES = 256 << 20;

    /** A master of a pool is asked for hundreds of keys in one URL. */
    private static final int MAX_LINE = 1 << 20;

    private static final int MAX_HEADERS = 8192;

    private final EventLoop loop;
    private final Class<? extends ServerChannel> channelType;
    private final Consumer<SimExchange> handler;
    private final ChannelGroup connections;
    private final Channel listener;
    private final int port;

    private HttpServer(
            EventLoop loop,
            Class<? extends ServerChannel> channelType,
            Consumer<SimExchange> handler,
            InetSocketAddress address)
            throws IOException {
        this.loop = loop;
        this.channelType = channelType;
        this.handler = handler;
        this.connections = new DefaultChannelGroup(loop);
        this.listener = bind(address);
        this.port = ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /**
     * Listens; {@code handler} is called on the loop for every complete request.
     *
     * @throws IOException naming the address when it cannot be used
     */
    public static HttpServer open(
            EventLoop loop,
            Class<? extends ServerChannel> channelType,
            Consumer<SimExchange> handler,
            InetSocketAddress address)
            throws IOException {
        return new HttpServer(loop, channelType, handler, address);
    }

    private Channel bind(InetSocketAddress address) throws IOException {
        ChannelFuture bound =
                new ServerBootstrap()
                        .group(loop)
                        .channel(channelType)
                        .option(ChannelOption.SO_BACKLOG, 1024)
                        .option(ChannelOption.SO_REUSEADDR, true)
                        .childOption(ChannelOption.TCP_NODELAY, true)
                        .childHandler(
                                new ChannelInitializer<>() {
                                    @Override
                                    protected void initChannel(Channel ch) {
                                        connections.add(ch);
                                        ch.pipeline()
                                                .addLast(
                                                        new HttpServerCodec(
                                                                MAX_LINE, MAX_HEADERS, MAX_HEADERS))
                                                .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
                                                .addLast(new Connection(handler));
                                    }
                                })
                        .bind(address)
                        .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on %s:%s; choose another --port"
                            .formatted(address.getHostString(), address.getPort()),
                    bound.cause());
        }
        return bound.channel();
    }

    public int port() {
        return port;
    }

    public int connections() {
        return connections.size();
    }

    /**
     * Stops listening and resets every connection, except that {@code spared} may still send what
     * it has.
     */
    public void kill(Channel... spared) {
        ChannelFuture unused = listener.close();
        for (Channel ch : connections) {
            if (!List.of(spared).contains(ch)) {
                reset(ch);
            }
        }
    }

    /** Closes with a TCP reset, as the kernel does for a killed process with unread data. */
    static void reset(Channel ch) {
        ch.config().setOption(ChannelOption.SO_LINGER, 0);
        ChannelFuture unused = ch.close();
    }
}
