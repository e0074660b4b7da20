package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServer;
import io.warmpath.api.extproc.BodyMode;
import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.api.extproc.ProcessingRequest.Modes;
import io.warmpath.api.extproc.ProxyMessages;
import io.warmpath.api.picker.PickerMeters;
import io.warmpath.api.picker.PickerOptions;
import io.warmpath.api.picker.PickerServer;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The picker over gRPC, as a proxy asks it; a real proxy does so in src/test/picker. */
@ExtendWith(Leaks.class)
class PickerTest {
    private static final String DESTINATION = "x-gateway-destination-endpoint";
    private static final byte[] EVENT =
            ascii("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n");
    private static final byte[] DONE = ascii("data: [DONE]\n\n");
    private static final int MOST_BODY = 1 << 20;
    private static final int FALLBACKS = 1;

    private Gateway gateway;
    private HttpServer server;
    private HttpClient client;
    private int port;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        gateway.fleet.workers(List.of(worker(0), worker(1), worker(2)));
        PickerServer picker =
                gateway.inference.picker(
                        new PickerMeters(gateway.meters),
                        new PickerOptions(
                                62_000,
                                16 << 20,
                                MOST_BODY,
                                FALLBACKS,
                                true,
                                1000,
                                Duration.ofSeconds(20),
                                Duration.ofSeconds(3)),
                        engines -> engines,
                        () -> gateway.warm ? "" : "warming up");
        server =
                gateway.vertx
                        .createHttpServer(PickerServer.options())
                        .requestHandler(picker)
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
        port = server.actualPort();
        client = ProxyCall.client(gateway.vertx);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private static Worker worker(int id) {
        return Gateway.worker(
                id, URI.create("http://" + endpoint(id)), EngineKind.VLLM, WorkerState.READY, 1);
    }

    private static String endpoint(int id) {
        return "127.0.0." + (11 + id) + ":8000";
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String text(byte[] ascii) {
        return new String(ascii, StandardCharsets.US_ASCII);
    }

    private static byte[] head(Modes modes, List<String> subset, String path, String... more) {
        String[] usual = {
            ":method",
            "POST",
            ":path",
            path,
            ":authority",
            "pool",
            "content-type",
            "application/json"
        };
        String[] all = Arrays.copyOf(usual, usual.length + more.length);
        System.arraycopy(more, 0, all, usual.length, more.length);
        return ProxyMessages.head(Kind.REQUEST_HEADERS, false, modes, subset, null, all);
    }

    private static byte[] chat(String... more) {
        return head(Modes.DUPLEX, null, Gateway.CHAT, more);
    }

    private static byte[] part(String bytes, boolean end) {
        return ProxyMessages.body(Kind.REQUEST_BODY, ascii(bytes), end);
    }

    private static byte[] answerHead(String status, String type, String served) {
        return ProxyMessages.head(
                Kind.RESPONSE_HEADERS,
                false,
                null,
                null,
                served,
                ":status",
                status,
                "content-type",
                type);
    }

    private ProxyCall call() throws Exception {
        return ProxyCall.process(client, port);
    }

    private static List<String> destinations(ProxyMessages.Answer answer) {
        assertEquals(Kind.REQUEST_HEADERS, answer.kind());
        assertNotNull(answer.destination());
        assertEquals(answer.destination(), answer.set().get(DESTINATION));
        assertTrue(answer.clearsRoute());
        return List.of(answer.destination().split(","));
    }

    private static String routed(ProxyMessages.Answer answer) {
        return destinations(answer).getFirst();
    }

    private static void piece(ProxyMessages.Answer answer, Kind kind, String bytes, boolean end) {
        assertEquals(kind, answer.kind());
        assertTrue(answer.streamed());
        assertArrayEquals(ascii(bytes), answer.body());
        assertEquals(end, answer.end());
    }

    private void nothingIsBooked() {
        await().until(() -> gateway.books.open.get() == 0);
        assertEquals(0, gateway.books.closedTwice.get());
        await().until(() -> gateway.meters.get("warmpath.picker.streams").gauge().value() == 0);
    }

    private int booked(int worker) {
        return gateway.books.load(worker(worker).ranks().getFirst().slot()).requests();
    }

    private double count(String counter) {
        return gateway.meters.get(counter).counter().count();
    }

    private double requests(String outcome) {
        return gateway.counter("warmpath.picker.requests", "outcome", outcome);
    }

    @Test
    void a_stream_is_picked_followed_and_closed() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            assertEquals(endpoint(0), routed(call.answer()));
            piece(call.answer(), Kind.REQUEST_BODY, Gateway.ASK, true);
            assertEquals(1, gateway.books.open.get());
            assertEquals(0, gateway.books.firstTokens.get());

            call.send(answerHead("200", "text/event-stream", endpoint(0)));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, EVENT, false));
            piece(call.answer(), Kind.RESPONSE_BODY, text(EVENT), false);
            await().until(() -> gateway.books.firstTokens.get() == 1);
            assertEquals(1, gateway.books.open.get());

            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, DONE, true));
            piece(call.answer(), Kind.RESPONSE_BODY, text(DONE), true);
            await().until(() -> gateway.books.open.get() == 0);
            call.reset(); // as a proxy does when a request is over: no client has left
        }
        nothingIsBooked();
        assertEquals(1, requests("picked"));
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "ok"));
        assertEquals(0, gateway.counter("warmpath.requests", "outcome", "cancelled"));
        assertEquals(0, count("warmpath.picker.served.elsewhere"));
    }

    @Test
    void who_computes_the_prompt_is_named_for_what_stands_before_the_engine() throws Exception {
        gateway.fleet.workers(
                List.of(of(0, Role.DECODE), of(1, Role.PREFILL), of(2, Role.PREFILL)));
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            ProxyMessages.Answer picked = call.answer();
            assertEquals(endpoint(0), routed(picked));
            assertEquals(endpoint(1), picked.set().get("x-prefiller-host-port"));
            piece(call.answer(), Kind.REQUEST_BODY, Gateway.ASK, true);
            assertEquals(2, gateway.books.open.get());
            assertEquals(1, booked(1));

            call.send(answerHead("200", "text/event-stream", endpoint(0)));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, EVENT, false));
            piece(call.answer(), Kind.RESPONSE_BODY, text(EVENT), false);
            await().until(() -> gateway.books.open.get() == 1);
            assertEquals(0, booked(1), "the prompt is computed");
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, DONE, true));
            piece(call.answer(), Kind.RESPONSE_BODY, text(DONE), true);
        }
        nothingIsBooked();
        // One that the proxy does not allow prefills nothing.
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, List.of(endpoint(0), endpoint(2)), Gateway.CHAT))
                    .send(part(Gateway.ASK, true));
            assertEquals(endpoint(2), call.answer().set().get("x-prefiller-host-port"));
        }
        nothingIsBooked();
    }

    private static Worker of(int id, Role role) {
        return worker(id).toBuilder()
                .disaggregation(new Disaggregation(role, role == Role.PREFILL, 0, ""))
                .build();
    }

    @Test
    void a_body_comes_back_as_it_came_in_pieces_of_their_size() throws Exception {
        String text = "x".repeat(200_000);
        String body = Gateway.ASK.replace("hi", text);
        try (ProxyCall call = call()) {
            call.send(chat());
            for (int at = 0; at < body.length(); at += 16_384) {
                int end = Math.min(body.length(), at + 16_384);
                call.send(part(body.substring(at, end), end == body.length()));
            }
            routed(call.answer());
            StringBuilder back = new StringBuilder();
            boolean end = false;
            while (!end) {
                ProxyMessages.Answer piece = call.answer();
                assertTrue(piece.body().length <= 62_000);
                back.append(new String(piece.body(), StandardCharsets.US_ASCII));
                end = piece.end();
            }
            assertEquals(body, back.toString());
        }
        nothingIsBooked();
    }

    @Test
    void trailers_end_a_body_and_are_answered_behind_it() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, false));
            call.send(ProxyMessages.trailers(Kind.REQUEST_TRAILERS));
            routed(call.answer());
            piece(call.answer(), Kind.REQUEST_BODY, Gateway.ASK, false);
            assertEquals(Kind.REQUEST_TRAILERS, call.answer().kind());
        }
        nothingIsBooked();
    }

    @Test
    void a_last_chunk_that_is_repeated_is_left_alone() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            routed(call.answer());
            piece(call.answer(), Kind.REQUEST_BODY, Gateway.ASK, true);
            call.send(part(Gateway.ASK, true));
            call.send(answerHead("200", "application/json", null));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
        }
        assertEquals(1, count("warmpath.picker.repeated.bodies"));
        nothingIsBooked();
    }

    @Test
    void a_buffered_body_is_picked_by_its_own_answer() throws Exception {
        Modes modes = new Modes(BodyMode.BUFFERED, BodyMode.STREAMED);
        try (ProxyCall call = call()) {
            call.send(head(modes, null, Gateway.CHAT));
            ProxyMessages.Answer first = call.answer();
            assertEquals(Kind.REQUEST_HEADERS, first.kind());
            assertNull(first.destination());
            call.send(part(Gateway.ASK, true));
            ProxyMessages.Answer picked = call.answer();
            assertEquals(Kind.REQUEST_BODY, picked.kind());
            assertTrue(picked.destination().startsWith(endpoint(0) + ","));
            assertEquals(picked.destination(), picked.set().get(DESTINATION));
            assertNull(picked.body());
            call.send(answerHead("200", "text/event-stream", null));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, EVENT, false));
            ProxyMessages.Answer echo = call.answer();
            assertEquals(Kind.RESPONSE_BODY, echo.kind());
            assertNull(echo.body());
            await().until(() -> gateway.books.firstTokens.get() == 1);
        }
        nothingIsBooked();
        assertEquals(1, requests("picked"));
    }

    @ParameterizedTest
    @EnumSource(names = {"NONE", "STREAMED"})
    void without_a_body_load_decides(BodyMode mode) throws Exception {
        try (ProxyCall call = call()) {
            call.send(head(new Modes(mode, BodyMode.NONE), null, Gateway.CHAT));
            routed(call.answer());
            if (mode == BodyMode.STREAMED) {
                call.send(part(Gateway.ASK, true));
                ProxyMessages.Answer body = call.answer();
                assertEquals(Kind.REQUEST_BODY, body.kind());
                assertNull(body.body());
            }
            assertEquals(1, gateway.books.open.get());
            call.send(answerHead("200", "text/event-stream", null));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
            // With its answer's body in mode NONE a proxy ends the stream here.
            assertEquals(0, call.ends());
        }
        nothingIsBooked();
        assertEquals(1, requests("by_load"));
        assertEquals(0, gateway.counter("warmpath.requests", "outcome", "cancelled"));
    }

    @Test
    void a_request_without_a_body_is_answered_at_once() throws Exception {
        try (ProxyCall call = call()) {
            call.send(
                    ProxyMessages.head(
                            Kind.REQUEST_HEADERS,
                            true,
                            Modes.DUPLEX,
                            null,
                            null,
                            ":method",
                            "GET",
                            ":path",
                            "/v1/models"));
            routed(call.answer());
            assertTrue(call.isSilent());
        }
        nothingIsBooked();
    }

    @Test
    void what_asks_for_nothing_or_for_another_model_is_the_engines_to_judge() throws Exception {
        String other = Gateway.ASK.replace("\"m\"", "\"nobody's\"");
        for (String body : List.of("{}", other, "")) {
            try (ProxyCall call = call()) {
                call.send(chat()).send(part(body, true));
                routed(call.answer());
                piece(call.answer(), Kind.REQUEST_BODY, body, true);
            }
        }
        nothingIsBooked();
        assertEquals(3, requests("by_load"));
        assertEquals(0, requests("refused"));
    }

    /** It may hold what engines do not take from clients, which is refused as well. */
    @Test
    void what_cannot_be_read_is_refused() throws Exception {
        String handOff = Gateway.ASK.replace("{\"model\"", "{\"bootstrap_host\":\"a\",\"model\"");
        for (String body : List.of("{\"model\": ", handOff, "{\"bootstrap_host\":\"a\"}")) {
            try (ProxyCall call = call()) {
                call.send(chat()).send(part(body, true));
                assertEquals(400, call.answer().status(), body);
            }
        }
        try (ProxyCall call = call()) {
            call.send(chat("x-prefiller-host-port", "1.2.3.4:5")).send(part(Gateway.ASK, true));
            assertEquals(400, call.answer().status());
        }
        nothingIsBooked();
        assertEquals(4, requests("refused"));
    }

    @Test
    void other_paths_pass_chunk_by_chunk() throws Exception {
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, null, "/upload?x=1"));
            routed(call.answer());
            call.send(part("one", false));
            piece(call.answer(), Kind.REQUEST_BODY, "one", false);
            call.send(part("two", true));
            piece(call.answer(), Kind.REQUEST_BODY, "two", true);
        }
        nothingIsBooked();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/chat/complet%69ons",
                "//v1//chat/completions",
                "/v1/x/../chat/completions",
                "/v1/./chat%2Fcompletions",
                "/v1/chat/%zz"
            })
    void inference_by_another_spelling_is_refused(String path) throws Exception {
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, null, path)).send(part(Gateway.ASK, true));
            assertEquals(400, call.answer().status());
        }
        nothingIsBooked();
    }

    @Test
    void another_path_may_be_encoded() throws Exception {
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, null, "/v1/models/org%2Fname"));
            call.send(part("{}", true));
            routed(call.answer());
        }
        nothingIsBooked();
    }

    @Test
    void a_subset_narrows_the_choice_and_one_without_workers_is_503() throws Exception {
        for (List<String> subset :
                List.of(
                        List.of(endpoint(2)),
                        List.of(endpoint(2) + ", 10.9.9.9:1"),
                        List.of("127.0.0.13"))) {
            try (ProxyCall call = call()) {
                call.send(head(Modes.DUPLEX, subset, Gateway.CHAT)).send(part(Gateway.ASK, true));
                assertEquals(endpoint(2), routed(call.answer()));
            }
        }
        for (List<String> nobody : List.of(List.of("10.9.9.9:1"), List.<String>of())) {
            try (ProxyCall call = call()) {
                call.send(head(Modes.DUPLEX, nobody, Gateway.CHAT));
                ProxyMessages.Answer refusal = call.answer();
                assertNull(refusal.kind());
                assertEquals(503, refusal.status());
                assertEquals("3", refusal.set().get("retry-after"));
                assertTrue(text(refusal.body()).contains("none of the endpoints"));
            }
        }
        nothingIsBooked();
        assertEquals(2, requests("refused"));
    }

    @Test
    void a_test_names_its_endpoint() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat("test-epp-endpoint-selection", endpoint(1)));
            call.send(part(Gateway.ASK, true));
            assertEquals(endpoint(1), routed(call.answer()));
        }
    }

    @Test
    void nobody_there_is_503_and_too_large_is_413() throws Exception {
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(
                                0,
                                URI.create("http://127.0.0.11:8000"),
                                EngineKind.VLLM,
                                WorkerState.DRAINING,
                                1)));
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            assertEquals(503, call.answer().status());
        }
        gateway.fleet.workers(List.of(worker(0)));
        try (ProxyCall call = call()) {
            call.send(chat()).send(part("x".repeat(MOST_BODY + 1), false));
            ProxyMessages.Answer refusal = call.answer();
            assertEquals(413, refusal.status());
            assertTrue(text(refusal.body()).contains("\"error\""));
        }
        nothingIsBooked();
    }

    @Test
    void endpoints_that_say_nothing_of_themselves_are_picked_in_turn() throws Exception {
        Worker encodes =
                silent(3).toBuilder()
                        .disaggregation(new Disaggregation(Role.ENCODE, false, 0, ""))
                        .build();
        gateway.fleet.workers(List.of(silent(0), silent(1), encodes, silent(2)));
        Set<String> picked = new HashSet<>();
        List<ProxyCall> open = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ProxyCall call = call();
            open.add(call);
            call.send(chat()).send(part(i == 0 ? "{}" : Gateway.ASK, true));
            picked.add(routed(call.answer()));
            piece(call.answer(), Kind.REQUEST_BODY, i == 0 ? "{}" : Gateway.ASK, true);
        }
        assertEquals(Set.of(endpoint(0), endpoint(1), endpoint(2)), picked);
        for (ProxyCall call : open) {
            call.send(answerHead("200", "application/json", null));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, ascii("{}"), true));
            piece(call.answer(), Kind.RESPONSE_BODY, "{}", true);
            call.close();
        }
        nothingIsBooked();
        assertEquals(3, requests("unlearnt"));
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, List.of(endpoint(1)), Gateway.CHAT));
            call.send(part(Gateway.ASK, true));
            assertEquals(endpoint(1), routed(call.answer()));
        }
        gateway.fleet.workers(List.of(silent(0), worker(1)));
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            assertEquals(endpoint(1), routed(call.answer()), "an engine is there");
        }
    }

    private static Worker silent(int id) {
        return worker(id).toBuilder().models(Set.of()).state(WorkerState.STARTING).build();
    }

    @Test
    void a_client_that_leaves_frees_its_booking_at_every_stage() throws Exception {
        for (int stage = 0; stage < 4; stage++) {
            try (ProxyCall call = call()) {
                call.send(chat());
                if (stage > 0) {
                    call.send(part(Gateway.ASK, true));
                    routed(call.answer());
                    call.answer();
                }
                if (stage > 1) {
                    call.send(answerHead("200", "text/event-stream", endpoint(0)));
                    call.answer();
                }
                if (stage > 2) {
                    call.send(ProxyMessages.body(Kind.RESPONSE_BODY, EVENT, false));
                    call.answer();
                }
                call.reset();
            }
            nothingIsBooked();
        }
        assertTrue(gateway.fleet.failures.isEmpty(), "no worker is to blame");
    }

    @Test
    void an_answer_of_the_proxys_own_blames_no_worker() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            routed(call.answer());
            call.answer();
            call.send(answerHead("503", "text/plain", null));
            assertEquals(Kind.RESPONSE_HEADERS, call.answer().kind());
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, ascii("no upstream"), true));
            piece(call.answer(), Kind.RESPONSE_BODY, "no upstream", true);
        }
        nothingIsBooked();
        assertTrue(gateway.fleet.failures.isEmpty());
    }

    @Test
    void the_next_best_are_named_for_the_proxys_retries() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            List<String> named = destinations(call.answer());
            assertEquals(1 + FALLBACKS, named.size(), named.toString());
            assertEquals(2, Set.copyOf(named).size(), named.toString());
        }
        try (ProxyCall call = call()) {
            List<String> one = List.of(endpoint(1));
            call.send(head(Modes.DUPLEX, one, Gateway.CHAT)).send(part(Gateway.ASK, true));
            assertEquals(one, destinations(call.answer()), "none that the hint does not allow");
        }
    }

    @Test
    void who_has_served_has_the_booking() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            assertEquals(endpoint(0), routed(call.answer()));
            call.answer();
            assertEquals(1, booked(0));
            call.send(answerHead("200", "text/event-stream", endpoint(2)));
            assertEquals(
                    endpoint(2), call.answer().set().get("x-conformance-test-served-endpoint"));
            assertEquals(0, booked(0));
            assertEquals(1, booked(2));
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, EVENT, false));
            call.answer();
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, DONE, true));
            call.answer();
        }
        nothingIsBooked();
        assertEquals(1, count("warmpath.picker.served.elsewhere"));
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "ok"));
        assertTrue(gateway.fleet.failures.isEmpty(), "why it went there is not known");
        assertEquals(0, gateway.fleet.firstTokens.get(), "nor how long it took");
    }

    @Test
    void one_that_is_no_worker_has_no_booking_to_get() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            routed(call.answer());
            call.answer();
            call.send(answerHead("200", "application/json", "10.9.9.9:1"));
            call.answer();
            assertEquals(1, booked(0));
        }
        assertEquals(1, count("warmpath.picker.served.elsewhere"));
        nothingIsBooked();
    }

    @Test
    void the_decision_is_explained_in_the_answers_headers() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat("x-warmpath-explain", "1")).send(part(Gateway.ASK, true));
            routed(call.answer());
            call.answer();
            call.send(answerHead("200", "text/event-stream", null));
            ProxyMessages.Answer head = call.answer();
            assertEquals("w0", head.set().get("x-warmpath-worker"), head.set().toString());
        }
        assertEquals(1, count("warmpath.picker.served.unknown"));
        nothingIsBooked();
    }

    @Test
    void forged_headers_are_taken_out() throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat(DESTINATION + "-served", "x", DESTINATION, "127.0.0.1:1"));
            call.send(part(Gateway.ASK, true));
            ProxyMessages.Answer picked = call.answer();
            assertEquals(endpoint(0), routed(picked));
            assertEquals(List.of(DESTINATION + "-served"), picked.removed());
            assertNotNull(picked.set().get("x-request-id"));
        }
    }

    @Test
    void what_is_no_message_ends_its_stream_and_no_other() throws Exception {
        try (ProxyCall other = call();
                ProxyCall call = call()) {
            other.send(chat());
            call.send(new byte[] {0, 0, 0, 0, 2, (byte) 0xff, (byte) 0xff});
            assertEquals(3, call.status.get(10, TimeUnit.SECONDS));
            other.send(part(Gateway.ASK, true));
            routed(other.answer());
        }
        assertEquals(1, count("warmpath.picker.malformed"));
        nothingIsBooked();
    }

    /** Vert.x ends a connection after 200 resets in 30 s unless told otherwise. */
    @Test
    void many_requests_are_reset_on_one_connection() throws Exception {
        for (int i = 0; i < 500; i++) {
            try (ProxyCall call = call()) {
                call.send(chat()).send(part(Gateway.ASK, true));
                routed(call.answer());
                call.reset();
            }
        }
        nothingIsBooked();
    }

    @Test
    void health_says_whether_it_can_choose() throws Exception {
        assertTrue(serving("readiness"));
        assertTrue(serving(""));
        assertTrue(serving("envoy.service.ext_proc.v3.ExternalProcessor"));
        gateway.warm = false;
        assertFalse(serving("readiness"));
        assertTrue(serving("liveness"));
        gateway.warm = true;
        gateway.fleet.workers(List.of());
        assertFalse(serving("envoy.service.ext_proc.v3.ExternalProcessor"));
        try (ProxyCall call = new ProxyCall(client, port, "/grpc.health.v1.Health/Check", false)) {
            call.send(check("another"));
            assertEquals(5, call.status.get(10, TimeUnit.SECONDS));
        }
        try (ProxyCall call = new ProxyCall(client, port, "/grpc.health.v1.Health/Watch", false)) {
            assertEquals(12, call.status.get(10, TimeUnit.SECONDS));
        }
    }

    private static byte[] check(String service) {
        byte[] name = ascii(service);
        byte[] frame = new byte[7 + name.length];
        frame[4] = (byte) (2 + name.length);
        frame[5] = 0x0a;
        frame[6] = (byte) name.length;
        System.arraycopy(name, 0, frame, 7, name.length);
        return frame;
    }

    private boolean serving(String service) throws Exception {
        try (ProxyCall call = new ProxyCall(client, port, "/grpc.health.v1.Health/Check", false)) {
            call.send(check(service));
            byte[] status = call.message();
            assertEquals(0, call.status.get(10, TimeUnit.SECONDS));
            assertEquals(2, status.length);
            return status[1] == 1;
        }
    }

    @Test
    void a_full_queue_that_the_proxy_tells_of_is_noted_and_nothing_is_sent_again()
            throws Exception {
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            assertEquals(endpoint(0), routed(call.answer()));
            call.answer();
            call.send(answerHead("503", "application/json", endpoint(0)));
            call.answer();
            String full = "{\"message\":\"The request queue is full.\",\"code\":503}";
            call.send(ProxyMessages.body(Kind.RESPONSE_BODY, ascii(full), true));
            piece(call.answer(), Kind.RESPONSE_BODY, full, true);
        }
        nothingIsBooked();
        assertEquals(Set.of(0L), gateway.fleet.full.keySet());
        assertTrue(gateway.fleet.failed.isEmpty());
        try (ProxyCall call = call()) {
            call.send(chat()).send(part(Gateway.ASK, true));
            assertEquals(endpoint(1), routed(call.answer()), "while it is full");
        }
        try (ProxyCall call = call()) {
            List<String> only = List.of(endpoint(0));
            call.send(head(Modes.DUPLEX, only, Gateway.CHAT)).send(part(Gateway.ASK, true));
            assertEquals(only, destinations(call.answer()), "nobody else is allowed");
        }
    }
}
