package io.warmpath.upstream;

import io.netty.bootstrap.ChannelInitializerExtension;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Sees every accepted connection before Vert.x does, and puts a {@link LastRequestGate} into those
 * without TLS: {@link VertxInternals#guard} comes too late for what Vert.x answers before any
 * route.
 *
 * <p>Netty makes the one instance by its name in {@code META-INF/services}, once {@link #enable}
 * was called before the first listener. Any thread.
 */
public final class ServerConnections extends ChannelInitializerExtension {
    private static final String PROPERTY = "io.netty.bootstrap.extensions";

    /** Lets Netty look for extensions, unless somebody has said how it shall. */
    public static void enable() {
        if (System.getProperty(PROPERTY) == null) {
            System.setProperty(PROPERTY, "serviceload");
        }
    }

    @Override
    public void postInitializeServerChildChannel(Channel channel) {
        channel.pipeline().addFirst(new FirstRead());
    }

    /** Vert.x has made its pipeline by the time of the first read. */
    private static final class FirstRead extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            VertxInternals.gate(ctx.pipeline(), false);
            ctx.fireChannelRead(message);
            ctx.pipeline().remove(this);
        }
    }
}
