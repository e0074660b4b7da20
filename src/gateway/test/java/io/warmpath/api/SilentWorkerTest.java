package io.warmpath.api;

import static io.warmpath.api.Gateway.ASK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.tokens.template.GuessedChatMl;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker hangs: it fails its health checks, and its streams do not wait for their time-outs. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
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
    private Runnable becomes = () -> gateway.unwell(ill, PATIENCE);

    @BeforeEach
    void start() throws Exception {
        gateway = gateway(Runnable::run);
        ill = new StubEngine(call -> {});
        well =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(said(" upon") + said(" a time.") + DONE);
                            call.lastChunk();
                        });
        serve(EngineKind.SGLANG, WorkerState.READY);
    }

    private Gateway gateway(Executor tokenizers) throws Exception {
        return new Gateway(
                path,
                Gateway.upstream(Duration.ofMillis(400), LONG, LONG),
                tokenizers,
                new MigrationOptions(3, 4096, 1 << 20));
    }

    private void serve(EngineKind kind, WorkerState second) {
        gateway.fleet.workers(
                List.of(
                        // It is well as far as this gateway's fleet goes.
                        Gateway.worker(0, ill.url(), kind, WorkerState.READY, 1),
                        Gateway.worker(1, well.url(), kind, second, 1)));
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
        gateway.close(ill, well);
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
        becomes.run();
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

    /** Most answers pause at a line's end. */
    private void goesOnBehind(String said) throws Exception {
        ill.script(
                call -> {
                    call.streamHead();
                    call.chunk(said(said));
                    silent.countDown();
                    assertTrue(call.awaitGone());
                });
        RawClient.Answer answer = ask(ASK).get(10, TimeUnit.SECONDS);
        assertEquals(said + " upon a time.", text(answer));
        assertTrue(answer.body().endsWith(DONE), answer.body());
        assertEquals(
                said,
                new JsonObject(well.calls.getLast().bodyText())
                        .getJsonArray("messages")
                        .getJsonObject(1)
                        .getString("content")
                        .replace("\n", "\\n"));
    }

    private static String text(RawClient.Answer answer) {
        return answer.body()
                .lines()
                .filter(l -> l.contains("content"))
                .map(l -> l.replaceAll(".*\"content\":\"([^\"]*)\".*", "$1"))
                .collect(Collectors.joining());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once\\n", "\\n\\nOnce", " Once "})
    void on_sglang_white_space_stands_in_nobodys_way(String said) throws Exception {
        goesOnBehind(said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once\\n", "\\n\\nOnce", " Once "})
    void nor_on_vllm_where_the_template_keeps_it(String said) throws Exception {
        serve(EngineKind.VLLM, WorkerState.READY);
        gateway.tokens.template = new GuessedChatMl();
        goesOnBehind(said);
    }

    @Test
    void where_the_template_is_not_known_it_is_waited_for() throws Exception {
        serve(EngineKind.VLLM, WorkerState.READY);
        waitsFor(ASK, "Once\\n");
    }

    @Test
    void a_worker_that_speaks_while_the_template_is_asked_is_not_left() throws Exception {
        BlockingQueue<Runnable> lanes = new LinkedBlockingQueue<>();
        gateway.close();
        gateway = gateway(lanes::add);
        serve(EngineKind.VLLM, WorkerState.READY);
        gateway.tokens.template = new GuessedChatMl();
        CountDownLatch asked = new CountDownLatch(1);
        ill.script(
                call -> {
                    call.streamHead();
                    call.chunk(said("Once"));
                    silent.countDown();
                    assertTrue(speak.await(10, TimeUnit.SECONDS));
                    call.chunk(said(" more"));
                    assertTrue(asked.await(10, TimeUnit.SECONDS));
                    call.chunk(DONE);
                    call.lastChunk();
                });
        CompletableFuture<RawClient.Answer> answer = ask(ASK);
        Runnable look = lanes.poll(10, TimeUnit.SECONDS);
        assertNotNull(look, "the template was not asked");
        speak.countDown();
        await().until(() -> gateway.books.progress.contains(2));
        look.run();
        asked.countDown();
        assertEquals(said("Once") + said(" more") + DONE, answer.get(10, TimeUnit.SECONDS).body());
        assertEquals(0, well.requests.get());
    }

    /** Nothing is gained by breaking what may still come. */
    private void waitsFor(String body) throws Exception {
        waitsFor(body, "Once");
    }

    private void waitsFor(String body, String said) throws Exception {
        ill.script(
                call -> {
                    call.streamHead();
                    call.chunk(said(said));
                    silent.countDown();
                    assertTrue(isLeftAlone(call), "it was given up");
                    call.chunk(said(" upon") + DONE);
                    call.lastChunk();
                });
        RawClient.Answer answer = ask(body).get(20, TimeUnit.SECONDS);
        assertEquals(said(said) + said(" upon") + DONE, answer.body());
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
        serve(EngineKind.SGLANG, WorkerState.UNHEALTHY);
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

    // ---- it leaves the fleet

    @Test
    void when_it_leaves_the_fleet_what_it_has_not_begun_goes_elsewhere() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, false);
        before_its_first_token_another_worker_answers();
    }

    @Test
    void when_it_leaves_the_fleet_what_it_has_begun_goes_elsewhere() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, false);
        in_mid_stream_it_goes_on_elsewhere();
    }

    @Test
    void while_it_may_be_well_what_cannot_go_is_waited_for() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, false);
        a_whole_answer_is_waited_for();
    }

    @Test
    void a_whole_answer_of_one_that_is_lost_is_given_by_another() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, true);
        ill.script(
                call -> {
                    silent.countDown();
                    assertTrue(call.awaitGone());
                });
        well.script(call -> call.json(200, "{\"ok\":2}"));
        assertEquals("{\"ok\":2}", ask(Gateway.ASK_WHOLE).get(10, TimeUnit.SECONDS).body());
    }

    @Test
    void where_nobody_else_is_there_it_ends_with_an_error() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, true);
        gateway.fleet.workers(
                List.of(Gateway.worker(0, ill.url(), EngineKind.SGLANG, WorkerState.READY, 1)));
        ill.script(
                call -> {
                    silent.countDown();
                    assertTrue(call.awaitGone());
                });
        RawClient.Answer answer = ask(Gateway.ASK_WHOLE).get(10, TimeUnit.SECONDS);
        assertEquals(504, answer.status(), answer.body());
        assertTrue(answer.body().contains("\"worker_unwell\""), answer.body());
    }

    @Test
    void a_stream_that_cannot_go_on_ends_with_an_error_event() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, true);
        ill.script(
                call -> {
                    call.streamHead();
                    call.chunk(said("Once"));
                    silent.countDown();
                    assertTrue(call.awaitGone());
                });
        String asked = ASK.replace("\"stream\":true", "\"stream\":true,\"logprobs\":true");
        RawClient.Answer answer = ask(asked).get(10, TimeUnit.SECONDS);
        assertTrue(answer.body().startsWith(said("Once")), answer.body());
        assertTrue(answer.body().contains("\"worker_unwell\""), answer.body());
        assertFalse(answer.body().contains("[DONE]"), answer.body());
        assertEquals(0, well.requests.get());
    }

    @Test
    void one_that_speaks_is_not_left_whatever_is_said_of_it() throws Exception {
        becomes = () -> gateway.left(ill, PATIENCE, true);
        one_that_speaks_is_not_left();
    }
}
