package io.warmpath.api;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import java.util.function.IntConsumer;

/** {@link Arrived} through Vert.x. */
record VertxArrived(HttpServerRequest request, ErrorForm errors) implements Arrived {
    @Override
    public String uri() {
        return request.uri();
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

    @Override
    public void discard(long lingerMillis) {
        ClientGate.discard(request, lingerMillis);
    }
}
