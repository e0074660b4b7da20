package io.warmpath.api;

import static io.warmpath.api.Gateway.ASK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker hangs: it fails its health checks, and its streams do not wait for their time-outs. */
@ParameterizedClass
@EnumSource(EnginePath.class)
@ExtendWith(Leaks.class)
class SilentWorkerTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofMillis(100);
    private static final String DONE = "data: [DONE]\n\n";

    @Parameter EnginePath path;

    private final CountDownLatch silent = new CountDownLatch(1);
    private final CountDownLatch speak = new CountDownLatch(1);
    private Gateway gateway;
    private StubEngine ill;
    private StubEngine well;

    @BeforeEach
    void start() throws Exception {
        gateway =
                new Gateway(
                        path,
                        Gateway.upstream(Duration.ofMillis(400), LONG, LONG),
                        new MigrationOptions(3, 4096, 1 << 20));
        ill = new StubEngine(call -> {});
        well =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(said(" upon") + said(" a time.") + DONE);
                            call.lastChunk();
                        });
        serve(WorkerState.READY);
    }

    private void serve(WorkerState second) {
        gateway.fleet.workers(
                List.of(
                        worker(0, ill, WorkerState.READY), // as far as this gateway's fleet goes
                        worker(1, well, second)));
    }

    private static Worker worker(int id, StubEngine engine, WorkerState state) {
        return Gateway.worker(id, engine.url(), EngineKind.SGLANG, state, 1);
    }

    private static String said(String text) {
        return "data: {\"id\":\"A\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
                + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\""
                + text
                + "\"},\"finish_reason\":null}]}\n\n";
    }

    @AfterEach
    void stop() throws Exception {
        speak.countDown();
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        gateway.close();
        ill.close();
        well.close();
        assertTrue(ill.failures.isEmpty(), () -> "ill engine: " + ill.failures);
        assertTrue(well.failures.isEmpty(), () -> "well engine: " + well.failures);
    }

    private CompletableFuture<RawClient.Answer> ask(String body) throws Exception {
        CompletableFuture<RawClient.Answer> answer =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return gateway.post(body);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        });
        assertTrue(silent.await(10, TimeUnit.SECONDS));
        gateway.unwell("w0", PATIENCE);
        return answer;
    }

    @Test
    void before_its_first_token_another_worker_answers() throws Exception {
        ill.script(
                call -> {
                    silent.countDown();
                    assertTrue(call.awaitGone());
                });
        RawClient.Answer answer = ask(ASK).get(10, TimeUnit.SECONDS);
        assertEquals(said(" upon") + said(" a time.") + DONE, answer.body());
        assertEquals(1, gateway.counter("warmpath.retries", "cause", "timeout"));
    }

    @Test
    void in_mid_stream_it_goes_on_elsewhere() throws Exception {
        ill.script(
                call -> {
                    call.streamHead();
                    call.chunk(said("Once"));
                    silent.countDown();
                    assertTrue(call.awaitGone());
                });
        RawClient.Answer answer = ask(ASK).get(10, TimeUnit.SECONDS);
        assertEquals(
                List.of("Once", " upon", " a time."),
                answer.body()
                        .lines()
                        .filter(l -> l.contains("content"))
                        .map(l -> l.replaceAll(".*\"content\":\"([^\"]*)\".*", "$1"))
                        .toList());
        assertTrue(answer.body().endsWith(DONE));
        assertFalse(answer.broken());
    }

    /** Nothing is gained by breaking what may still come. */
    private void waitsFor(String body) throws Exception {
        ill.script(
                call -> {
                    call.streamHead();
                    call.chunk(said("Once"));
                    silent.countDown();
                    assertTrue(isLeftAlone(call), "it was given up");
                    call.chunk(said(" upon") + DONE);
                    call.lastChunk();
                });
        RawClient.Answer answer = ask(body).get(20, TimeUnit.SECONDS);
        assertEquals(said("Once") + said(" upon") + DONE, answer.body());
        assertEquals(0, well.requests.get());
    }

    /** For several times the patience. */
    private static boolean isLeftAlone(StubEngine.Call call) throws Exception {
        call.socket().setSoTimeout(700);
        try {
            call.socket().getInputStream().read();
            return false;
        } catch (SocketTimeoutException e) {
            return true;
        }
    }

    @Test
    void where_nobody_else_is_well_it_is_waited_for() throws Exception {
        serve(WorkerState.UNHEALTHY);
        waitsFor(ASK);
    }

    @Test
    void what_cannot_be_gone_on_with_is_waited_for() throws Exception {
        waitsFor(ASK.replace("\"stream\":true", "\"stream\":true,\"logprobs\":true"));
    }

    @Test
    void a_whole_answer_is_waited_for() throws Exception {
        ill.script(
                call -> {
                    silent.countDown();
                    assertTrue(isLeftAlone(call), "it was given up");
                    call.json(200, "{\"ok\":1}");
                });
        assertEquals("{\"ok\":1}", ask(Gateway.ASK_WHOLE).get(20, TimeUnit.SECONDS).body());
    }

    @Test
    void one_that_speaks_is_not_left() throws Exception {
        ill.script(
                call -> {
                    call.streamHead();
                    silent.countDown();
                    for (int i = 0; i < 20; i++) {
                        call.chunk(said("x"));
                        call.socket().setSoTimeout(30);
                        try {
                            call.socket().getInputStream().read();
                        } catch (SocketTimeoutException e) {
                            // Still there.
                        }
                    }
                    call.chunk(DONE);
                    call.lastChunk();
                });
        assertEquals(said("x").repeat(20) + DONE, ask(ASK).get(20, TimeUnit.SECONDS).body());
        assertEquals(0, well.requests.get());
    }
}
