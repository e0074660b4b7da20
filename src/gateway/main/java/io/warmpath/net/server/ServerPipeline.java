package io.warmpath.net.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.SslHandler;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.impl.Http1xServerConnection;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.core.net.impl.VertxHandler;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * What Vert.x does not promise of a client's connection; its test fails when a new version changes
 * any of it: the channel under a server request, the names of the handlers in its pipeline, and
 * whether the decoder has read all it got. All on the event loop of the connection.
 */
public final class ServerPipeline {
    /** Name of the response encoder in the pipeline of an HTTP/1 server connection. */
    private static final String ENCODER = "httpEncoder";

    /** Name of the request decoder in it. */
    private static final String DECODER = "httpDecoder";

    /** Name of what unpacks compressed requests, which has to see every byte. */
    private static final String INFLATER = "inflater";

    /** Name of Vert.x' own end of the pipeline. */
    private static final String HANDLER = "handler";

    /** Name of the response compressor, which has to see every byte. */
    private static final String COMPRESSOR = "deflater";

    private static final Logger LOG = Logger.getLogger(ServerPipeline.class);

    /** Of a decoder: how much it has got and not read. */
    private static final @Nullable MethodHandle UNREAD = findUnread();

    /** Of Vert.x' end of the pipeline: what its server was made with. */
    private static final @Nullable MethodHandle OPTIONS = findOptions();

    private ServerPipeline() {}

    /**
     * Where bytes can be written past the server's encoder.
     *
     * @return null when every byte has to go through it: HTTP/2, HTTP/1.0, compression, or a
     *     pipeline that does not look as expected
     */
    public static @Nullable ChannelHandlerContext behindEncoder(HttpServerRequest request) {
        Channel channel = channel(request.connection());
        if (request.version() != HttpVersion.HTTP_1_1 || channel == null) {
            return null;
        }
        ChannelPipeline pipeline = channel.pipeline();
        ChannelHandlerContext encoder = pipeline.context(ENCODER);
        return encoder == null || pipeline.context(COMPRESSOR) != null ? null : encoder;
    }

    /**
     * Puts the connection's {@link LastRequestGate} in place, at its first request, where {@link
     * ServerConnections} could not (TLS); to be called before anything of a request's body has been
     * read.
     */
    public static void guard(HttpServerRequest request) {
        Channel channel = channel(request.connection());
        if (request.version() == HttpVersion.HTTP_2 || channel == null) {
            return;
        }
        boolean last =
                LastRequestGate.isLast(
                        request.version() == HttpVersion.HTTP_1_1,
                        request.version() == HttpVersion.HTTP_1_0,
                        option -> request.headers().contains("connection", option, true));
        gate(channel.pipeline(), last, true);
    }

    /**
     * Nothing where there is one already, and where HTTP/1 is not spoken or not spoken yet.
     *
     * @param begun the head of a request has gone by
     * @return false: it is not known yet what will be spoken
     */
    static boolean gate(ChannelPipeline pipeline, boolean last, boolean begun) {
        if (pipeline.get(LastRequestGate.class) == null
                && pipeline.context(ENCODER) != null
                && pipeline.context(HANDLER) != null) {
            pipeline.addBefore(HANDLER, "warmpath-last-request", new LastRequestGate(last));
            ClientClock clock = pipeline.channel().attr(ClientClock.KEY).get();
            if (clock != null) {
                pipeline.addBefore(
                        "warmpath-last-request",
                        "warmpath-client-clock",
                        clock.new Messages(begun));
            }
        }
        return pipeline.get(LastRequestGate.class) != null
                || pipeline.get(Http2ConnectionHandler.class) != null
                || pipeline.get(SslHandler.class) == null;
    }

    /**
     * Holds the decoder of a client's connection to RFC 9112, before its first byte is read.
     * Nothing where HTTP/1 is not spoken.
     *
     * @param refuse answers what is no request; null: Vert.x does
     */
    static void harden(ChannelPipeline pipeline, @Nullable Handler<HttpServerRequest> refuse) {
        if (OPTIONS == null
                || !(pipeline.get(DECODER) instanceof VertxHttpRequestDecoder known)
                || known instanceof StrictDecoder
                || !(pipeline.get(HANDLER) instanceof VertxHandler<?> end)
                || !(end.getConnection() instanceof Http1xServerConnection connection)) {
            return;
        }
        pipeline.replace(known, DECODER, new StrictDecoder(options(OPTIONS, connection)));
        if (refuse != null) {
            connection.invalidRequestHandler(refuse);
        }
    }

    /**
     * @param handler sees what comes out of TLS
     * @return false: there is none
     */
    static boolean behindTls(ChannelPipeline pipeline, ChannelHandler handler) {
        for (Map.Entry<String, ChannelHandler> known : pipeline) {
            if (known.getValue() instanceof SslHandler
                    || known.getValue() instanceof AbstractSniHandler<?>) {
                pipeline.addAfter(known.getKey(), null, handler);
                return true;
            }
        }
        return false;
    }

    private static HttpServerOptions options(MethodHandle of, Http1xServerConnection connection) {
        try {
            return (HttpServerOptions) of.invokeExact(connection);
        } catch (Throwable e) { // what invokeExact declares; reading a field throws nothing
            throw new IllegalStateException("the server does not tell its options", e);
        }
    }

    private static @Nullable MethodHandle findOptions() {
        try {
            return MethodHandles.privateLookupIn(
                            Http1xServerConnection.class, MethodHandles.lookup())
                    .findGetter(Http1xServerConnection.class, "options", HttpServerOptions.class);
        } catch (ReflectiveOperationException e) {
            LOG.error("requests are as the server's decoder reads them, not as RFC 9112 does", e);
            return null;
        }
    }

    /** Whether Vert.x made it; other servers of this process have none of its handlers. */
    static boolean isOfVertx(ChannelPipeline pipeline) {
        for (Map.Entry<String, ChannelHandler> handler : pipeline) {
            if (handler.getValue().getClass().getName().startsWith("io.vertx.")) {
                return true;
            }
        }
        return false;
    }

    /**
     * @return null when the connection is not one of Vert.x' own
     */
    public static @Nullable Channel channel(HttpConnection of) {
        return of instanceof ConnectionBase connection ? connection.channel() : null;
    }

    /**
     * The codec of a client's connection, to be gone past by requests that follow.
     *
     * @param begun the head of a request has gone by, nothing of its body has been read; false:
     *     nothing has
     * @return null where every byte has to go through it: HTTP/2, compression, a pipeline that does
     *     not look as expected; and where it is gone past already
     */
    static @Nullable ServerCodec codec(Channel of, boolean begun) {
        ChannelPipeline pipeline = of.pipeline();
        if (pipeline.get(CodecState.class) != null || !gate(pipeline, false, begun)) {
            return null;
        }
        ChannelHandlerContext decoder = pipeline.context(DECODER);
        ChannelHandlerContext encoder = pipeline.context(ENCODER);
        LastRequestGate gate = pipeline.get(LastRequestGate.class);
        if (decoder == null
                || encoder == null
                || gate == null
                || pipeline.context(INFLATER) != null
                || pipeline.context(COMPRESSOR) != null
                || !(decoder.handler() instanceof ByteToMessageDecoder reader)
                || unread(reader) < 0
                || !(pipeline.get(HANDLER) instanceof VertxHandler<?> end)) {
            return null;
        }
        CodecState state = new CodecState(begun);
        pipeline.addBefore(HANDLER, "warmpath-codec-state", state);
        return new ServerCodec(
                decoder,
                reader,
                encoder,
                gate,
                state,
                end.getConnection().getContext(),
                of.attr(ClientClock.KEY).get());
    }

    /** What a decoder has got and not read yet. Returns in bytes; negative when it is not known. */
    static int unread(ByteToMessageDecoder decoder) {
        MethodHandle unread = UNREAD;
        if (unread == null) {
            return -1;
        }
        try {
            return (int) unread.invokeExact(decoder);
        } catch (Throwable e) { // what invokeExact declares; the method throws nothing
            throw new IllegalStateException("the decoder does not tell what it has not read", e);
        }
    }

    private static @Nullable MethodHandle findUnread() {
        try {
            return MethodHandles.privateLookupIn(ByteToMessageDecoder.class, MethodHandles.lookup())
                    .findVirtual(
                            ByteToMessageDecoder.class,
                            "actualReadableBytes",
                            MethodType.methodType(int.class));
        } catch (ReflectiveOperationException e) {
            LOG.debug("requests do not go past the server's codec", e);
            return null;
        }
    }
}
