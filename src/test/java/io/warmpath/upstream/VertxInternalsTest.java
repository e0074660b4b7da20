package io.warmpath.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the raw path believes about this version of Vert.x. */
class VertxInternalsTest {
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
                            ChannelHandlerContext encoder = VertxInternals.behindEncoder(request);
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
                ask(new HttpServerOptions(), HttpVersion.HTTP_1_0, VertxInternals::behindEncoder));
        assertNull(ask(new HttpServerOptions(), HttpVersion.HTTP_2, VertxInternals::behindEncoder));
        assertNull(
                ask(
                        new HttpServerOptions().setCompressionSupported(true),
                        HttpVersion.HTTP_1_1,
                        VertxInternals::behindEncoder));
    }

    @Test
    void code_between_enter_and_leave_runs_in_the_context() throws Exception {
        Context context = vertx.getOrCreateContext();
        CompletableFuture<Context> inside = new CompletableFuture<>();
        VertxInternals.eventLoop(context)
                .execute(
                        () -> {
                            Object before = VertxInternals.enter(context);
                            inside.complete(Vertx.currentContext());
                            VertxInternals.leave(context, before);
                        });
        assertSame(context, inside.get(10, TimeUnit.SECONDS));
    }
}
