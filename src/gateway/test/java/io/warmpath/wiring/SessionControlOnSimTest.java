package io.warmpath.wiring;

import static io.warmpath.wiring.SessionTurns.messages;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.sim.AgentFeatures;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import io.warmpath.wiring.SessionTurns.Said;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions that a client opens and closes, through the whole gateway on simulated engines. */
@Tag("slow")
class SessionControlOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String TASK = "Research every final in exhaustive detail. ".repeat(20);
    private static final AgentFeatures STREAMING = AgentFeatures.NONE.withStreamingSessions();
    private static final AgentFeatures RADIX = AgentFeatures.NONE.withRadixSessions();

    private SimGateway gateway;

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private static SimOptions.Builder engine(AgentFeatures features) {
        return SimOptions.builder()
                .wire(WireFormat.SGLANG_MAP)
                .agents(features)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private void start(Map<String, String> settings, SimOptions.Builder... engines)
            throws Exception {
        Map<String, String> all = new HashMap<>(settings);
        all.put("warmpath.models.\"demo\".path", "src/tokens/main/resources/demo-model");
        gateway = SimGateway.start(all, engines);
    }

    private Said turn(boolean stream, String session, String action, ArrayNode messages)
            throws Exception {
        return turn(stream, session, action, messages, "acme");
    }

    private Said turn(
            boolean stream, String session, String action, ArrayNode messages, String tenant)
            throws Exception {
        return SessionTurns.turn(gateway, stream, session, action, messages, tenant);
    }

    private double held() throws Exception {
        return onEngine("sglang:streaming_session_held_tokens");
    }

    private double open() throws Exception {
        return onEngine("sglang:num_streaming_sessions");
    }

    private double onEngine(String metric) throws Exception {
        return SessionTurns.onEngine(gateway.engines.getFirst(), metric);
    }

    private void closeOnEngine(String id) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI at = gateway.engines.getFirst().url().resolve("/close_session");
            client.send(
                    HttpRequest.newBuilder(at)
                            .POST(
                                    HttpRequest.BodyPublishers.ofString(
                                            "{\"session_id\":\"" + id + "\"}"))
                            .build(),
                    HttpResponse.BodyHandlers.discarding());
        }
    }

    private double counted(String event) {
        return gateway.meters
                .get("warmpath.sessions.control")
                .tag("event", event)
                .functionCounter()
                .count();
    }

    private double closed(String result) {
        return gateway.meters
                .get("warmpath.sessions.closes")
                .tag("result", result)
                .functionCounter()
                .count();
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void a_streaming_session_holds_its_tokens_until_it_is_closed(boolean stream) throws Exception {
        start(Map.of(), engine(STREAMING).ranks(2), engine(STREAMING).ranks(2));
        assertTrue(gateway.get("/workers").body().contains("\"sessions\":\"streaming\""));
        Said first = turn(stream, "sub-1", "open", messages(TASK));
        assertEquals("opened;streaming", first.session());
        Said second = turn(stream, "sub-1", "", messages("Compare two of them."));
        assertEquals("kept;streaming", second.session(), second.http()::body);
        assertEquals(first.worker(), second.worker());
        assertTrue(
                second.cached() >= first.prompt(),
                () -> second.cached() + " cached, " + first.prompt() + " before");
        assertEquals(
                Optional.of("what the engine's session holds"),
                second.http().headers().firstValue("x-warmpath-not-predicted"));
        Said whole =
                turn(
                        stream,
                        "",
                        "",
                        messages(TASK, first.message(), "Compare two of them."),
                        "other");
        assertEquals(whole.prompt(), second.prompt(), "the same prompt as without a session");
        assertEquals(
                Optional.empty(), whole.http().headers().firstValue("x-warmpath-not-predicted"));
        Said last = turn(stream, "sub-1", "close", messages("And the last one."));
        assertEquals("kept;streaming", last.session());
        assertTrue(last.cached() >= second.prompt());
        await().until(() -> closed("ok") == 1);
        assertEquals(0, open());
        assertEquals(0, held());
        Said after = turn(stream, "sub-1", "", messages("More?"));
        assertEquals(409, after.http().statusCode());
        assertEquals("session_not_open", after.message().at("/error/code").asText());
    }

    @Test
    void a_client_that_sends_the_history_itself_is_understood_too() throws Exception {
        start(Map.of(), engine(STREAMING));
        Said first = turn(true, "sub-1", "open", messages(TASK));
        Said second =
                turn(true, "sub-1", "", messages(TASK, first.message(), "Compare two of them."));
        assertEquals("kept;streaming", second.session());
        assertTrue(second.cached() >= first.prompt());
        Said rewritten = turn(true, "sub-1", "", messages("Short.", second.message(), "Go on."));
        assertEquals("diverged;sticky", rewritten.session());
        assertEquals(200, rewritten.http().statusCode());
        await().until(() -> open() == 0);
        assertEquals(1, counted("diverged"));
    }

    @Test
    void a_turn_with_only_what_is_new_may_follow_one_that_brought_the_history() throws Exception {
        start(Map.of(), engine(AgentFeatures.NONE));
        Said first = turn(false, "sub-1", "open", messages(TASK));
        Said second =
                turn(true, "sub-1", "", messages(TASK, first.message(), "Compare two of them."));
        Said third = turn(false, "sub-1", "", messages("And the last one."));
        assertTrue(
                third.prompt() > second.prompt(),
                () -> second.prompt() + " tokens, then " + third.prompt());
    }

    @ParameterizedTest
    @CsvSource({"RADIX", "STICKY"})
    void a_client_that_sends_only_what_is_new_gets_the_whole_conversation(String kind)
            throws Exception {
        AgentFeatures features = kind.equals("RADIX") ? RADIX : AgentFeatures.NONE;
        start(Map.of(), engine(features), engine(features));
        String how = kind.toLowerCase(java.util.Locale.ROOT);
        Said first = turn(true, "sub-1", "open", messages(TASK));
        assertEquals("opened;" + how, first.session());
        Said second = turn(false, "sub-1", "", messages("Compare two of them."));
        assertEquals("kept;" + how, second.session());
        assertEquals(first.worker(), second.worker());
        Said third = turn(true, "sub-1", "close", messages("And the last one."));
        assertTrue(third.prompt() > second.prompt());
        assertTrue(second.prompt() > first.prompt() + 24, "the answer is part of the prompt");
        assertTrue(second.cached() > first.prompt() / 2, () -> "cached " + second.cached());
        assertEquals(0, counted("expired"));
        assertEquals(1, counted("closed"));
        if (kind.equals("RADIX")) {
            await().until(() -> closed("ok") == 1);
            Said anew = turn(true, "sub-2", "open", messages(TASK));
            assertEquals(0, anew.cached(), "what was tagged is gone");
        }
    }

    @Test
    void a_session_that_the_engine_has_lost_is_opened_again_with_the_whole_prompt()
            throws Exception {
        start(Map.of(), engine(STREAMING));
        Said first = turn(true, "sub-1", "open", messages(TASK));
        double before = held();
        gateway.engines.getFirst().clear();
        String id = gateway.get("/sessions/sub-1").body();
        closeOnEngine(JSON.readTree(id).at("/data/0/engine_id").asText());
        assertEquals(0, open(), () -> id);
        assertTrue(before > 0);
        Said second = turn(true, "sub-1", "", messages("Compare two of them."));
        assertEquals("reopened;streaming", second.session(), second.http()::body);
        assertTrue(second.prompt() > first.prompt() + 24);
        assertEquals(1, open());
        assertEquals(1, counted("reopened"));
    }

    @Test
    void a_worker_that_is_gone_loses_its_sessions_to_others() throws Exception {
        start(Map.of(), engine(STREAMING), engine(STREAMING));
        Said first = turn(true, "sub-1", "open", messages(TASK));
        gateway.delete("/workers/" + first.worker());
        Said second = turn(true, "sub-1", "", messages("Compare two of them."));
        assertEquals("reopened;streaming", second.session(), second.http()::body);
        assertTrue(!second.worker().equals(first.worker()));
        assertTrue(second.prompt() > first.prompt() + 24, "nothing is forgotten");
        assertEquals("kept;streaming", turn(true, "sub-1", "", messages("So?")).session());
    }

    @Test
    void pinned_tokens_have_a_limit() throws Exception {
        start(
                Map.of("warmpath.session.control.max-pinned", "0.2"),
                engine(STREAMING).gpuBlocks(100));
        Said first = turn(true, "sub-1", "open", messages(TASK));
        assertEquals("opened;streaming", first.session());
        Said other = turn(true, "sub-2", "open", messages(TASK + "!"));
        assertEquals("capped;sticky", other.session());
        assertEquals(200, other.http().statusCode());
        assertEquals(1, open());
        Said more = turn(true, "sub-1", "", messages("go on ".repeat(80)));
        assertEquals("capped;sticky", more.session(), "a session may not grow into it either");
        await().until(() -> open() == 0);
        assertEquals(2, counted("capped"));
    }

    @Test
    void what_engines_cannot_append_is_sent_beside_the_session() throws Exception {
        start(Map.of(), engine(STREAMING));
        turn(true, "sub-1", "open", messages(TASK));
        ObjectNode body = JSON.createObjectNode().put("model", "demo").put("logprobs", true);
        body.put("max_tokens", 4).set("messages", messages("Why?"));
        body.putObject("nvext").putObject("session_control").put("session_id", "sub-1");
        HttpResponse<String> beside =
                gateway.post(
                        "/v1/chat/completions",
                        body.toString(),
                        "x-warmpath-explain",
                        "1",
                        "x-tenant-id",
                        "acme");
        assertEquals(200, beside.statusCode());
        assertEquals("beside;sticky", beside.headers().firstValue("x-warmpath-session").orElse(""));
        assertEquals(1, open());
    }

    @Test
    void tenants_and_operators_meet_only_what_they_may() throws Exception {
        start(Map.of(), engine(STREAMING));
        turn(true, "sub-1", "open", messages(TASK), "acme");
        Said other = turn(true, "sub-1", "close", messages("Mine?"), "rival");
        assertEquals(409, other.http().statusCode());
        turn(true, "sub-1", "open", messages("Ours."), "rival");
        assertEquals(2, open(), "two sessions of one name");
        JsonNode listed = JSON.readTree(gateway.get("/sessions").body());
        assertEquals(2, listed.path("total").asInt());
        for (JsonNode s : listed.path("data")) {
            assertEquals("streaming", s.path("kept_by").asText(), listed::toString);
            assertTrue(s.path("has_tenant").asBoolean() && !s.has("tenant"));
        }
        assertEquals(204, gateway.delete("/sessions/sub-1").statusCode());
        await().until(() -> open() == 0);
        assertEquals(404, gateway.get("/sessions/sub-1").statusCode());
    }

    @Test
    void an_open_id_is_opened_anew_and_sessions_end_with_their_gateway() throws Exception {
        start(Map.of(), engine(STREAMING));
        turn(true, "sub-1", "open", messages(TASK));
        Said again = turn(true, "sub-1", "open", messages("Something else."));
        assertEquals("opened;streaming", again.session());
        await().until(() -> open() == 1);
        turn(true, "sub-2", "bind", messages(TASK));
        assertEquals(1, open(), "one that only stays is no business of the engine");
        SimGateway second = SimGateway.beside(gateway, Map.of());
        try {
            assertEquals(
                    409,
                    second.post(
                                    "/v1/chat/completions",
                                    "{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
                                            + "\"nvext\":{\"session_control\":{\"session_id\":\"sub-1\"}}}")
                            .statusCode(),
                    "nor of another gateway, without its history");
        } finally {
            second.close();
        }
        assertEquals(List.of(1.0), List.of(open()));
    }
}
