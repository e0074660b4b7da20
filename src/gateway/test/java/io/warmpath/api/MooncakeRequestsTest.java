package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * Prefill on one engine, decoding on another, as vLLM's Mooncake connector has it: both are asked
 * at once and meet by the name of a transfer. What is asked is what was sent to real ones, vLLM
 * 0.32, when their answers were recorded.
 */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class MooncakeRequestsTest extends SplitFleet {
    private static final String OFFERED =
            "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"transfer_id\":\"xfer-1\"}";
    private static final String TAKEN =
            "{\"do_remote_prefill\":true,\"do_remote_decode\":false,\"transfer_id\":\"xfer-1\","
                    + "\"remote_bootstrap_addr\":\"http://127.0.0.1:16600\","
                    + "\"remote_engine_id\":\"26ad3fb5-52a5-4962-a839-a4d0b239f394\"}";
    private static final String PREFILLED =
            "{\"id\":\"p\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"
                    + "\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"finish_reason\":\"length\"}],"
                    + "\"usage\":{\"prompt_tokens\":101,\"total_tokens\":102,\"completion_tokens\":1,"
                    + "\"prompt_tokens_details\":{\"cached_tokens\":32,\"created_cache_tokens\":null}},"
                    + "\"kv_transfer_params\":null}";

    /** What it was handed counts as cached, as of a real one. */
    private static final String USAGE =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":101,\"completion_tokens\":1,"
                    + "\"total_tokens\":102,\"prompt_tokens_details\":{\"cached_tokens\":101}}}\n\n";

    private final Map<String, CompletableFuture<Void>> transfers = new ConcurrentHashMap<>();

    @BeforeEach
    void start() throws Exception {
        start(this::prefill, this::decodeWhatComes);
        gateway.fleet.workers(
                List.of(
                        worker(0, d0, Role.DECODE),
                        worker(1, d1, Role.DECODE),
                        prefilling(2, p0),
                        prefilling(3, p1)));
    }

    private static Worker prefilling(int id, StubEngine engine) {
        return worker(
                id,
                engine,
                EngineKind.VLLM,
                1,
                new Disaggregation(
                        Role.PREFILL,
                        true,
                        16600,
                        "mooncake",
                        List.of("26ad3fb5-52a5-4962-a839-a4d0b239f394")));
    }

    private CompletableFuture<Void> transfer(StubEngine.Call call) throws IOException {
        String id = JSON.readTree(call.body).at("/kv_transfer_params/transfer_id").asText();
        return transfers.computeIfAbsent(id, i -> new CompletableFuture<>());
    }

    private void prefill(StubEngine.Call call) throws Exception {
        transfer(call).complete(null);
        call.json(200, PREFILLED);
    }

    private void decodeWhatComes(StubEngine.Call call) throws Exception {
        transfer(call).get(10, TimeUnit.SECONDS);
        call.streamHead();
        call.chunk(ROLE);
        call.chunk(token("good"));
        call.chunk(USAGE);
        call.chunk(DONE);
        call.lastChunk();
    }

    @Override
    void assertServed(RawClient.Answer answer) {
        assertEquals(200, answer.status(), answer::body);
        assertEquals(ROLE + token("good") + USAGE + DONE, answer.body());
    }

    /** As it was sent, but for the name of the transfer. */
    private static JsonNode like(String recorded, JsonNode params) throws IOException {
        ObjectNode like = (ObjectNode) JSON.readTree(recorded);
        return like.set("transfer_id", params.path("transfer_id"));
    }

    @Test
    void both_are_asked_at_once_and_meet_by_a_name() throws Exception {
        CompletableFuture<Void> both = new CompletableFuture<>();
        p0.script(
                call -> {
                    both.get(10, TimeUnit.SECONDS);
                    prefill(call);
                });
        d0.script(
                call -> {
                    both.complete(null);
                    decodeWhatComes(call);
                });
        String ask =
                Gateway.ASK.replaceFirst(
                        "\\{", "{\"max_tokens\":70,\"stream_options\":{\"include_usage\":true},");
        assertServed(gateway.post(ask));
        JsonNode offered = body(p0, 0).path("kv_transfer_params");
        JsonNode taken = body(d0, 0).path("kv_transfer_params");
        assertEquals(like(OFFERED, offered), offered);
        assertEquals(like(TAKEN, taken), taken);
        assertEquals(offered.path("transfer_id"), taken.path("transfer_id"));
        assertEquals(1, body(p0, 0).path("max_tokens").asInt());
        assertFalse(body(p0, 0).path("stream").asBoolean(true));
        assertEquals(70, body(d0, 0).path("max_tokens").asInt());
        assertTrue(body(d0, 0).path("stream").asBoolean());
        assertEquals(body(d0, 0).path("messages"), body(p0, 0).path("messages"));
        assertEquals(0, p1.requests.get() + d1.requests.get());
        nothingIsBooked();
        assertEquals(2, gateway.books.booked.get());
    }

    @Test
    void what_was_cached_is_what_the_one_that_prefills_says() throws Exception {
        d0.script(
                call -> {
                    await().until(() -> gateway.books.open.get() == 1); // its answer is here
                    decodeWhatComes(call);
                });
        assertServed(gateway.post(Gateway.ASK));
        nothingIsBooked();
        assertEquals(32, reported());
    }

    @Test
    void what_the_one_that_decodes_says_of_that_never_counts() throws Exception {
        p0.script(
                call -> {
                    transfer(call).complete(null);
                    call.awaitGone();
                });
        assertServed(gateway.post(Gateway.ASK));
        nothingIsBooked();
        assertEquals(0, reported());
    }

    private double reported() {
        return gateway.meters.get("warmpath.cached.tokens.reported").counter().count();
    }

    @Test
    void one_that_cannot_prefill_is_replaced_unseen_by_another_name() throws Exception {
        p0.script(StubEngine.Call::reset);
        assertServed(gateway.post(Gateway.ASK));
        assertNotEquals(
                body(p0, 0).at("/kv_transfer_params/transfer_id"),
                body(p1, 0).at("/kv_transfer_params/transfer_id"));
        assertFalse(gateway.fleet.failures.contains(0L), "who decodes is not to blame");
        nothingIsBooked();
    }

    @Test
    void one_that_cannot_decode_is_replaced_unseen() throws Exception {
        d0.script(call -> call.json(500, "{\"error\":{\"message\":\"Internal server error\"}}"));
        assertServed(gateway.post(Gateway.ASK));
        assertEquals(1, d1.requests.get());
        nothingIsBooked();
    }

    @Test
    void one_that_does_not_fetch_in_time_is_replaced_unseen() throws Exception {
        again(late(LATE));
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        d0.script(call -> stopped.complete(call.awaitGone()));
        assertServed(gateway.post(Gateway.ASK));
        assertTrue(stopped.get(10, TimeUnit.SECONDS));
        assertEquals(1, d1.requests.get());
        assertStalled(0);
        nothingIsBooked();
    }

    @Test
    void without_who_prefills_the_others_do_all_of_it() throws Exception {
        gateway.fleet.workers(List.of(worker(0, d0, Role.DECODE)));
        d0.script(SplitFleet::decode);
        super.assertServed(gateway.post(Gateway.ASK));
        assertTrue(body(d0, 0).path("kv_transfer_params").isMissingNode());
    }
}
