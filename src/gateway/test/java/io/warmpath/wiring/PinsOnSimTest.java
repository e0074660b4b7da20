package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.AgentFeatures;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.SimStats;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a pin does for a prefix: simulated engines whose whole cache other prompts push out, by each
 * way in which an engine can be made to keep one. The control is the same without the pin.
 */
@Tag("slow")
class PinsOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PIN = ",\"nvext\":{\"cache_control\":{\"type\":\"ephemeral\"}}";
    private static final int GPU_BLOCKS = 24;
    private static final int PROMPT = 8 * 16 + 1;

    private SimGateway gateway;

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            gateway.close();
        }
    }

    private static SimOptions.Builder engine(String wire) {
        return SimOptions.builder()
                .wire(WireFormat.valueOf(wire))
                .gpuBlocks(GPU_BLOCKS)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private void start(SimOptions.Builder engine, String pins, String... more) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.session.pins.enabled", "true");
        for (int i = 0; i < more.length; i += 2) {
            settings.put("warmpath.session.pins." + more[i], more[i + 1]);
        }
        gateway = SimGateway.start(settings, engine);
        await().until(() -> gateway.get("/workers").body().contains("\"pins\":\"" + pins + "\""));
    }

    /** Tokens of the prompt that were cached. */
    private int ask(int from, String more) throws Exception {
        String ids =
                IntStream.range(from, from + PROMPT)
                        .mapToObj(Integer::toString)
                        .collect(Collectors.joining(",", "[", "]"));
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":" + ids + more + "}");
        assertEquals(200, answer.statusCode(), answer.body());
        JsonNode usage = JSON.readTree(answer.body()).path("usage");
        assertEquals(PROMPT, usage.path("prompt_tokens").asInt(), answer.body());
        return usage.at("/prompt_tokens_details/cached_tokens").asInt();
    }

    private double pins(String result) {
        return gateway.meters.get("warmpath.pins").tag("result", result).counter().count();
    }

    private double keepAlives(String... results) {
        return Arrays.stream(results)
                .mapToDouble(
                        r ->
                                gateway.meters
                                        .get("warmpath.pins.keep.alives")
                                        .tag("result", r)
                                        .counter()
                                        .count())
                .sum();
    }

    /** Six other prompts, each a third of the device's memory. */
    private void pressure() throws Exception {
        for (int i = 1; i <= 6; i++) {
            ask(i * 1000, "");
        }
    }

    private int cachedAfterPressure(String more) throws Exception {
        double before = pins("ok");
        assertEquals(0, ask(0, more));
        if (!more.isEmpty()) {
            await().until(() -> pins("ok") == before + 1);
        }
        pressure();
        return ask(0, "");
    }

    @Test
    void a_pinned_prefix_survives_what_evicts_others_and_lies_in_host_memory() throws Exception {
        start(
                engine("SGLANG_MAP")
                        .hostBlocks(GPU_BLOCKS)
                        .hostLoadTokensPerSecond(1e7)
                        .agents(AgentFeatures.NONE.withPins(0.5)),
                "rpc");
        assertEquals(PROMPT - 1, cachedAfterPressure(PIN));
        assertEquals(8, gateway.engines.get(0).stats().sum(SimStats.RankStats::pinnedBlocks));
        await().until(() -> gateway.counted("warmpath.pins.hits") == 1);
        String list = gateway.get("/sessions/pins").body();
        assertTrue(list.contains("\"said\":\"Pinned 8 nodes\""), list);
    }

    @Test
    void without_a_pin_it_is_evicted() throws Exception {
        start(
                engine("SGLANG_MAP")
                        .hostBlocks(GPU_BLOCKS)
                        .hostLoadTokensPerSecond(1e7)
                        .agents(AgentFeatures.NONE.withPins(0.5)),
                "rpc");
        assertEquals(0, cachedAfterPressure(""));
    }

    @Test
    void beyond_the_engines_budget_a_pin_is_rejected_in_its_words() throws Exception {
        start(
                engine("SGLANG_MAP").hostBlocks(GPU_BLOCKS).agents(AgentFeatures.NONE.withPins(0)),
                "rpc");
        ask(0, PIN);
        await().until(() -> pins("rejected") == 1);
        String list = gateway.get("/sessions/pins").body();
        assertTrue(list.contains("\"reason\":\"Pin budget exhausted (0/0 tokens pinned)\""), list);
        assertEquals(0, gateway.gauge("warmpath.pins.held"));
    }

    /** A turn of a session with a pin. */
    private void turn(String action, String text) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        "{\"model\":\"demo\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\""
                                + text.repeat(20)
                                + "\"}],\"nvext\":{\"cache_control\":{\"type\":\"ephemeral\"},"
                                + "\"session_control\":{\"session_id\":\"s\""
                                + (action.isEmpty() ? "" : ",\"action\":\"" + action + "\"")
                                + "}}}");
        assertEquals(200, answer.statusCode(), answer.body());
    }

    private void startWithSessions(AgentFeatures sessions) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.session.pins.enabled", "true");
        settings.put("warmpath.models.\"demo\".path", "src/tokens/main/resources/demo-model");
        gateway =
                SimGateway.start(
                        settings,
                        engine("SGLANG_MAP")
                                .gpuBlocks(256)
                                .hostBlocks(256)
                                .agents(sessions.withPins(0.5)));
        await().until(() -> gateway.get("/workers").body().contains("\"pins\":\"rpc\""));
    }

    @Test
    void what_a_streaming_session_holds_is_not_pinned_and_the_reason_is_told() throws Exception {
        startWithSessions(AgentFeatures.NONE.withStreamingSessions());
        turn("open", "You are kind. ");
        await().until(() -> pins("rejected") == 1);
        turn("", "Go on. ");
        await().until(() -> pins("rejected") == 2);
        String list = gateway.get("/sessions/pins").body();
        assertTrue(
                list.contains(
                        "\"reason\":\"it lies in a streaming session, which keeps it itself\""),
                list);
        assertEquals(0, gateway.gauge("warmpath.pins.held"));
        assertEquals(0, gateway.engines.get(0).stats().sum(SimStats.RankStats::pinnedBlocks));
    }

    @Test
    void a_turn_of_a_session_that_is_tagged_is_pinned_and_stays_after_its_close() throws Exception {
        startWithSessions(AgentFeatures.NONE.withRadixSessions());
        turn("open", "You are kind. ");
        await().until(() -> pins("ok") == 1);
        long pinned = gateway.engines.get(0).stats().sum(SimStats.RankStats::pinnedBlocks);
        assertTrue(pinned > 0);
        assertEquals(204, gateway.delete("/sessions/s").statusCode());
        await().until(
                        () ->
                                gateway.meters
                                                .get("warmpath.sessions.closes")
                                                .tag("result", "ok")
                                                .functionCounter()
                                                .count()
                                        == 1);
        assertEquals(pinned, gateway.engines.get(0).stats().sum(SimStats.RankStats::pinnedBlocks));
    }

    @Test
    void where_eviction_goes_by_priority_the_pinned_request_has_one() throws Exception {
        start(engine("SGLANG_MAP").agents(AgentFeatures.NONE.withPriorityEviction()), "priority");
        assertEquals(PROMPT - 1, cachedAfterPressure(PIN));
        gateway.close();
        start(engine("SGLANG_MAP").agents(AgentFeatures.NONE.withPriorityEviction()), "priority");
        assertEquals(0, cachedAfterPressure(""), "the control");
    }

    @Test
    void no_priority_pins_where_the_queue_wants_low_values_and_eviction_drops_them()
            throws Exception {
        AgentFeatures turned =
                AgentFeatures.NONE.withPriorityEviction().withPriorityScheduling(true);
        start(engine("SGLANG_MAP").agents(turned), "keep-alive");
        ask(0, PIN);
        await().until(() -> pins("ok") == 1);
        assertTrue(gateway.get("/sessions/pins").body().contains("\"how\":\"keep-alive\""));
    }

    @Test
    void keep_alives_keep_a_prefix_where_nothing_else_does() throws Exception {
        start(engine("VLLM_MAP"), "keep-alive", "keep-alive.interval", "200ms");
        assertEquals(0, ask(0, PIN));
        for (int i = 1; i <= 6; i++) {
            double before = keepAlives("kept", "computed");
            ask(i * 1000, "");
            await().until(() -> keepAlives("kept", "computed") > before);
        }
        assertEquals(PROMPT - 1, ask(0, ""));
        assertEquals(0, keepAlives("computed"), "it was never gone");
        assertEquals(0, keepAlives("failed"));
    }
}
