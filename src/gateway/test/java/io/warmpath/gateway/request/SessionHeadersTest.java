package io.warmpath.gateway.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayException;
import io.warmpath.session.AgentContext;
import io.warmpath.tokens.template.PromptInput;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SessionHeadersTest {
    private static final BodyEdits NO_EDITS =
            new BodyEdits(
                    0,
                    true,
                    false,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    BodyEdits.Answer.UNSAID,
                    List.of());

    static InferenceRequest request(AgentContext agent, String... headers) {
        return request("id", agent, headers);
    }

    static InferenceRequest request(String id, AgentContext agent, String... headers) {
        MultiMap map = MultiMap.caseInsensitiveMultiMap();
        for (int i = 0; i < headers.length; i += 2) {
            map.add(headers[i], headers[i + 1]);
        }
        return new InferenceRequest(
                new InferenceRequest.Received(id, "/v1/completions", map, Buffer.buffer("{}")),
                ModelName.plain("m"),
                new PromptInput.Text("hi"),
                InferenceRequest.CacheSalt.NONE,
                InferenceRequest.Routing.FREE,
                new RequestHints(0, 0, 0, "", false, null, null, null, agent, false, Set.of()),
                NO_EDITS,
                InferenceRequest.Form.WHOLE);
    }

    private static String of(String... headers) {
        InferenceRequest r = request(AgentContext.NONE, headers);
        return SessionHeaders.id(r) + " < " + SessionHeaders.parent(r);
    }

    @Test
    void each_agent_names_its_session_and_who_has_called_it() {
        assertEquals(
                "run < boss",
                of("X-Dynamo-Session-ID", " run ", "X-Dynamo-Parent-Session-ID", "boss"));
        assertEquals("s < ", of("x-claude-code-session-id", "s"));
        assertEquals("s/a < s", of("x-claude-code-session-id", "s", "x-claude-code-agent-id", "a"));
        assertEquals(
                "s/b < s/a",
                of(
                        "x-claude-code-session-id",
                        "s",
                        "x-claude-code-agent-id",
                        "b",
                        "x-claude-code-parent-agent-id",
                        "a"));
        assertEquals("t < p", of("thread-id", "t", "x-codex-parent-thread-id", "p"));
        assertEquals("o < p", of("x-session-id", "o", "x-parent-session-id", "p"));
        assertEquals(" < ", of());
    }

    @Test
    void dynamos_header_wins_over_an_agents_own_and_any_over_the_body() {
        AgentContext body = new AgentContext("body", "mother", true);
        InferenceRequest both =
                request(
                        body,
                        "x-session-id",
                        "open",
                        "x-dynamo-session-id",
                        "dynamo",
                        "x-parent-session-id",
                        "p");
        assertEquals("dynamo", SessionHeaders.id(both));
        assertEquals("p", SessionHeaders.parent(both));
        InferenceRequest bodyOnly = request(body);
        assertEquals("body", SessionHeaders.id(bodyOnly));
        assertEquals("mother", SessionHeaders.parent(bodyOnly));
        assertTrue(SessionHeaders.last(bodyOnly));
        assertFalse(SessionHeaders.last(request(body, "x-dynamo-session-final", "false")));
        assertTrue(SessionHeaders.last(request(AgentContext.NONE, "x-dynamo-session-final", "1")));
    }

    @Test
    void an_id_that_is_too_long_is_refused() {
        assertEquals(
                "x".repeat(256),
                SessionHeaders.checked(request(AgentContext.NONE, "thread-id", "x".repeat(256))));
        assertThrows(
                GatewayException.class,
                () ->
                        SessionHeaders.checked(
                                request(AgentContext.NONE, "thread-id", "x".repeat(257))));
    }
}
