package io.warmpath.sim.http;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** One client connection: its requests are answered one after the other. Event loop only. */
final class Connection extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final Logger LOG = Logger.getLogger(Connection.class);

    private final Consumer<SimExchange> handler;
    private final Queue<SimExchange> pipelined = new ArrayDeque<>();
    private @Nullable SimExchange current;

    Connection(Consumer<SimExchange> handler) {
        this.handler = handler;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
        if (request.decoderResult().isFailure()) {
            ChannelFuture unused =
                    ctx.writeAndFlush(
                                    new DefaultFullHttpResponse(
                                            HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST))
                            .addListener(ChannelFutureListener.CLOSE);
            return;
        }
        SimExchange exchange = new SimExchange(ctx, request, this::next);
        if (current == null) {
            begin(exchange);
        } else {
            pipelined.add(exchange);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        pipelined.clear();
        if (current != null) {
            current.gone();
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.debugf(cause, "connection of %s broke", ctx.channel().remoteAddress());
        ChannelFuture unused = ctx.close();
    }

    private void begin(SimExchange exchange) {
        current = exchange;
        try {
            handler.accept(exchange);
        } catch (RuntimeException e) {
            LOG.errorf(e, "%s %s failed", exchange.method(), exchange.path());
            exchange.reset();
        }
    }

    private void next() {
        current = null;
        SimExchange waiting = pipelined.poll();
        if (waiting != null) {
            begin(waiting);
        }
    }
}
