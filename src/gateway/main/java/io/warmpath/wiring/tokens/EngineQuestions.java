package io.warmpath.wiring.tokens;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.adapter.enginehttp.VertxEngineHttp;
import io.warmpath.adapter.enginetokens.EngineModelPlaces;
import io.warmpath.adapter.enginetokens.EngineTokenizers;
import io.warmpath.fleet.ModelPlaces;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.upstream.tls.EngineTls;
import io.warmpath.wiring.memory.MemoryPlan;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;

/** What is asked of engines about prompts, apart from requests and health checks. Any thread. */
public final class EngineQuestions implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long CACHE_BYTES = 64L << 20;

    /** A token takes some 7 bytes: a million of them. */
    private static final int MOST_BYTES = 8 << 20;

    /** Of one gateway at its engines, together. */
    private static final int AT_ONCE = 32;

    private final VertxEngineHttp http;
    private final EngineTokenizers tokenizer;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    public EngineQuestions(Vertx vertx, EngineTls tls, AddressGuard guard, MemoryPlan plan) {
        http =
                new VertxEngineHttp(
                        vertx,
                        TIMEOUT,
                        tls::applyTo,
                        tls.keys()::of,
                        guard,
                        (int) Math.min(MOST_BYTES, plan.messages() >> 3));
        tokenizer = new EngineTokenizers(http, plan.kept(CACHE_BYTES), System::nanoTime);
    }

    public void bind(MeterRegistry registry) {
        FunctionCounter.builder(
                        "warmpath.engine.tokenize.remembered",
                        tokenizer,
                        EngineTokenizers::remembered)
                .description("Of these, those whose answer was remembered")
                .register(registry);
        Gauge.builder(
                        "warmpath.engine.tokenize.cache.bytes",
                        tokenizer,
                        EngineTokenizers::cacheBytes)
                .description("Memory of remembered answers")
                .register(registry);
    }

    /**
     * @param models whose prompts engines are asked about
     * @param deadline an answer that takes longer is not waited for
     */
    public EngineIds ids(Predicate<String> models, Duration deadline) {
        return new EngineIds(models, tokenizer, threads, AT_ONCE, deadline, System::nanoTime);
    }

    public ModelPlaces places() {
        return new EngineModelPlaces(http);
    }

    public EngineTokenizer tokenizer() {
        return tokenizer;
    }

    /** Runs what blocks on an answer. */
    public Executor executor() {
        return threads;
    }

    /** Nobody waits for what is still asked. */
    @Override
    public void close() {
        threads.shutdownNow();
        http.close();
    }
}
