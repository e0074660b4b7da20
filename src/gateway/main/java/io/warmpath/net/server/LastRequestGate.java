package io.warmpath.net.server;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Predicate;

/**
 * Lets nothing through behind the last request of a connection, the one that says {@code
 * Connection: close} or is not of HTTP/1.1 (RFC 9112 section 9.6). Vert.x 4.5 drops what follows
 * it, too, but without letting go of the memory: a client that sends bodies behind such a request
 * could use all of it up. One per client connection, between decoder and Vert.x; its event loop
 * only.
 */
final class LastRequestGate extends ChannelInboundHandlerAdapter {
    private boolean last;
    private boolean closed;

    /** {@code last}: the request that is being received now is the last one. */
    LastRequestGate(boolean last) {
        this.last = last;
    }

    /** Another request may follow. */
    boolean isOpen() {
        return !last && !closed;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (closed) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof HttpRequest request) {
            last = isLast(request);
        }
        if (message instanceof LastHttpContent) {
            closed = last;
        }
        ctx.fireChannelRead(message);
    }

    /** As Vert.x sees it, which closes the connection; a list of options does not count there. */
    private static boolean isLast(HttpRequest request) {
        HttpVersion version = request.protocolVersion();
        return isLast(
                version.equals(HttpVersion.HTTP_1_1),
                version.equals(HttpVersion.HTTP_1_0),
                option -> request.headers().contains("connection", option, true));
    }

    /** {@code says}: whether this is the value of a {@code Connection} header, in any case. */
    static boolean isLast(boolean http11, boolean http10, Predicate<String> says) {
        return http11 ? says.test("close") : !http10 || !says.test("keep-alive");
    }
}
