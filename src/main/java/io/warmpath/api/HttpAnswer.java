package io.warmpath.api;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.Answer;
import io.warmpath.upstream.Headers;
import org.jspecify.annotations.Nullable;

/** {@link Answer} as an HTTP response. On the request's event loop. */
final class HttpAnswer implements Answer {
    private final HttpServerResponse response;
    private final HttpVersion version;
    private final String requestId;

    HttpAnswer(HttpServerResponse response, HttpVersion version, String requestId) {
        this.response = response;
        this.version = version;
        this.requestId = requestId;
    }

    @Override
    public void head(int status, MultiMap engine, @Nullable MultiMap own, boolean keepLength) {
        if (isGone()) {
            return;
        }
        response.setStatusCode(status);
        Headers.copyResponse(engine, response.headers(), keepLength);
        if (own != null) {
            response.headers().setAll(own);
        }
        response.headers().set(RequestIds.HEADER, requestId);
    }

    @Override
    public void write(Buffer chunk) {
        if (isGone() || chunk.length() == 0) {
            return;
        }
        if (!response.headWritten()
                && version != HttpVersion.HTTP_1_0
                && !response.headers().contains("content-length")) {
            response.setChunked(true);
        }
        response.write(chunk);
    }

    @Override
    public void end(Buffer rest) {
        if (!isGone()) {
            response.end(rest);
        }
    }

    @Override
    public void fail(GatewayError error) {
        ErrorMapper.respond(response, error, requestId);
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        end(ErrorMapper.event(error));
    }

    @Override
    public void reset() {
        if (!response.closed()) {
            response.reset();
        }
    }

    @Override
    public boolean isFull() {
        return !isGone() && response.writeQueueFull();
    }

    @Override
    public void onDrain(Runnable action) {
        if (!isGone()) {
            response.drainHandler(v -> action.run());
        }
    }

    private boolean isGone() {
        return response.closed() || response.ended();
    }
}
