package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.gateway.flow.Retries;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The budget of retries, and hedges: a second worker asked because the first one is late. */
@ExtendWith(Leaks.class)
class RetryTest {
    private static final int WARM = 100;

    private Gateway gateway;
    private StubEngine first;
    private StubEngine second;
    private final CountDownLatch end = new CountDownLatch(1);

    private void start(Retries.Options options) throws Exception {
        gateway = new Gateway(EnginePath.RAW, options);
        first = new StubEngine(call -> answer(call, "first"));
        second = new StubEngine(call -> answer(call, "second"));
        gateway.serve(first, second);
    }

    /** Hedging, and the usual time to a first token is known. */
    private void hedging(double share) throws Exception {
        start(new Retries.Options(2, 0.2, 10, 99, share));
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < WARM; i++) {
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                assertEquals(200, client.readAnswer().status());
            }
        }
        assertEquals(0, second.requests.get(), "none was late");
        gateway.forget();
    }

    private static void answer(StubEngine.Call call, String who) throws Exception {
        call.streamHead();
        call.chunk(ROLE);
        call.chunk(token(who));
        call.chunk(DONE);
        call.lastChunk();
    }

    @AfterEach
    void stop() throws Exception {
        end.countDown();
        gateway.close();
        assertEquals(0, gateway.migration.keptBytes());
        for (StubEngine e : new StubEngine[] {first, second}) {
            e.close();
            assertTrue(e.failures.isEmpty(), () -> "engine: " + e.failures);
        }
    }

    private double hedges(String result) {
        return gateway.counter("warmpath.hedges", "result", result);
    }

    @Test
    void beyond_the_budget_a_request_gets_its_workers_error() throws Exception {
        start(new Retries.Options(2, 0.5, 0, 0, 0));
        first.script(call -> call.json(503, "{\"error\":\"first\"}"));
        int served = 0;
        for (int i = 0; i < 10; i++) {
            served += gateway.post(Gateway.ASK).status() == 200 ? 1 : 0;
        }
        assertEquals(5, served);
        assertEquals(5, second.requests.get());
        assertEquals(5, gateway.meters.get("warmpath.retries.refused").counter().count());
    }

    @Test
    void a_worker_that_is_not_there_costs_no_budget() throws Exception {
        start(new Retries.Options(2, 0, 0, 0, 0));
        first.kill();
        assertEquals(200, gateway.post(Gateway.ASK).status());
    }

    @Test
    void one_worker_means_no_retry_but_a_full_queue_has_not_begun() throws Exception {
        start(new Retries.Options(1, 1, 100, 0, 0));
        first.script(call -> call.json(503, "{}"));
        assertEquals(503, gateway.post(Gateway.ASK).status());
        assertEquals(0, second.requests.get());
        first.script(call -> call.json(429, "{}"));
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(1, second.requests.get());
    }

    @Test
    void a_late_worker_is_overtaken_and_stopped() throws Exception {
        hedging(1);
        CountDownLatch stopped = new CountDownLatch(1);
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(ROLE); // no token, so the other one may still win
                    assertTrue(call.awaitGone());
                    stopped.countDown();
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(ROLE + token("second") + DONE, answer.body());
        assertTrue(stopped.await(10, TimeUnit.SECONDS));
        assertEquals(1, hedges("sent"));
        assertEquals(1, hedges("won"));
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
    }

    @Test
    void a_hedge_that_is_later_still_is_stopped() throws Exception {
        hedging(1);
        CountDownLatch asked = new CountDownLatch(1);
        first.script(
                call -> {
                    assertTrue(asked.await(10, TimeUnit.SECONDS));
                    answer(call, "first");
                });
        second.script(
                call -> {
                    asked.countDown();
                    assertTrue(call.awaitGone());
                });
        assertEquals(ROLE + token("first") + DONE, gateway.post(Gateway.ASK).body());
        assertEquals(1, hedges("lost"));
    }

    @Test
    void when_one_of_both_fails_the_other_one_answers() throws Exception {
        hedging(1);
        CountDownLatch asked = new CountDownLatch(1);
        first.script(
                call -> {
                    assertTrue(asked.await(10, TimeUnit.SECONDS));
                    call.reset();
                });
        second.script(
                call -> {
                    asked.countDown();
                    await().until(() -> hedges("won") == 1);
                    answer(call, "second");
                });
        assertEquals(ROLE + token("second") + DONE, gateway.post(Gateway.ASK).body());
        second.script(call -> call.json(500, "{}"));
        first.script(
                call -> {
                    await().until(() -> hedges("lost") == 1);
                    answer(call, "first");
                });
        assertEquals(ROLE + token("first") + DONE, gateway.post(Gateway.ASK).body());
    }

    @Test
    void hedges_have_a_budget_too() throws Exception {
        hedging(0);
        first.script(
                call -> {
                    await().until(() -> hedges("no_budget") == 1);
                    answer(call, "first");
                });
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(0, second.requests.get());
    }

    @Test
    void a_client_that_leaves_stops_both() throws Exception {
        hedging(1);
        CountDownLatch stopped = new CountDownLatch(2);
        StubEngine.Script late =
                call -> {
                    assertTrue(call.awaitGone());
                    stopped.countDown();
                };
        first.script(late);
        second.script(late);
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> second.requests.get() == 1);
        }
        assertTrue(stopped.await(10, TimeUnit.SECONDS));
    }
}
