package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prefill on one engine, decoding on another, as SGLang splits them: both get the request at once
 * and meet by its room. The engines here are told apart by what real ones do
 * (src/docs/how-to/disaggregation.md): without a room they say 400; who prefills answers when its
 * cache has gone, who decodes begins when it has come.
 */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class SplitRequestsTest extends SplitFleet {
    private static final String NO_ROOM =
            "{\"object\":\"error\",\"message\":\"Disaggregated request received without bootstrap"
                    + " room id\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}";
    private static final String PREFILLED =
            "{\"id\":\"p\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"
                    + "\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"finish_reason\":\"length\"}],"
                    + "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1,\"total_tokens\":10}}";

    private final Map<Long, Room> rooms = new ConcurrentHashMap<>();

    /** Where two halves meet. */
    private record Room(CompletableFuture<Void> computed, CompletableFuture<Void> taken) {
        Room() {
            this(new CompletableFuture<>(), new CompletableFuture<>());
        }
    }

    @BeforeEach
    void start() throws Exception {
        start(this::prefill, this::decodeInRoom);
        gateway.fleet.workers(
                List.of(
                        worker(0, d0, Role.DECODE, 1),
                        worker(1, d1, Role.DECODE, 1),
                        worker(2, p0, Role.PREFILL, 2),
                        worker(3, p1, Role.PREFILL, 1)));
    }

    private static Worker worker(int id, StubEngine engine, Role role, int ranks) {
        return worker(
                id,
                engine,
                EngineKind.SGLANG,
                ranks,
                new Disaggregation(role, false, role == Role.PREFILL ? 8998 + id : 0, "x"));
    }

    private Room room(StubEngine.Call call) throws IOException {
        JsonNode number = JSON.readTree(call.body).path("bootstrap_room");
        return number.isIntegralNumber()
                ? rooms.computeIfAbsent(number.asLong(), n -> new Room())
                : null;
    }

    private void prefill(StubEngine.Call call) throws Exception {
        Room room = room(call);
        if (room == null) {
            call.json(400, NO_ROOM);
            return;
        }
        room.computed.complete(null);
        room.taken.get(10, TimeUnit.SECONDS);
        call.json(200, PREFILLED);
    }

    private void decodeInRoom(StubEngine.Call call) throws Exception {
        Room room = room(call);
        if (room == null) {
            call.json(400, NO_ROOM);
            return;
        }
        room.computed.get(10, TimeUnit.SECONDS);
        room.taken.complete(null);
        decode(call);
    }

    @Test
    void both_get_the_request_with_one_room_and_the_answer_is_that_of_who_decodes()
            throws Exception {
        assertServed(gateway.post(Gateway.ASK));
        JsonNode prefill = body(p0, 0);
        JsonNode decode = body(d0, 0);
        long room = decode.path("bootstrap_room").asLong(-1);
        assertTrue(room >= 0, decode.toString());
        assertEquals(0, room % 2, "the first of two ranks");
        for (String member : List.of("bootstrap_room", "bootstrap_host", "bootstrap_port")) {
            assertEquals(prefill.path(member), decode.path(member));
        }
        assertEquals("127.0.0.1", decode.path("bootstrap_host").asText());
        assertEquals(9000, decode.path("bootstrap_port").asInt());
        assertEquals(decode.path("messages"), prefill.path("messages"));
        assertEquals(0, p1.requests.get() + d1.requests.get());
        nothingIsBooked();
        assertEquals(2, gateway.books.booked.get());
        assertEquals(
                d0.calls.get(0).header("x-request-id"), p0.calls.get(0).header("x-request-id"));
    }

    @Test
    void rooms_are_not_used_twice() throws Exception {
        for (int i = 0; i < 20; i++) {
            assertServed(gateway.post(Gateway.ASK));
        }
        assertEquals(20, rooms.size());
    }

    @Test
    void one_that_cannot_prefill_is_replaced_before_the_first_token_unseen() throws Exception {
        p0.kill();
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, p1.requests.get());
        assertTrue(gateway.fleet.failures.contains(2L), gateway.fleet.failures.toString());
        assertFalse(gateway.fleet.failures.contains(0L), "who decodes is not to blame");
        nothingIsBooked();
    }

    @Test
    void one_that_fails_a_prefill_is_replaced() throws Exception {
        p0.script(call -> call.json(500, "{\"error\":\"Prefill transfer failed\"}"));
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, p1.requests.get());
        nothingIsBooked();
    }

    @Test
    void one_that_cannot_decode_is_replaced_and_its_prefill_is_stopped() throws Exception {
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        AtomicBoolean first = new AtomicBoolean(true);
        d0.script(StubEngine.Call::reset);
        p0.script(
                call -> {
                    if (first.getAndSet(false)) {
                        stopped.complete(call.awaitGone());
                    } else {
                        prefill(call); // maybe before the first one is seen to be gone
                    }
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertTrue(stopped.get(10, TimeUnit.SECONDS), "nobody waits for its cache");
        assertServed(answer);
        assertEquals(1, d1.requests.get());
        nothingIsBooked();
    }

    @Test
    void what_the_engines_refuse_is_refused_in_the_words_of_who_decodes() throws Exception {
        String words = "{\"object\":\"error\",\"message\":\"too long\",\"code\":400}";
        p0.script(call -> call.json(400, words));
        d0.script(call -> call.json(400, words));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(400, answer.status());
        assertEquals(words, answer.body());
        assertEquals(0, p1.requests.get() + d1.requests.get());
        nothingIsBooked();
        assertTrue(
                gateway.router.seen.stream().noneMatch(s -> s.endsWith("first token")),
                gateway.router.seen.toString());
    }

    @Test
    void one_that_waits_for_a_prefill_that_was_refused_is_not_waited_for() throws Exception {
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        p0.script(call -> call.json(400, "{\"message\":\"no\"}"));
        d0.script(call -> stopped.complete(call.awaitGone()));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(502, answer.status(), answer::body);
        assertTrue(stopped.get(10, TimeUnit.SECONDS));
        nothingIsBooked();
    }

    @Test
    void a_client_that_leaves_stops_both() throws Exception {
        CompletableFuture<Boolean> prefill = new CompletableFuture<>();
        CompletableFuture<Boolean> decode = new CompletableFuture<>();
        p0.script(call -> prefill.complete(call.awaitGone()));
        d0.script(call -> decode.complete(call.awaitGone()));
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> p0.requests.get() == 1 && d0.requests.get() == 1);
        }
        assertTrue(prefill.get(10, TimeUnit.SECONDS));
        assertTrue(decode.get(10, TimeUnit.SECONDS));
        nothingIsBooked();
    }

    @Test
    void without_somebody_who_prefills_it_is_503() throws Exception {
        gateway.fleet.workers(
                List.of(worker(0, d0, Role.DECODE, 1), worker(1, d1, Role.DECODE, 1)));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status());
        assertTrue(answer.body().contains("none of the role prefill is ready"), answer.body());
        assertEquals(0, d0.requests.get());
    }

    @Test
    void who_moves_the_cache_in_another_way_is_no_partner() throws Exception {
        Worker stranger =
                worker(4, p0, Role.PREFILL, 1).toBuilder()
                        .disaggregation(new Disaggregation(Role.PREFILL, false, 8998, "y"))
                        .build();
        gateway.fleet.workers(List.of(worker(0, d0, Role.DECODE, 1), stranger));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status());
        assertTrue(answer.body().contains("differ in engine or transfer"), answer.body());
        assertEquals(0, d0.requests.get() + p0.requests.get());
        gateway.fleet.workers(
                List.of(worker(0, d0, Role.DECODE, 1), stranger, worker(3, p1, Role.PREFILL, 1)));
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(1, p1.requests.get());
        assertEquals(0, p0.requests.get());
    }

    private RawClient.Answer complete(String members) throws Exception {
        String body = "{\"model\":\"m\",\"prompt\":\"hi\"," + members + "}";
        return RawClient.post(gateway.port, "/v1/completions", body);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"n\":2|send one request per answer", // engines of a role would hang
                "\"echo\":true,\"logprobs\":1|Log probabilities of the prompt"
            })
    void what_no_pair_can_do_goes_to_a_worker_that_does_all_of_it(String members, String why)
            throws Exception {
        RawClient.Answer refused = complete(members);
        assertEquals(400, refused.status());
        assertTrue(refused.body().contains(why), refused.body());
        StubEngine whole = engine(call -> call.json(200, PREFILLED));
        List<Worker> all = new ArrayList<>(gateway.fleet.now.workers());
        all.add(Gateway.worker(4, whole.url(), EngineKind.SGLANG, WorkerState.READY, 1));
        gateway.fleet.workers(all);
        assertEquals(200, complete(members).status());
        assertEquals(1, whole.requests.get());
        assertEquals(0, d0.requests.get() + p0.requests.get());
    }

    @Test
    void while_all_that_prefill_are_tainted_those_without_a_role_do_all_of_it() throws Exception {
        roundRobin();
        List<Worker> halves =
                List.of(worker(0, d0, Role.DECODE, 1), tainted(worker(2, p0, Role.PREFILL, 1)));
        gateway.fleet.workers(halves);
        RawClient.Answer refused = gateway.post(Gateway.ASK);
        assertEquals(503, refused.status(), refused::body);
        assertTrue(refused.body().contains("gpu=a:NoSchedule"), refused.body());
        StubEngine whole = engine(SplitFleet::decode);
        List<Worker> all = new ArrayList<>(halves);
        all.add(Gateway.worker(4, whole.url(), EngineKind.SGLANG, WorkerState.READY, 1));
        gateway.fleet.workers(all);
        for (int i = 0; i < 3; i++) {
            assertServed(gateway.post(Gateway.ASK));
        }
        assertEquals(3, whole.requests.get());
        assertEquals(0, d0.requests.get() + p0.requests.get());
        nothingIsBooked();
    }

    @Test
    void a_prompt_that_is_only_repeated_is_split() throws Exception {
        assertEquals(200, complete("\"stream\":true,\"echo\":true").status());
        assertEquals(1, p0.requests.get());
    }

    @Test
    void one_whose_cache_does_not_come_in_time_is_replaced_unseen() throws Exception {
        again(late(LATE));
        CompletableFuture<Boolean> prefill = new CompletableFuture<>();
        CompletableFuture<Boolean> decode = new CompletableFuture<>();
        p0.script(call -> prefill.complete(call.awaitGone()));
        d0.script(
                call -> {
                    if (!decode.isDone()) {
                        decode.complete(call.awaitGone());
                    } else {
                        decodeInRoom(call);
                    }
                });
        assertServed(gateway.post(Gateway.ASK));
        assertTrue(prefill.get(10, TimeUnit.SECONDS), "both halves are stopped");
        assertTrue(decode.get(10, TimeUnit.SECONDS));
        assertEquals(1, p1.requests.get());
        assertStalled(2);
        nothingIsBooked();
    }

    /** Long before any time-out. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void one_that_falls_silent_and_fails_is_replaced_whether_it_has_left_or_not(boolean left)
            throws Exception {
        Duration later = Duration.ofSeconds(60);
        behind(
                new Gateway(
                        path,
                        late((int) later.toMillis()),
                        Gateway.upstream(Duration.ofSeconds(2), later, later),
                        Runnable::run));
        CountDownLatch silent = new CountDownLatch(1);
        CompletableFuture<Boolean> prefill = new CompletableFuture<>();
        p0.script(
                call -> {
                    silent.countDown();
                    prefill.complete(call.awaitGone());
                });
        CompletableFuture<RawClient.Answer> answer =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return gateway.post(Gateway.ASK);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        });
        assertTrue(silent.await(10, TimeUnit.SECONDS));
        if (left) {
            gateway.left(p0, Duration.ofMillis(100), true);
        } else {
            gateway.unwell(p0, Duration.ofMillis(100));
        }
        assertServed(answer.get(10, TimeUnit.SECONDS));
        assertTrue(prefill.get(10, TimeUnit.SECONDS));
        assertEquals(1, p1.requests.get());
        nothingIsBooked();
    }

    @Test
    void what_is_expected_to_take_long_is_not_late() throws Exception {
        again(late(LATE));
        gateway.router.cost = 10_000;
        CompletableFuture<Void> late = whenLate();
        p0.script(
                call -> {
                    late.get(10, TimeUnit.SECONDS);
                    prefill(call);
                });
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(0, p1.requests.get());
        nothingIsBooked();
    }

    @Test
    void one_that_is_late_is_waited_for_where_nobody_else_is() throws Exception {
        again(late(LATE));
        gateway.fleet.workers(
                List.of(worker(0, d0, Role.DECODE, 1), worker(2, p0, Role.PREFILL, 2)));
        CompletableFuture<Void> late = whenLate();
        p0.script(
                call -> {
                    late.get(10, TimeUnit.SECONDS);
                    prefill(call);
                });
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, p0.requests.get());
        nothingIsBooked();
    }

    @Test
    void a_stream_whose_second_prefill_fails_goes_on_by_a_third_one() throws Exception {
        behind(
                new Gateway(
                        path,
                        Gateway.upstream(
                                Duration.ofSeconds(2),
                                Duration.ofSeconds(4),
                                Duration.ofSeconds(4)),
                        MigrationOptions.DEFAULTS));
        AtomicBoolean first = new AtomicBoolean(true);
        p0.script(
                call -> {
                    if (first.getAndSet(false)) {
                        prefill(call);
                    } else {
                        call.json(500, "{}");
                    }
                });
        d0.script(
                call -> {
                    Room room = room(call);
                    room.computed.get(10, TimeUnit.SECONDS);
                    room.taken.complete(null);
                    call.streamHead();
                    call.chunk(ROLE);
                    call.chunk(token("very "));
                    call.close();
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertFalse(answer.broken(), answer::body);
        assertEquals(ROLE + token("very ") + token("good") + DONE, answer.body());
        assertEquals(1, p1.requests.get());
        nothingIsBooked();
    }

    @Test
    void while_all_that_prefill_are_busy_nobody_else_comes_in() throws Exception {
        gateway.fleet.workers(
                List.of(
                        worker(0, d0, Role.DECODE, 1),
                        worker(2, p0, Role.PREFILL, 1),
                        worker(3, p1, Role.PREFILL, 1)));
        whileAllPrefill(
                this::prefill,
                () -> {
                    RawClient.Answer third = gateway.post(Gateway.ASK);
                    assertEquals(529, third.status(), third::body);
                    assertTrue(third.body().contains("are busy"), third.body());
                });
        assertEquals(1, gateway.counter("warmpath.overload.rejections", "cause", "busy"));
    }

    @Test
    void a_full_queue_on_either_side_is_no_failure_and_another_one_is_asked() throws Exception {
        p0.script(call -> call.json(503, QUEUE_FULL));
        d0.script(call -> call.json(503, QUEUE_FULL));
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(List.of(), gateway.fleet.failed);
        assertEquals(Set.of(0L, 2L), gateway.fleet.full.keySet());
        nothingIsBooked();
    }

    @Test
    void while_all_that_prefill_are_full_the_client_is_told_when_to_come_back() throws Exception {
        p0.script(call -> call.json(503, QUEUE_FULL));
        p1.script(call -> call.json(503, QUEUE_FULL));
        d0.script(StubEngine.Call::awaitGone);
        d1.script(StubEngine.Call::awaitGone);
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status(), answer::body);
        assertEquals("1", answer.header("retry-after"));
        assertEquals(List.of(), gateway.fleet.failed);
        assertEquals(Set.of(2L, 3L), gateway.fleet.full.keySet());
        nothingIsBooked();
    }
}
