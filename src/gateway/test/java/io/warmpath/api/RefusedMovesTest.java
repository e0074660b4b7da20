package io.warmpath.api;

import static io.warmpath.api.MigrationTest.finish;
import static io.warmpath.api.MigrationTest.role;
import static io.warmpath.api.MigrationTest.said;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Streams that are not gone on with because of where they stand when they break. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class RefusedMovesTest {
    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine first;
    private StubEngine second;

    @BeforeEach
    void start() throws Exception {
        first = new StubEngine(StubEngine.Call::close);
        second = new StubEngine(StubEngine.Call::close);
        gateway =
                new Gateway(
                        path,
                        Gateway.upstream(
                                Duration.ofSeconds(2),
                                Duration.ofSeconds(5),
                                Duration.ofSeconds(1)),
                        new MigrationOptions(3, 1 << 20, 1 << 24));
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(0, first.url(), EngineKind.SGLANG, WorkerState.READY, 1),
                        Gateway.worker(1, second.url(), EngineKind.SGLANG, WorkerState.READY, 1)));
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(0, gateway.migration.keptBytes());
        assertEquals(0, second.requests.get(), "requests to the second worker");
        gateway.close();
        first.close();
        second.close();
        assertTrue(first.failures.isEmpty(), () -> "first: " + first.failures);
    }

    private double refused(String reason) {
        return gateway.meters
                .get("warmpath.migrations")
                .tag("result", "refused")
                .tag("reason", reason)
                .counter()
                .count();
    }

    @Test
    void only_the_usage_that_the_client_wants_is_lost_and_nobody_knows_the_prompts_length()
            throws Exception {
        gateway.tokens.ids = null;
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once") + finish("A", 1));
                    call.close();
                });
        RawClient.Answer answer =
                gateway.post(
                        Gateway.ASK.replace(
                                "\"stream\":true",
                                "\"stream\":true,\"stream_options\":{\"include_usage\":true}"));
        assertEquals(200, answer.status());
        assertFalse(answer.broken());
        assertTrue(
                answer.body()
                        .startsWith(
                                role("A", 1)
                                        + said("A", 1, "Once")
                                        + finish("A", 1)
                                        + "data: {\"error\""),
                answer.body());
        assertFalse(answer.body().contains("[DONE]"), answer.body());
        assertEquals(1, refused("finished"));
    }

    @Test
    void a_part_of_a_large_event_is_out() throws Exception {
        String large = said("A", 1, "x".repeat(100_000));
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once"));
                    call.chunk(large.substring(0, 90_000));
                    call.close();
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertTrue(answer.broken(), "an event that is cut looks whole");
        assertFalse(answer.body().contains("\"error\""), "an event inside an event");
        assertTrue(answer.body().startsWith(role("A", 1) + said("A", 1, "Once")));
        assertEquals(1, refused("inside_event"));
    }

    /** The worker is silent because nobody takes what it says. */
    @Test
    void the_client_takes_nothing() throws Exception {
        String much = said("A", 1, "x".repeat(8_000));
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1));
                    for (int i = 0; i < 4_000; i++) { // 32 MB, more than sockets take
                        call.chunk(much);
                    }
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead(); // and nothing more
            await().untilAsserted(() -> assertEquals(1, refused("client_slow")));
        }
    }
}
