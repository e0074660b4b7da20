package io.warmpath.api.error;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.net.server.MalformedRequest;
import org.jspecify.annotations.Nullable;

/** Answers what is no request, says why, and ends its connection. On its event loop; immutable. */
public record MalformedRequests(RequestIds ids) implements Handler<HttpServerRequest> {
    @Override
    public void handle(HttpServerRequest request) {
        ErrorMapper.respond(
                request.response(),
                error(request.decoderResult().cause()),
                ids.of(request.headers()));
        request.connection().close();
    }

    private static GatewayError error(@Nullable Throwable why) {
        if (why instanceof MalformedRequest known) {
            return new GatewayError.NotHttp(known.status(), String.valueOf(known.getMessage()));
        }
        if (why instanceof TooLongHttpLineException) {
            return new GatewayError.NotHttp(414, "The request's first line is too long.");
        }
        if (why instanceof TooLongHttpHeaderException) {
            return new GatewayError.NotHttp(431, "The request's headers are too long together.");
        }
        return InvalidRequest.NOT_HTTP;
    }
}
