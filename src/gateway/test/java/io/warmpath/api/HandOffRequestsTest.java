package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.ROLE;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prefill on one engine, then decoding on another, as vLLM's NIXL connector has it: the first one's
 * answer names what the second one fetches. What the first one says was recorded from vLLM 0.32.
 */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class HandOffRequestsTest extends SplitFleet {
    private static final String HAND_OFF =
            "{\"do_remote_prefill\":true,\"do_remote_decode\":false,\"remote_block_ids\":[[39,36,34,31]],"
                    + "\"remote_engine_id\":\"fc986fee-2ab0-466e-b375-afa580fa1936\","
                    + "\"remote_request_id\":\"cmpl-req-0001-0-b48d79dc\",\"remote_host\":\"127.0.0.1\","
                    + "\"remote_port\":15600,\"tp_size\":1,\"dcp_size\":1,\"pp_size\":1,"
                    + "\"remote_num_tokens\":101,\"remote_blocks_expiry_time\":null,"
                    + "\"transfer_mode\":\"pull\",\"remote_prefill_cached_tokens\":0}";

    @BeforeEach
    void start() throws Exception {
        start(call -> call.json(200, prefilled(HAND_OFF)), SplitFleet::decode);
        gateway.fleet.workers(
                List.of(
                        worker(0, d0, Role.DECODE),
                        worker(1, d1, Role.DECODE),
                        worker(2, p0, Role.PREFILL),
                        worker(3, p1, Role.PREFILL)));
    }

    private static String prefilled(String handOff) {
        return "{\"id\":\"p\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"
                + "\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"finish_reason\":\"length\"}],"
                + "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1,\"total_tokens\":10},"
                + "\"kv_transfer_params\":"
                + handOff
                + "}";
    }

    @Test
    void one_computes_a_token_and_the_other_one_fetches_what_it_names() throws Exception {
        String ask =
                Gateway.ASK.replaceFirst(
                        "\\{",
                        "{\"max_tokens\":70,\"min_tokens\":3,\"max_completion_tokens\":60,"
                                + "\"stream_options\":{\"include_usage\":true},");
        assertServed(gateway.post(ask));
        JsonNode prefill = body(p0, 0);
        JsonNode decode = body(d0, 0);
        assertEquals(1, prefill.path("max_tokens").asInt());
        assertEquals(1, prefill.path("max_completion_tokens").asInt());
        assertEquals(0, prefill.path("min_tokens").asInt());
        assertFalse(prefill.path("stream").asBoolean(true));
        assertTrue(prefill.path("stream_options").isNull());
        assertTrue(prefill.at("/kv_transfer_params/do_remote_decode").asBoolean());
        assertEquals(JSON.readTree(HAND_OFF), decode.path("kv_transfer_params"));
        assertEquals(70, decode.path("max_tokens").asInt());
        assertEquals(3, decode.path("min_tokens").asInt());
        assertTrue(decode.path("stream").asBoolean());
        assertEquals(decode.path("messages"), prefill.path("messages"));
        assertEquals(
                d0.calls.get(0).header("x-request-id"), p0.calls.get(0).header("x-request-id"));
        assertEquals(0, p1.requests.get() + d1.requests.get());
        nothingIsBooked();
        assertEquals(2, gateway.books.booked.get());
    }

    /** Of groups of which the servers have the last two ranks. */
    @Test
    void both_halves_name_the_ranks_of_their_own_servers() throws Exception {
        gateway.fleet.workers(List.of(last(0, d0, Role.DECODE), last(2, p0, Role.PREFILL)));
        for (int i = 0; i < 4; i++) {
            assertServed(gateway.post(Gateway.ASK));
        }
        for (StubEngine engine : List.of(d0, p0)) {
            Set<String> named =
                    engine.calls.stream()
                            .map(c -> String.valueOf(c.header("x-data-parallel-rank")))
                            .collect(Collectors.toSet());
            assertTrue(Set.of("0", "1").containsAll(named), named::toString);
        }
    }

    private static Worker last(int id, StubEngine engine, Role role) {
        Disaggregation its = new Disaggregation(role, true, 0, "");
        return worker(id, engine, EngineKind.VLLM, 2, its).toBuilder()
                .numbers(new EngineRanks(2, 2, false))
                .build();
    }

    @Test
    void nobody_decodes_before_there_is_something_to_fetch() throws Exception {
        CompletableFuture<Void> go = new CompletableFuture<>();
        p0.script(
                call -> {
                    go.get(10, TimeUnit.SECONDS);
                    call.json(200, prefilled(HAND_OFF));
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> p0.requests.get() == 1 && gateway.books.open.get() == 2);
            assertEquals(0, d0.requests.get());
            go.complete(null);
            assertServed(client.readAnswer());
        }
        nothingIsBooked();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "{\"do_remote_prefill\":true}",
                "{\"do_remote_prefill\":true,\"remote_engine_id\":\"e\",\"remote_host\":\"h\",\"remote_port\":1,"
                        + "\"tp_size\":1,\"remote_request_id\":\"r\",\"remote_block_ids\":[]}"
            })
    void what_would_end_the_engine_is_not_handed_on(String handOff) throws Exception {
        p0.script(call -> call.json(200, prefilled(handOff)));
        assertServed(gateway.post(Gateway.ASK));
        assertTrue(body(d0, 0).path("kv_transfer_params").isMissingNode());
        nothingIsBooked();
    }

    @Test
    void one_that_cannot_prefill_is_replaced_unseen() throws Exception {
        p0.kill();
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, p1.requests.get());
        assertFalse(gateway.fleet.failures.contains(0L), "who decodes is not to blame");
        nothingIsBooked();
    }

    @Test
    void what_is_refused_is_refused_in_the_words_of_who_decodes() throws Exception {
        String words = "{\"error\":{\"message\":\"too long\",\"code\":400}}";
        p0.script(call -> call.json(400, "{\"error\":{\"message\":\"max_tokens\",\"code\":400}}"));
        d0.script(call -> call.json(400, words));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(400, answer.status());
        assertEquals(words, answer.body());
        assertEquals(0, p1.requests.get() + d1.requests.get());
        nothingIsBooked();
    }

    @Test
    void one_that_cannot_decode_is_replaced_with_a_hand_off_of_its_own() throws Exception {
        d0.script(StubEngine.Call::reset);
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(JSON.readTree(HAND_OFF), body(d1, 0).path("kv_transfer_params"));
        assertTrue(p0.requests.get() >= 2, "a hand-off is used once");
        nothingIsBooked();
    }

    @Test
    void a_client_that_leaves_stops_the_prefill() throws Exception {
        CompletableFuture<Boolean> prefill = new CompletableFuture<>();
        p0.script(call -> prefill.complete(call.awaitGone()));
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> p0.requests.get() == 1);
        }
        assertTrue(prefill.get(10, TimeUnit.SECONDS));
        assertEquals(0, d0.requests.get());
        nothingIsBooked();
    }

    @Test
    void either_does_all_of_it_without_the_other_one() throws Exception {
        gateway.fleet.workers(List.of(worker(0, d0, Role.DECODE), worker(1, d1, Role.DECODE)));
        assertServed(gateway.post(Gateway.ASK));
        p0.script(SplitFleet::decode);
        gateway.fleet.workers(List.of(worker(2, p0, Role.PREFILL)));
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, d0.requests.get());
        assertEquals(1, p0.requests.get());
        nothingIsBooked();
    }

    @Test
    void who_prefills_does_all_of_it_when_the_last_one_that_decodes_has_failed() throws Exception {
        gateway.fleet.workers(List.of(worker(0, d0, Role.DECODE), worker(2, p0, Role.PREFILL)));
        d0.script(StubEngine.Call::reset);
        p0.script(
                call -> {
                    if (JSON.readTree(call.body).has("kv_transfer_params")) {
                        call.json(200, prefilled(HAND_OFF));
                    } else {
                        decode(call);
                    }
                });
        assertServed(gateway.post(Gateway.ASK));
        nothingIsBooked();
    }

    private RawClient.Answer naming(String address) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK, "x-prefiller-host-port: " + address);
            return client.readAnswer();
        }
    }

    @Test
    void who_prefills_is_who_a_picker_has_named() throws Exception {
        RawClient.Answer refused = naming(p1.url().getAuthority());
        assertEquals(400, refused.status(), "of a client that may not say so");
        again(Options.of(o -> o.forwardHandOff = true));
        assertServed(naming("10.0.0.9:1, " + p1.url().getAuthority()));
        assertEquals(1, p1.requests.get());
        assertEquals(0, p0.requests.get());
        assertServed(naming("10.0.0.9:1"));
        assertEquals(1, p0.requests.get(), "nobody here has that address");
        p1.kill();
        assertServed(naming(p1.url().getAuthority()));
        assertEquals(2, p0.requests.get(), "it has failed the request");
        nothingIsBooked();
    }

    @Test
    void each_half_can_be_named_by_its_worker() throws Exception {
        String ask = "{\"nvext\":{\"prefill_worker_id\":%d,\"decode_worker_id\":%d},";
        assertServed(gateway.post(Gateway.ASK.replaceFirst("\\{", ask.formatted(3, 1))));
        assertEquals(1, p1.requests.get());
        assertEquals(1, d1.requests.get());
        RawClient.Answer none = gateway.post(Gateway.ASK.replaceFirst("\\{", ask.formatted(0, 1)));
        assertEquals(400, none.status());
        assertTrue(none.body().contains("computes no prompts for others"), none.body());
        nothingIsBooked();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"n\":2", "\"prompt_logprobs\":0"})
    void what_no_pair_can_do_is_done_by_one_engine(String member) throws Exception {
        assertServed(gateway.post(Gateway.ASK.replaceFirst("\\{", "{" + member + ",")));
        assertEquals(1, d0.requests.get());
        assertEquals(0, p0.requests.get());
    }

    @Test
    void while_all_that_prefill_are_tainted_who_decodes_does_all_of_it() throws Exception {
        roundRobin();
        gateway.fleet.workers(
                List.of(worker(0, d0, Role.DECODE), tainted(worker(2, p0, Role.PREFILL))));
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, d0.requests.get());
        assertEquals(0, p0.requests.get());
        nothingIsBooked();
    }

    @Test
    void one_that_does_not_prefill_in_time_is_replaced_unseen() throws Exception {
        again(late(LATE));
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        p0.script(call -> stopped.complete(call.awaitGone()));
        assertServed(gateway.post(Gateway.ASK));
        assertTrue(stopped.get(10, TimeUnit.SECONDS));
        assertEquals(1, p1.requests.get());
        assertEquals(1, d0.requests.get());
        assertStalled(2);
        nothingIsBooked();
    }

    @Test
    void one_that_does_not_fetch_in_time_is_replaced_with_a_hand_off_of_its_own() throws Exception {
        again(late(LATE));
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        d0.script(
                call -> {
                    call.streamHead(); // comes before what is fetched
                    call.chunk(ROLE);
                    stopped.complete(call.awaitGone());
                });
        assertServed(gateway.post(Gateway.ASK));
        assertTrue(stopped.get(10, TimeUnit.SECONDS));
        assertEquals(1, d1.requests.get());
        assertEquals(2, p0.requests.get());
        assertStalled(0);
        nothingIsBooked();
    }

    @Test
    void a_whole_answer_is_not_late_once_its_prompt_is_computed() throws Exception {
        again(late(LATE));
        CompletableFuture<Void> late = whenLate();
        d0.script(
                call -> {
                    late.get(10, TimeUnit.SECONDS);
                    call.json(200, prefilled("null"));
                });
        assertEquals(200, gateway.post(Gateway.ASK_WHOLE).status());
        assertEquals(1, d0.requests.get());
        nothingIsBooked();
    }

    @Test
    void while_all_that_prefill_are_busy_who_decodes_does_all_of_it() throws Exception {
        whileAllPrefill(
                call -> call.json(200, prefilled(HAND_OFF)),
                () -> {
                    assertServed(gateway.post(Gateway.ASK));
                    assertEquals(1, d0.requests.get() + d1.requests.get());
                });
    }

    @Test
    void full_queues_of_those_that_prefill_are_no_failures() throws Exception {
        p0.script(call -> call.json(429, "{}"));
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(List.of(), gateway.fleet.failed);
        assertEquals(Set.of(2L), gateway.fleet.full.keySet());
        p1.script(call -> call.json(503, QUEUE_FULL));
        assertServed(gateway.post(Gateway.ASK)); // who decodes can do all of it
        assertEquals(Set.of(2L, 3L), gateway.fleet.full.keySet());
        nothingIsBooked();
    }
}
