package io.warmpath.api.hints;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.Objectives;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.session.AgentContext;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AgentHintsTest {
    private static final Objectives OBJECTIVES =
            name ->
                    switch (name) {
                        case "premium" -> 100;
                        case "batch" -> -1;
                        default -> null;
                    };

    private static RequestHints hints(String agentHints, String... headers) {
        return hints(OBJECTIVES, agentHints, headers);
    }

    private static RequestHints hints(Objectives objectives, String agentHints, String... headers) {
        MultiMap map = MultiMap.caseInsensitiveMultiMap();
        for (int i = 0; i < headers.length; i += 2) {
            map.add(headers[i], headers[i + 1]);
        }
        String body =
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                        + "\"nvext\":{\"agent_hints\":"
                        + agentHints
                        + "}}";
        return RequestParser.parse(
                        RequestParser.Endpoint.CHAT,
                        "r",
                        "/",
                        map,
                        Buffer.buffer(body),
                        new RequestParser.Terms(false, true, false, objectives))
                .hints();
    }

    private static RequestHints hints(
            int priority, int strict, int osl, String policyClass, boolean prefill) {
        return new RequestHints(
                priority,
                strict,
                osl,
                policyClass,
                prefill,
                priority,
                null,
                null,
                AgentContext.NONE,
                false,
                Set.of());
    }

    @Test
    void hints_are_read_and_others_are_stepped_over() {
        assertEquals(
                hints(-5, 2, 300, "", true),
                hints(
                        "{\"priority\":-5,\"x\":[{}],\"strict_priority\":2,\"osl\":300,"
                                + "\"speculative_prefill\":true}"));
        assertEquals(RequestHints.NONE, hints("{}"));
        assertEquals(RequestHints.NONE, hints("null"));
    }

    @Test
    void latency_sensitivity_is_the_old_name_of_priority() {
        RequestHints old = hints("{\"latency_sensitivity\":1.5}");
        assertEquals(1.5, old.priority());
        assertNull(old.enginePriority(), "it moves a request here only");
        assertEquals(7, hints("{\"priority\":7,\"latency_sensitivity\":1.5}").priority());
    }

    @Test
    void a_header_wins() {
        RequestHints h =
                hints(
                        "{\"priority\":7,\"strict_priority\":1}",
                        "X-Dynamo-Request-Priority",
                        "9",
                        "X-Dynamo-Request-Strict-Priority",
                        "3",
                        "X-Dynamo-Meta-Policy-Class",
                        "batch");
        assertEquals(hints(9, 3, 0, "batch", false), h);
    }

    @Test
    void an_objective_is_its_priority() {
        String premium = "x-gateway-inference-objective";
        assertEquals(hints(100, 0, 0, "", false), hints("{}", premium, "premium"));
        assertEquals(-1, hints("{}", "X-LLM-D-Inference-Objective", "batch").enginePriority());
        assertEquals(100, hints("{\"priority\":7}", premium, " premium ").enginePriority());
        assertEquals(
                100,
                hints("{}", premium, "premium", "x-dynamo-request-priority", "9").enginePriority());
        assertEquals(
                -1,
                hints("{}", premium, "premium", "x-llm-d-inference-objective", "batch")
                        .enginePriority(),
                "the newer name of the header counts");
    }

    @Test
    void an_objective_that_nobody_knows_says_nothing() {
        assertEquals(7, hints("{\"priority\":7}", "x-gateway-inference-objective", "x").priority());
        assertEquals(RequestHints.NONE, hints("{}", "x-gateway-inference-objective", "x"));
        assertEquals(
                RequestHints.NONE,
                hints(Objectives.NONE, "{}", "x-gateway-inference-objective", "premium"));
    }

    @Test
    void a_wrong_hint_is_named() {
        for (String wrong :
                new String[] {
                    "{\"osl\":-1}",
                    "{\"osl\":1.5}",
                    "{\"strict_priority\":-1}",
                    "{\"priority\":\"high\"}",
                    "{\"speculative_prefill\":1}",
                    "{\"latency_sensitivity\":true}"
                }) {
            GatewayException e = assertThrows(GatewayException.class, () -> hints(wrong));
            assertTrue(e.error().message().contains("nvext.agent_hints."), e.error().message());
        }
        GatewayException e =
                assertThrows(
                        GatewayException.class,
                        () -> hints("{}", "x-dynamo-request-priority", "soon"));
        assertTrue(e.error().message().contains("x-dynamo-request-priority"));
        assertThrows(
                GatewayException.class,
                () -> hints("{}", "x-dynamo-request-strict-priority", "-1"));
        assertThrows(GatewayException.class, () -> hints("[]"));
    }
}
