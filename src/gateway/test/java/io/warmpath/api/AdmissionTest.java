package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.restassured.RestAssured;
import io.restassured.response.Response;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.admission.Policies;
import io.warmpath.admission.PolicyClass;
import io.warmpath.admission.QueuePolicy;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Circumstances;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import io.warmpath.upstream.UpstreamOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Waiting and being refused, through a gateway and an engine that answers when the test says so.
 */
@ExtendWith(Leaks.class)
class AdmissionTest {
    private static final String RESERVATIONS = "/router/reservations";

    private final Semaphore firstTokens = new Semaphore(0);
    private Gateway gateway;
    private StubEngine engine;

    /** Any prefill on the only rank makes requests wait; at most {@code limit} of them. */
    private static AdmissionOptions queue(long limit) {
        return queue(limit, Duration.ofSeconds(10));
    }

    private static AdmissionOptions queue(long limit, Duration refresh) {
        PolicyClass c =
                new PolicyClass(
                        "all",
                        "all",
                        "",
                        QueuePolicy.FCFS,
                        1000,
                        new PolicyClass.Threshold(0, false),
                        limit,
                        PolicyClass.NO_LIMIT,
                        PolicyClass.NO_LIMIT);
        return new AdmissionOptions(
                new Policies("all", List.of(), List.of(c)),
                Map.of(),
                BusyThresholds.NONE,
                8192,
                refresh,
                529);
    }

    private void start(AdmissionOptions options) throws Exception {
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        Runnable::run,
                        options);
        gateway.tokens.ids = new int[100]; // more than the cached 48
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            if (firstTokens.tryAcquire(20, TimeUnit.SECONDS)) {
                                call.chunk(token("a"));
                                call.chunk(DONE);
                                call.lastChunk();
                            }
                        });
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        firstTokens.release(100);
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(0, gateway.admission.waiting());
        assertEquals(0, queued());
        assertEquals(0, gateway.meters.get("warmpath.requests.active").gauge().value());
        gateway.close();
        engine.close();
    }

    private double queued() {
        return gateway.meters.get("warmpath.queue.requests").gauge().value();
    }

    private RawClient ask() throws Exception {
        RawClient client = new RawClient(gateway.port);
        client.sendPost(Gateway.CHAT, Gateway.ASK);
        return client;
    }

    private RawClient askInOnePiece() throws Exception {
        RawClient client = new RawClient(gateway.port);
        client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
        return client;
    }

    /** Two in one piece at an engine that holds its answers; {@code computed} before either. */
    private void secondIsSentWhen(Runnable computed) throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        gateway.events = rank -> EventTrust.believed(EventView.EXACT);
        gateway.router.prefillNanos = TimeUnit.MILLISECONDS.toNanos(400);
        try (RawClient first = askInOnePiece();
                RawClient second = askInOnePiece()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            await().untilAsserted(() -> assertEquals(1, queued()));
            await().pollDelay(Duration.ofMillis(200))
                    .untilAsserted(() -> assertEquals(1, queued()));
            computed.run();
            await().untilAsserted(() -> assertEquals(2, gateway.books.booked.get()));
            WorkerSlot rank = new WorkerSlot(0);
            await().untilAsserted(() -> assertEquals(0, gateway.books.load(rank).prefillTokens()));
            firstTokens.release(2);
            first.readAnswer();
            second.readAnswer();
        }
    }

    @Test
    void an_answer_in_one_piece_makes_room_when_its_prompt_should_be_computed() throws Exception {
        secondIsSentWhen(() -> gateway.router.prefillNanos = 0);
    }

    @Test
    void or_when_the_engines_events_show_its_blocks() throws Exception {
        secondIsSentWhen(() -> gateway.index.held = 6);
    }

    @Test
    void a_request_waits_until_the_first_token_of_the_one_before() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            try (RawClient second = ask();
                    RawClient third = ask()) {
                await().untilAsserted(() -> assertEquals(2, queued()));
                assertEquals(1, gateway.books.booked.get());
                firstTokens.release();
                assertEquals(200, first.readAnswer().status());
                await().untilAsserted(() -> assertEquals(2, gateway.books.booked.get()));
                assertEquals(1, queued());
                firstTokens.release(2);
                assertEquals(200, second.readAnswer().status());
                assertEquals(200, third.readAnswer().status());
            }
        }
        assertEquals(2, gateway.meters.get("warmpath.queue.wait").timer().count());
    }

    @Test
    void a_decision_tells_how_long_its_request_has_waited() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        gateway.events = rank -> new EventTrust(EventView.GAP, 1);
        String explain = "x-warmpath-explain: 1";
        try (RawClient first = new RawClient(gateway.port);
                RawClient second = new RawClient(gateway.port)) {
            first.sendPost(Gateway.CHAT, Gateway.ASK, explain);
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            second.sendPost(Gateway.CHAT, Gateway.ASK, explain);
            await().untilAsserted(() -> assertEquals(1, queued()));
            firstTokens.release(2);
            assertNull(first.readAnswer().header("x-warmpath-queued-ms"));
            RawClient.Answer waited = second.readAnswer();
            assertTrue(Double.parseDouble(waited.header("x-warmpath-queued-ms")) > 0);
            assertEquals("gap", waited.header("x-warmpath-events"));
        }
        List<Circumstances> told =
                gateway.router.requests.stream().map(RoutingRequest::circumstances).toList();
        assertEquals(0, told.get(0).queuedNanos());
        assertEquals(
                gateway.meters.get("warmpath.queue.wait").timer().totalTime(TimeUnit.NANOSECONDS),
                (double) told.get(1).queuedNanos(),
                1);
        assertEquals(List.of(EventTrust.believed(EventView.GAP)), told.get(1).events());
    }

    /** w0 is set apart and idle, w1 has a prefill. */
    private RawClient withOneSetApartAndOnePrefilling() throws Exception {
        gateway.router.instead =
                Routers.create(
                        RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS),
                        gateway.books,
                        () -> new Random(7));
        gateway.fleet.workers(
                List.of(
                        Gateway.tainted(0, engine.url(), "dedicated=batch:NoSchedule"),
                        Gateway.tainted(1, engine.url())));
        RawClient first = ask();
        await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
        assertEquals(1, gateway.books.sums.load(new WorkerSlot(10)).requests());
        return first;
    }

    private static final String TOLERATES = "x-warmpath-tolerations: dedicated";

    @Test
    void a_request_waits_while_the_only_free_worker_is_set_apart_from_it() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        try (RawClient first = withOneSetApartAndOnePrefilling();
                RawClient waits = ask()) {
            await().untilAsserted(() -> assertEquals(1, queued()));
            assertEquals(WorkerLoad.IDLE, gateway.books.sums.load(new WorkerSlot(0)));
            firstTokens.release(2);
            assertEquals(200, first.readAnswer().status());
            assertEquals(200, waits.readAnswer().status());
        }
        assertEquals(Set.of(new WorkerSlot(10)), gateway.books.slots);
        try (RawClient first = ask();
                RawClient tolerates = new RawClient(gateway.port)) {
            await().untilAsserted(() -> assertEquals(3, gateway.books.booked.get()));
            tolerates.sendPost(Gateway.CHAT, Gateway.ASK, TOLERATES);
            await().untilAsserted(() -> assertEquals(4, gateway.books.booked.get()));
            assertEquals(1, gateway.books.sums.load(new WorkerSlot(0)).requests());
            firstTokens.release(2);
            assertEquals(200, first.readAnswer().status());
            assertEquals(200, tolerates.readAnswer().status());
        }
    }

    @Test
    void a_request_is_refused_while_all_but_those_set_apart_from_it_are_busy() throws Exception {
        start(AdmissionOptions.OFF);
        try (RawClient first = withOneSetApartAndOnePrefilling()) {
            threshold("{\"model\":\"m\",\"active_prefill_tokens_threshold\":10}");
            RawClient.Answer refused = gateway.post(Gateway.ASK);
            assertEquals(529, refused.status());
            assertTrue(refused.body().contains("are busy"), refused.body());
            firstTokens.release(2);
            assertEquals(200, gateway.post(Gateway.ASK, TOLERATES).status());
            assertEquals(200, first.readAnswer().status());
        }
    }

    @Test
    void who_waited_long_enough_asks_the_index_again() throws Exception {
        assertEquals(3, lookUps(Duration.ofNanos(1)));
        stop();
        assertEquals(2, lookUps(Duration.ofHours(1)));
        stop();
        assertEquals(2, lookUps(Duration.ZERO));
    }

    /** Of two requests, the second of which has to wait. */
    private int lookUps(Duration refresh) throws Exception {
        firstTokens.drainPermits();
        start(queue(PolicyClass.NO_LIMIT, refresh));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            try (RawClient second = ask()) {
                await().untilAsserted(() -> assertEquals(1, queued()));
                firstTokens.release(2);
                assertEquals(200, first.readAnswer().status());
                assertEquals(200, second.readAnswer().status());
            }
        }
        return gateway.index.queries.size();
    }

    @Test
    void a_client_that_leaves_while_it_waits_leaves_the_queue() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            try (RawClient leaves = ask()) {
                await().untilAsserted(() -> assertEquals(1, queued()));
                leaves.reset();
            }
            await().untilAsserted(() -> assertEquals(0, queued()));
            assertEquals(0, gateway.admission.waiting());
            assertEquals(1, gateway.counter("warmpath.requests", "outcome", "cancelled"));
            try (RawClient third = ask()) {
                await().untilAsserted(() -> assertEquals(1, queued()));
                firstTokens.release(2);
                assertEquals(200, first.readAnswer().status());
                assertEquals(200, third.readAnswer().status());
            }
        }
        assertEquals(2, gateway.books.booked.get());
    }

    @Test
    void a_full_queue_is_a_529_that_says_when_to_come_back() throws Exception {
        start(queue(1));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            try (RawClient second = ask()) {
                await().untilAsserted(() -> assertEquals(1, queued()));
                RawClient.Answer refused = gateway.post(Gateway.ASK);
                assertEquals(529, refused.status());
                assertEquals("1", refused.header("retry-after"));
                assertTrue(refused.body().contains("\"overloaded_error\""), refused.body());
                assertTrue(refused.body().contains("queue of `m`"), refused.body());
                firstTokens.release(2);
                assertEquals(200, first.readAnswer().status());
                assertEquals(200, second.readAnswer().status());
            }
        }
        assertEquals(1, gateway.counter("warmpath.overload.rejections", "cause", "queue_full"));
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "overloaded"));
    }

    private static String reservation(String id, String more) {
        return "{\"model\":\"m\",\"token_ids\":[1,2,3],\"reservation_id\":\""
                + id
                + "\""
                + more
                + "}";
    }

    private RawClient reserve(String id) throws Exception {
        RawClient client = new RawClient(gateway.port);
        client.sendPost(RESERVATIONS, reservation(id, ""));
        return client;
    }

    private int release(String id) {
        return RestAssured.delete("http://127.0.0.1:" + gateway.port + RESERVATIONS + "/" + id)
                .statusCode();
    }

    @Test
    void a_reservation_waits_like_a_request() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            try (RawClient waits = reserve("r1")) {
                await().untilAsserted(() -> assertEquals(1, queued()));
                assertEquals(1, gateway.books.booked.get());
                firstTokens.release();
                assertEquals(200, first.readAnswer().status());
                assertEquals(201, waits.readAnswer().status());
            }
        }
        assertEquals(2, gateway.books.booked.get());
        assertEquals(1, gateway.meters.get("warmpath.queue.wait").timer().count());
        assertEquals(204, release("r1"));
    }

    @Test
    void whoever_waits_for_a_reservation_starts_when_its_prefill_or_itself_ends() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        assertEquals(201, post(RESERVATIONS, reservation("r1", "")).status());
        try (RawClient second = reserve("r2")) {
            await().untilAsserted(() -> assertEquals(1, queued()));
            RestAssured.post(
                            "http://127.0.0.1:"
                                    + gateway.port
                                    + RESERVATIONS
                                    + "/r1/prefill_complete")
                    .then()
                    .statusCode(204);
            assertEquals(201, second.readAnswer().status());
        }
        try (RawClient third = reserve("r3")) {
            await().untilAsserted(() -> assertEquals(1, queued()));
            assertEquals(204, release("r2"));
            assertEquals(201, third.readAnswer().status());
        }
        assertEquals(204, release("r1"));
        assertEquals(204, release("r3"));
    }

    @Test
    void whoever_waits_for_a_forgotten_reservation_starts_when_it_expires() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        assertEquals(201, post(RESERVATIONS, reservation("r1", ",\"ttl_seconds\":0.2")).status());
        assertEquals(201, post(RESERVATIONS, reservation("r2", "")).status());
        assertEquals(204, release("r2"));
    }

    @Test
    void a_caller_that_leaves_while_its_reservation_waits_leaves_the_queue() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            try (RawClient leaves = reserve("r1")) {
                await().untilAsserted(() -> assertEquals(1, queued()));
                leaves.reset();
            }
            await().untilAsserted(() -> assertEquals(0, queued()));
            assertEquals(0, gateway.admission.waiting());
            firstTokens.release();
            assertEquals(200, first.readAnswer().status());
        }
        assertEquals(1, gateway.books.booked.get());
        assertEquals(404, release("r1"));
    }

    @Test
    void a_reservation_that_will_not_wait_is_refused_when_it_would_have_to() throws Exception {
        start(queue(PolicyClass.NO_LIMIT));
        String ask = reservation("r1", ",\"wait\":false");
        assertEquals(201, post(RESERVATIONS, ask).status());
        RawClient.Answer refused = post(RESERVATIONS, reservation("r2", ",\"wait\":false"));
        assertEquals(529, refused.status());
        assertEquals("1", refused.header("retry-after"));
        assertTrue(refused.body().contains("`wait` forbids"), refused.body());
        assertEquals(1, gateway.books.booked.get());
        assertEquals(1, gateway.counter("warmpath.overload.rejections", "cause", "no_wait"));
        assertEquals(204, release("r1"));
        assertEquals(201, post(RESERVATIONS, ask).status());
        assertEquals(204, release("r1"));
    }

    @Test
    void a_reservation_is_refused_by_a_full_queue_and_a_busy_fleet() throws Exception {
        start(queue(1));
        assertEquals(201, post(RESERVATIONS, reservation("r1", "")).status());
        try (RawClient second = reserve("r2")) {
            await().untilAsserted(() -> assertEquals(1, queued()));
            RawClient.Answer full = post(RESERVATIONS, reservation("r3", ""));
            assertEquals(529, full.status());
            assertEquals("1", full.header("retry-after"));
            threshold("{\"model\":\"m\",\"active_prefill_tokens_threshold\":10}");
            RawClient.Answer busy = post(RESERVATIONS, reservation("r3", ""));
            assertEquals(529, busy.status());
            assertTrue(busy.body().contains("are busy"), busy.body());
            // Where would it go? Nowhere, now. How loaded are they? That is told.
            String question = "{\"model\":\"m\",\"token_ids\":[1,2,3]}";
            assertEquals(529, post("/router/best_worker", question).status());
            assertEquals(1, gateway.counter("warmpath.overload.rejections", "cause", "busy"));
            assertEquals(204, release("r1"));
            assertEquals(201, second.readAnswer().status());
        }
        assertEquals(204, release("r2"));
    }

    @Test
    void the_status_of_an_overload_is_a_matter_of_taste() throws Exception {
        AdmissionOptions o = queue(0);
        start(
                new AdmissionOptions(
                        o.policies(),
                        o.perModel(),
                        o.busy(),
                        o.batchedTokens(),
                        o.overlapRefresh(),
                        503));
        assertEquals(201, post(RESERVATIONS, reservation("r1", "")).status());
        RawClient.Answer refused = gateway.post(Gateway.ASK);
        assertEquals(503, refused.status());
        assertEquals("1", refused.header("retry-after"));
        assertEquals(503, post(RESERVATIONS, reservation("r2", "")).status());
        assertEquals(204, release("r1"));
    }

    private RawClient.Answer post(String path, String json) throws Exception {
        return RawClient.post(gateway.port, path, json);
    }

    @Test
    void a_busy_fleet_is_a_529_and_the_threshold_changes_while_running() throws Exception {
        start(AdmissionOptions.OFF);
        assertEquals(
                200,
                threshold("{\"model\":\"m\",\"active_prefill_tokens_threshold\":10}").statusCode());
        Response now = RestAssured.get("http://127.0.0.1:" + gateway.port + "/busy_threshold");
        assertEquals("m", now.path("thresholds[0].model"));
        assertEquals((Integer) 10, now.path("thresholds[0].active_prefill_tokens_threshold"));
        try (RawClient first = ask()) {
            await().untilAsserted(() -> assertEquals(1, gateway.books.booked.get()));
            RawClient.Answer refused = gateway.post(Gateway.ASK);
            assertEquals(529, refused.status());
            assertTrue(refused.body().contains("are busy"), refused.body());
            threshold("{\"model\":\"m\",\"active_prefill_tokens_threshold\":null}");
            firstTokens.release(2);
            assertEquals(200, gateway.post(Gateway.ASK).status());
            assertEquals(200, first.readAnswer().status());
        }
        assertEquals(1, gateway.counter("warmpath.overload.rejections", "cause", "busy"));
    }

    @Test
    void wrong_thresholds_are_refused_by_name() throws Exception {
        start(AdmissionOptions.OFF);
        assertEquals(404, threshold("{\"model\":\"x\"}").statusCode());
        assertEquals(400, threshold("[]").statusCode());
        Response wrong = threshold("{\"model\":\"m\",\"busy\":1}");
        assertEquals(400, wrong.statusCode());
        assertEquals("busy", wrong.path("error.param"));
        assertEquals(
                400,
                threshold("{\"model\":\"m\",\"active_decode_blocks_threshold\":1.5}").statusCode());
        assertEquals(
                400,
                threshold("{\"model\":\"m\",\"active_prefill_tokens_threshold\":0.5}")
                        .statusCode());
    }

    private Response threshold(String json) {
        return RestAssured.given()
                .contentType("application/json")
                .body(json)
                .post("http://127.0.0.1:" + gateway.port + "/busy_threshold");
    }
}
