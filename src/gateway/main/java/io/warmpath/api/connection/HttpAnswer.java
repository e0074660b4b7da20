package io.warmpath.api.connection;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.json.EventBytes;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.net.EndToEndHeaders;
import org.jspecify.annotations.Nullable;

/** {@link Answer} as an HTTP response of Vert.x. On the request's event loop. */
class HttpAnswer implements Answer {
    private static final byte[] KEEP_ALIVE = EventBytes.utf8(": keep-alive\n\n");

    final HttpServerResponse response;
    private final HttpVersion version;
    private final String requestId;

    HttpAnswer(HttpServerRequest request, String requestId) {
        this.response = request.response();
        this.version = request.version();
        this.requestId = requestId;
    }

    @Override
    public void head(int status, MultiMap engine, @Nullable MultiMap own, boolean keepLength) {
        if (isGone()) {
            return;
        }
        response.setStatusCode(status);
        EndToEndHeaders.copyResponse(engine, response.headers(), keepLength);
        if (own != null) {
            own.forEach((name, value) -> response.headers().set(name, value)); // setAll clears
        }
        response.headers().set(RequestIds.HEADER, requestId);
    }

    @Override
    public void write(byte[] b, int from, int length) {
        if (isGone() || length == 0) {
            return;
        }
        if (!response.headWritten()
                && version != HttpVersion.HTTP_1_0
                && !response.headers().contains("content-length")) {
            response.setChunked(true);
        }
        response.write(copy(b, from, length));
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (!isGone()) {
            response.end(copy(b, from, length));
        }
    }

    private static Buffer copy(byte[] b, int from, int length) {
        return Buffer.buffer(length).appendBytes(b, from, length);
    }

    @Override
    public void keepAlive() {
        write(KEEP_ALIVE, 0, KEEP_ALIVE.length);
    }

    @Override
    public void fail(GatewayError error) {
        ErrorMapper.respond(response, error, requestId);
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        byte[] event = ErrorMapper.event(error);
        end(event, 0, event.length);
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

    final boolean isGone() {
        return response.closed() || response.ended();
    }
}
