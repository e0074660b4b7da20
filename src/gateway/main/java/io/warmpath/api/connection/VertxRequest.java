package io.warmpath.api.connection;

import io.netty.handler.codec.http2.Http2Error;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** {@link ClientRequest} through Vert.x. */
public record VertxRequest(HttpServerRequest request, ErrorForm errors) implements ClientRequest {
    @Override
    public String target() {
        return request.path();
    }

    @Override
    public @Nullable String query() {
        return request.query();
    }

    @Override
    public MultiMap headers() {
        return request.headers();
    }

    @Override
    public void putHeader(String name, String value) {
        request.response().putHeader(name, value);
    }

    @Override
    public void onEnd(IntConsumer action) {
        HttpServerResponse response = request.response();
        response.endHandler(v -> action.accept(response.getStatusCode()));
    }

    @Override
    public boolean isGone() {
        return request.response().closed();
    }

    @Override
    public Answer answer(String requestId, boolean raw, Runnable gone) {
        return RawAnswer.of(request, requestId, raw, gone);
    }

    @Override
    public void refuse(GatewayError error, String requestId) {
        errors.respond(request.response(), error, requestId);
    }

    /** Refuses it as the last one of its connection; HTTP/2 ends connections in its own way. */
    public void refuseLast(GatewayError error, String requestId, long lingerMillis) {
        if (request.version() == HttpVersion.HTTP_2) {
            refuse(error, requestId);
            discard(lingerMillis);
            return;
        }
        putHeader("connection", "close");
        refuse(error, requestId);
        discard(request, lingerMillis, request.connection()::close);
    }

    @Override
    public void discard(long lingerMillis) {
        discard(request, lingerMillis);
    }

    /**
     * Reads on for a moment after an answer that came before the end of the body: closing a
     * connection with unread bytes resets it, and the reset can overtake the answer. Of HTTP/2 only
     * the stream is ended: others may be on the connection.
     */
    public static void discard(HttpServerRequest request, long lingerMillis) {
        discard(request, lingerMillis, () -> {});
    }

    /** {@code ended}: what to do when all of the request has come in time. */
    private static void discard(HttpServerRequest request, long lingerMillis, Runnable ended) {
        if (request.isEnded()) {
            ended.run();
        } else {
            Vertx vertx = context().owner();
            long timer =
                    vertx.setTimer(
                            Math.max(1, lingerMillis),
                            t -> {
                                if (request.version() == HttpVersion.HTTP_2) {
                                    // RFC 9113, 8.1: the answer is whole, the rest unwanted
                                    request.response().reset(Http2Error.NO_ERROR.code());
                                } else {
                                    request.connection().close();
                                }
                            });
            Runnable whole =
                    () -> {
                        vertx.cancelTimer(timer);
                        ended.run();
                    };
            try {
                request.handler(ignored -> {});
                request.endHandler(v -> whole.run());
            } catch (IllegalStateException e) {
                if (!request.isEnded()) {
                    throw e;
                }
                whole.run(); // a thread that reads operators' bodies has just read the rest
            }
        }
        request.resume();
    }

    /** That of the request whose handler runs. */
    public static Context context() {
        Context current = Vertx.currentContext();
        if (current == null) {
            throw new IllegalStateException("a request arrived outside a Vert.x context");
        }
        return current;
    }
}
