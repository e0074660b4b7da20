package io.warmpath.api;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import java.util.concurrent.TimeUnit;

/** Serves one API of its own on loopback. */
public final class ApiServer {
    private ApiServer() {}

    public static HttpServer listen(Vertx vertx, Router router) throws Exception {
        return vertx.createHttpServer()
                .requestHandler(
                        request -> {
                            request.pause(); // as Quarkus hands them over
                            router.handle(request);
                        })
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);
    }
}
