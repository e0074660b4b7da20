package io.warmpath.wiring;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** An SGLang server that pins, as far as a gateway sees of it; how it takes a pin is scripted. */
final class PinningEngine implements AutoCloseable {
    /** One request, as it came. */
    record Asked(String path, String body, String authorization) {
        JsonObject json() {
            return new JsonObject(body);
        }
    }

    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server;
    private final JsonObject info;
    final List<Asked> asked = new CopyOnWriteArrayList<>();

    /** How the route for pins answers. */
    volatile BiConsumer<Asked, HttpServerRequest> pins =
            (a, r) -> r.response().end("{\"status\":\"ok\",\"nodes_pinned\":3}");

    volatile int promptTokens = 100;
    volatile int cachedTokens;

    /**
     * @param info what it says of itself beside its page size
     */
    PinningEngine(JsonObject info) throws Exception {
        this.info = new JsonObject().put("page_size", 16).put("version", "0.5.9").mergeIn(info);
        server =
                vertx.createHttpServer()
                        .requestHandler(this::serve)
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.actualPort());
    }

    List<Asked> asked(String path) {
        return asked.stream().filter(a -> a.path.equals(path)).toList();
    }

    private void serve(HttpServerRequest r) {
        switch (r.method() + " " + r.path()) {
            case "GET /health" -> r.response().end();
            case "GET /v1/models" ->
                    r.response().end("{\"object\":\"list\",\"data\":[{\"id\":\"demo\"}]}");
            case "GET /server_info" -> r.response().end(info.encode());
            case "GET /hicache/pin_prefix" -> r.response().setStatusCode(405).end();
            case "POST /hicache/pin_prefix" -> r.body().onSuccess(b -> pins.accept(note(r, b), r));
            case "POST /v1/completions", "POST /v1/chat/completions" ->
                    r.body()
                            .onSuccess(
                                    b -> {
                                        note(r, b);
                                        answer(r);
                                    });
            default -> r.response().setStatusCode(404).end();
        }
    }

    private Asked note(HttpServerRequest r, Buffer body) {
        String authorization = r.getHeader("authorization");
        Asked a = new Asked(r.path(), body.toString(), authorization == null ? "" : authorization);
        asked.add(a);
        return a;
    }

    private void answer(HttpServerRequest r) {
        r.response()
                .putHeader("content-type", "application/json")
                .end(
                        "{\"choices\":[{\"text\":\"a\",\"message\":{\"content\":\"a\"}}],"
                                + "\"usage\":{\"prompt_tokens\":"
                                + promptTokens
                                + ",\"completion_tokens\":1,\"prompt_tokens_details\":"
                                + "{\"cached_tokens\":"
                                + cachedTokens
                                + "}}}");
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
