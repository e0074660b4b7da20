package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.modes.Routers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.Parameter;

/** Two engines that prefill and two that decode, behind a gateway. */
abstract class SplitFleet {
    static final ObjectMapper JSON = new ObjectMapper();
    static final int LATE = 100;
    static final String QUEUE_FULL =
            "{\"object\":\"error\",\"message\":\"The request queue is full.\",\"code\":503}";

    @Parameter EnginePath path;

    Gateway gateway;
    StubEngine p0;
    StubEngine p1;
    StubEngine d0;
    StubEngine d1;
    private final List<StubEngine> engines = new ArrayList<>();

    void start(StubEngine.Script prefill, StubEngine.Script decode) throws Exception {
        gateway = gateway(GatewayOptions.defaults());
        p0 = engine(prefill);
        p1 = engine(prefill);
        d0 = engine(decode);
        d1 = engine(decode);
    }

    Gateway gateway(GatewayOptions options) throws Exception {
        return new Gateway(
                path,
                options,
                Gateway.upstream(
                        Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(4)),
                Runnable::run);
    }

    /** The same workers behind a gateway with other limits. */
    void again(GatewayOptions options) throws Exception {
        behind(gateway(options));
    }

    /** The same workers behind this one. */
    void behind(Gateway other) throws Exception {
        List<Worker> workers = gateway.fleet.now.workers();
        gateway.close();
        gateway = other;
        gateway.fleet.workers(workers);
    }

    /** A prompt may be so much later than expected. */
    static GatewayOptions late(int millis) {
        return Options.of(o -> o.stallTimeout = Duration.ofMillis(millis));
    }

    /** Done long after a prompt that was expected at once is {@link #late}. */
    CompletableFuture<Void> whenLate() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        gateway.vertx.setTimer(4 * LATE, t -> done.complete(null));
        return done;
    }

    void assertStalled(long worker) {
        assertEquals(List.of(worker), gateway.fleet.stalled);
        assertEquals(1, gateway.counter("warmpath.disagg.prefill.failures", "cause", "timeout"));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engines.toArray(StubEngine[]::new));
    }

    StubEngine engine(StubEngine.Script script) throws IOException {
        StubEngine made = new StubEngine(script);
        engines.add(made);
        return made;
    }

    static Worker worker(
            int id, StubEngine engine, EngineKind kind, int ranks, Disaggregation its) {
        return Gateway.worker(id, engine.url(), kind, WorkerState.READY, ranks).toBuilder()
                .disaggregation(its)
                .build();
    }

    /** Of vLLM. */
    static Worker worker(int id, StubEngine engine, Role role) {
        return worker(id, engine, EngineKind.VLLM, 1, new Disaggregation(role, true, 0, ""));
    }

    /** Answers "good", as a stream. */
    static void decode(StubEngine.Call call) throws Exception {
        call.streamHead();
        call.chunk(ROLE);
        call.chunk(token("good"));
        call.chunk(DONE);
        call.lastChunk();
    }

    static JsonNode body(StubEngine engine, int call) throws IOException {
        return JSON.readTree(engine.calls.get(call).body);
    }

    void assertServed(RawClient.Answer answer) {
        assertEquals(200, answer.status(), answer::body);
        assertEquals(ROLE + token("good") + DONE, answer.body());
        assertFalse(answer.broken());
    }

    /** Not among who is first, and by the rules of taints. */
    void roundRobin() {
        gateway.router.instead =
                Routers.create(
                        RouterOptions.of(RouterMode.ROUND_ROBIN),
                        gateway.books,
                        () -> new Random(7));
    }

    /** No request here tolerates it. */
    static Worker tainted(Worker worker) {
        return worker.toBuilder().taints(List.of(Taint.parse("gpu=a:NoSchedule"))).build();
    }

    /** What holds while both that prefill have one prompt each, and get no other one. */
    interface WhileBusy {
        void check() throws Exception;
    }

    /**
     * @param prefill what they do once they may
     */
    void whileAllPrefill(StubEngine.Script prefill, WhileBusy then) throws Exception {
        CompletableFuture<Void> go = new CompletableFuture<>();
        for (StubEngine p : List.of(p0, p1)) {
            p.script(
                    call -> {
                        go.get(10, TimeUnit.SECONDS);
                        prefill.serve(call);
                    });
        }
        roundRobin();
        RawClient.Answer set =
                RawClient.post(
                        gateway.port,
                        "/busy_threshold",
                        "{\"model\":\"m\",\"active_prefill_tokens_threshold\":0}");
        assertEquals(200, set.status(), set::body);
        try (RawClient one = new RawClient(gateway.port);
                RawClient other = new RawClient(gateway.port)) {
            one.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> p0.requests.get() + p1.requests.get() == 1);
            other.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> p0.requests.get() == 1 && p1.requests.get() == 1);
            then.check();
            go.complete(null);
            assertServed(one.readAnswer());
            assertServed(other.readAnswer());
        }
        nothingIsBooked();
    }

    void nothingIsBooked() {
        await().until(() -> gateway.books.open.get() == 0);
        assertEquals(0, gateway.books.closedTwice.get());
    }
}
