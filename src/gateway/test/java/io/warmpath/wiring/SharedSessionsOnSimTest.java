package io.warmpath.wiring;

import static io.warmpath.wiring.SessionTurns.messages;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.sim.AgentFeatures;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import io.warmpath.wiring.SessionTurns.Said;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Sessions that a client opens, with two gateways before the same engines: any of them gets a turn.
 */
@Tag("slow")
class SharedSessionsOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String TASK = "Research every final in exhaustive detail. ".repeat(20);

    @TempDir Path folder;
    private NatsServer server;
    private SimGateway a;
    private SimGateway b;

    @BeforeEach
    void start() throws Exception {
        server = NatsServer.start(folder);
    }

    private void start(String kind) throws Exception {
        AgentFeatures features =
                kind.equals("STREAMING")
                        ? AgentFeatures.NONE.withStreamingSessions()
                        : AgentFeatures.NONE.withRadixSessions();
        a = SimGateway.start(settings("a"), engine(features), engine(features), engine(features));
        b = SimGateway.beside(a, settings("b"));
        await().atMost(SOON).until(() -> peers(a) == 1 && peers(b) == 1);
    }

    @AfterEach
    void stop() throws Exception {
        if (b != null) {
            b.close();
        }
        if (a != null) {
            a.close();
        }
        if (server != null) { // skipped where there is none
            server.close();
        }
    }

    private static SimOptions.Builder engine(AgentFeatures features) {
        return SimOptions.builder()
                .wire(WireFormat.SGLANG_MAP)
                .agents(features)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private Map<String, String> settings(String id) {
        Map<String, String> s = new HashMap<>();
        s.put("warmpath.models.\"demo\".path", "src/tokens/main/resources/demo-model");
        s.put("warmpath.router.use-kv-events", "false");
        s.put("warmpath.router.mode", "random"); // nothing but the binding leads to a worker
        s.put("warmpath.replica.sync", "true");
        s.put("warmpath.nats.router-id", id);
        s.put("warmpath.session.affinity-ttl", "5m");
        s.put("warmpath.nats.servers", server.url());
        s.put("warmpath.replica.max-age", "500ms"); // the machine may be busy
        return s;
    }

    private static int peers(SimGateway g) throws Exception {
        return JSON.readTree(g.get("/replicas").body()).get("data").size();
    }

    /** Every news of one gateway that it had before has reached the other one. */
    private static void heard(SimGateway from, SimGateway to) throws Exception {
        long telling = count(from, "sent");
        await().atMost(SOON).until(() -> count(from, "sent") > telling + 3);
        long hearing = count(to, "received");
        await().atMost(SOON).until(() -> count(to, "received") > hearing);
    }

    private static long count(SimGateway g, String what) throws Exception {
        return JSON.readTree(g.get("/replicas").body()).at("/counts/" + what).asLong();
    }

    private static Said turn(SimGateway g, String action, ArrayNode messages) throws Exception {
        return SessionTurns.turn(g, true, "sub-1", action, messages, "acme");
    }

    /** What the conversation is when this answer is part of it, and one question more. */
    private static ArrayNode then(ArrayNode before, Said answer, String next) {
        ArrayNode all = before.deepCopy();
        all.add(answer.message());
        all.addAll(messages(next));
        return all;
    }

    private static double counted(SimGateway g, String event) {
        return g.meters
                .get("warmpath.sessions.control")
                .tag("event", event)
                .functionCounter()
                .count();
    }

    private double openOnEngines() throws Exception {
        double open = 0;
        for (SimEngine e : a.engines) {
            open += SessionTurns.onEngine(e, "sglang:num_streaming_sessions");
        }
        return open;
    }

    private static int total(SimGateway g) throws Exception {
        JsonNode all = JSON.readTree(g.get("/sessions").body()).path("data");
        int open = 0;
        for (JsonNode s : all) {
            open += s.path("controlled").asBoolean() ? 1 : 0;
        }
        return open;
    }

    @ParameterizedTest
    @CsvSource({"STREAMING", "RADIX"})
    void a_session_goes_with_the_gateway_that_gets_its_turns(String kind) throws Exception {
        start(kind);
        String how = ";" + kind.toLowerCase(Locale.ROOT);
        ArrayNode said = messages(TASK);
        Said first = turn(a, "open", said);
        assertEquals("opened" + how, first.session());
        heard(a, b);

        said = then(said, first, "Compare two of them.");
        Said second = turn(b, "", said);
        assertEquals("reopened" + how, second.session(), second.http()::body);
        assertEquals(first.worker(), second.worker(), "where it is bound");
        await().atMost(SOON).until(() -> counted(a, "given") == 1);
        assertEquals(1, counted(b, "adopted"));
        assertEquals(0, total(a));
        assertEquals(1, total(b));

        said = then(said, second, "And the last one.");
        Said third = turn(b, "", said);
        assertEquals("kept" + how, third.session());
        assertEquals(first.worker(), third.worker());
        assertTrue(
                third.cached() + 32 > second.prompt(),
                () -> third.cached() + " cached, " + second.prompt() + " before");
        heard(b, a);

        // And back.
        said = then(said, third, "So?");
        Said fourth = turn(a, "", said);
        assertEquals("reopened" + how, fourth.session());
        assertEquals(first.worker(), fourth.worker());
        await().atMost(SOON).until(() -> counted(b, "given") == 1);
        if (kind.equals("STREAMING")) {
            await("the engine has let go of the others")
                    .atMost(SOON)
                    .until(() -> openOnEngines() == 1);
        }
        heard(a, b);

        // Closed where it is not.
        said = then(said, fourth, "Thank you.");
        Said last = turn(b, "close", said);
        assertEquals(200, last.http().statusCode());
        assertEquals(first.worker(), last.worker());
        await().atMost(SOON).until(() -> counted(a, "closed") == 1);
        await().atMost(SOON).until(() -> openOnEngines() == 0);
        for (SimGateway g : new SimGateway[] {a, b}) {
            Said after = turn(g, "", messages("More?"));
            assertEquals(409, after.http().statusCode());
            assertEquals("session_not_open", after.message().at("/error/code").asText());
            assertEquals(0, total(g));
        }
    }

    @Test
    void a_turn_without_history_is_not_guessed_at_by_the_other_gateway() throws Exception {
        start("STREAMING");
        turn(a, "open", messages(TASK));
        heard(a, b);
        Said there = turn(b, "", messages("Compare two of them."));
        assertEquals(409, there.http().statusCode());
        assertEquals("session_not_open", there.message().at("/error/code").asText());
        assertEquals(1, total(a), "nothing was taken away");
        assertEquals("kept;streaming", turn(a, "", messages("Compare two.")).session());
    }

    @Test
    void another_tenants_session_of_that_name_is_not_taken_over() throws Exception {
        start("STREAMING");
        ArrayNode said = messages(TASK);
        Said first = turn(a, "open", said);
        heard(a, b);
        said = then(said, first, "Mine?");
        Said other = SessionTurns.turn(b, true, "sub-1", "close", said, "rival");
        assertEquals(200, other.http().statusCode(), "as a request of no session");
        heard(b, a);
        assertEquals(1, total(a));
        assertEquals(0, counted(b, "adopted"));
    }

    @Test
    void the_gateway_that_has_it_ends_and_the_other_one_goes_on() throws Exception {
        start("STREAMING");
        ArrayNode said = messages(TASK);
        Said first = turn(b, "open", said);
        heard(b, a);
        b.close();
        b = null;
        await("closed by the gateway that ends").atMost(SOON).until(() -> openOnEngines() == 0);
        said = then(said, first, "Compare two of them.");
        Said second = turn(a, "", said);
        assertEquals(200, second.http().statusCode());
        assertEquals(first.worker(), second.worker());
        assertNotEquals("-", second.session());
    }

    @Test
    void the_gateway_that_has_it_is_silent_and_its_session_ends_by_itself() throws Exception {
        start("STREAMING");
        ArrayNode said = messages(TASK);
        Said first = SessionTurns.turn(a, true, "sub-1", "open", said, "acme", 2);
        heard(a, b);
        server.kill();
        said = then(said, first, "Compare two of them.");
        Said second = turn(b, "", said);
        assertEquals("reopened;streaming", second.session(), second.http()::body);
        assertEquals(first.worker(), second.worker());
        assertEquals("kept;streaming", turn(b, "", then(said, second, "So?")).session());
        await().atMost(SOON).until(() -> counted(a, "expired") == 1);
        await().atMost(SOON).until(() -> openOnEngines() == 0);
    }
}
