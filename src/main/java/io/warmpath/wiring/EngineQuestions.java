package io.warmpath.wiring;

import io.vertx.core.Vertx;
import io.warmpath.adapter.enginehttp.VertxEngineHttp;
import io.warmpath.adapter.enginetokens.EngineTokenizers;
import io.warmpath.fleet.EngineTokenizer;
import io.warmpath.upstream.EngineTls;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** What is asked of engines about prompts, apart from requests and health checks. Any thread. */
final class EngineQuestions implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final VertxEngineHttp http;
    private final EngineTokenizers tokenizer;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    EngineQuestions(Vertx vertx, EngineTls tls) {
        http = new VertxEngineHttp(vertx, TIMEOUT, tls::applyTo);
        tokenizer = new EngineTokenizers(http);
    }

    EngineTokenizer tokenizer() {
        return tokenizer;
    }

    /** Runs what blocks on an answer. */
    Executor executor() {
        return threads;
    }

    /** Nobody waits for what is still asked. */
    @Override
    public void close() {
        threads.shutdownNow();
        http.close();
    }
}
