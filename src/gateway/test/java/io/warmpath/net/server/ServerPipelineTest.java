package io.warmpath.net.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.warmpath.net.VertxInternals;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the raw path believes about clients' connections of this version of Vert.x. */
class ServerPipelineTest {
    private final Vertx vertx = Vertx.vertx();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private interface Look<T> {
        T at(HttpServerRequest request);
    }

    private <T> T ask(HttpServerOptions server, HttpVersion version, Look<T> look)
            throws Exception {
        CompletableFuture<T> seen = new CompletableFuture<>();
        int port =
                vertx.createHttpServer(server)
                        .requestHandler(
                                request -> {
                                    try {
                                        seen.complete(look.at(request));
                                    } catch (RuntimeException | Error e) {
                                        seen.completeExceptionally(e);
                                    }
                                    request.response().end();
                                })
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .actualPort();
        vertx.createHttpClient(
                        new HttpClientOptions()
                                .setProtocolVersion(version)
                                .setHttp2ClearTextUpgrade(false))
                .request(io.vertx.core.http.HttpMethod.GET, port, "127.0.0.1", "/")
                .compose(r -> r.send())
                .toCompletionStage()
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);
        return seen.get(10, TimeUnit.SECONDS);
    }

    @Test
    void the_pipeline_is_codec_then_handler_and_the_encoder_is_found() throws Exception {
        List<String> names =
                ask(
                        new HttpServerOptions().setHttp2ClearTextEnabled(false),
                        HttpVersion.HTTP_1_1,
                        request -> {
                            ChannelHandlerContext encoder = ServerPipeline.behindEncoder(request);
                            assertNotNull(encoder);
                            assertTrue(encoder.channel().eventLoop().inEventLoop());
                            assertSame(
                                    encoder.channel().eventLoop(),
                                    VertxInternals.eventLoop(Vertx.currentContext()));
                            return encoder.pipeline().names();
                        });
        // The gate is put there by ServerConnections. The handler for WebSockets is there unless
        // Quarkus came first in this JVM: it turns them
        // off. It lets answers through.
        assertEquals(
                List.of("httpDecoder", "httpEncoder", "warmpath-last-request", "handler"),
                names.stream()
                        .filter(n -> !n.contains("$")) // without a name of its own
                        .filter(n -> !n.equals("webSocketExtensionHandler"))
                        .filter(n -> !n.equals("warmpath-client-clock")) // of another test's limits
                        .toList());
    }

    @Test
    void every_byte_goes_through_the_codec_where_that_is_needed() throws Exception {
        assertNull(
                ask(new HttpServerOptions(), HttpVersion.HTTP_1_0, ServerPipeline::behindEncoder));
        assertNull(ask(new HttpServerOptions(), HttpVersion.HTTP_2, ServerPipeline::behindEncoder));
        assertNull(
                ask(
                        new HttpServerOptions().setCompressionSupported(true),
                        HttpVersion.HTTP_1_1,
                        ServerPipeline::behindEncoder));
    }

    private static @Nullable ServerCodec codec(HttpServerRequest request) {
        List<ServerCodec> found = new ArrayList<>();
        ServerCodec.pass(request, found::add);
        return found.isEmpty() ? null : found.getFirst();
    }

    @Test
    void requests_can_go_past_the_codec_of_plain_http_1_1_only() throws Exception {
        boolean looked =
                ask(
                        new HttpServerOptions(),
                        HttpVersion.HTTP_1_1,
                        request -> {
                            ServerCodec codec = codec(request);
                            assertNotNull(codec);
                            assertFalse(codec.isIdle(), "its request is not answered");
                            assertNull(codec(request), "once a connection");
                            ChannelPipeline pipeline = codec.encoder().pipeline();
                            codec.precede("inlet", new ChannelInboundHandlerAdapter());
                            List<String> names = pipeline.names();
                            assertTrue(names.indexOf("inlet") < names.indexOf("httpDecoder"));
                            assertTrue(
                                    names.indexOf("warmpath-codec-state")
                                            > names.indexOf("httpEncoder"));
                            Context other = codec.context();
                            assertNotSame(Vertx.currentContext(), other);
                            assertSame(
                                    VertxInternals.eventLoop(Vertx.currentContext()),
                                    VertxInternals.eventLoop(other));
                            other.putLocal("key", "its own");
                            assertNull(Vertx.currentContext().getLocal("key"));
                            return true;
                        });
        assertTrue(looked);
        Look<ServerCodec> codec = ServerPipelineTest::codec;
        assertNull(ask(new HttpServerOptions(), HttpVersion.HTTP_1_0, codec));
        assertNull(ask(new HttpServerOptions(), HttpVersion.HTTP_2, codec));
        for (HttpServerOptions sees :
                List.of(
                        new HttpServerOptions().setCompressionSupported(true),
                        new HttpServerOptions().setDecompressionSupported(true))) {
            assertNull(ask(sees, HttpVersion.HTTP_1_1, codec));
        }
    }

    /** Of a connection on which nothing has been read. */
    private static ServerCodec unread(HttpConnection connection) {
        return ServerPipeline.codec(ServerPipeline.channel(connection), false);
    }

    @Test
    void a_codec_is_idle_when_what_it_got_is_read_and_answered() throws Exception {
        CompletableFuture<ServerCodec> found = new CompletableFuture<>();
        CompletableFuture<HttpServerRequest> asked = new CompletableFuture<>();
        int port =
                vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                        .connectionHandler(c -> found.complete(unread(c)))
                        .requestHandler(asked::complete)
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .actualPort();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            ServerCodec codec = found.get(10, TimeUnit.SECONDS);
            assertNotNull(codec);
            BooleanSupplier idle =
                    () ->
                            codec.encoder()
                                    .channel()
                                    .eventLoop()
                                    .submit(codec::isIdle)
                                    .syncUninterruptibly()
                                    .getNow();
            assertTrue(idle.getAsBoolean());
            client.getOutputStream().write("GET / HTT".getBytes(StandardCharsets.US_ASCII));
            await().until(() -> !idle.getAsBoolean()); // a part of a head
            client.getOutputStream()
                    .write("P/1.1\r\nHost: a\r\n\r\nGET".getBytes(StandardCharsets.US_ASCII));
            HttpServerRequest request = asked.get(10, TimeUnit.SECONDS);
            assertFalse(idle.getAsBoolean());
            request.response().end();
            client.getInputStream().readNBytes(20);
            assertFalse(idle.getAsBoolean(), "the next one has begun");
        }
    }

    @Test
    void a_codec_that_met_something_else_than_http_is_never_idle() throws Exception {
        CompletableFuture<ServerCodec> found = new CompletableFuture<>();
        int port =
                vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                        .connectionHandler(c -> found.complete(unread(c)))
                        .requestHandler(request -> request.response().end())
                        .invalidRequestHandler(request -> {}) // leaves the connection open
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .actualPort();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            ServerCodec codec = found.get(10, TimeUnit.SECONDS);
            client.getOutputStream()
                    .write("no http at all\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            await().until(() -> !codec.encoder().channel().eventLoop().submit(codec::isIdle).get());
        }
    }
}
