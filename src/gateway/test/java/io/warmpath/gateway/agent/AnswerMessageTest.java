package io.warmpath.gateway.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AnswerMessageTest {
    private static AnswerMessage stream(String... data) {
        StringBuilder b = new StringBuilder(": a comment\r\n\r\n");
        for (String d : data) {
            b.append("data: ").append(d).append("\r\n\r\n");
        }
        return AnswerMessage.read(
                b.append("data: [DONE]\n\n").toString().getBytes(StandardCharsets.UTF_8), true);
    }

    private static String delta(String members) {
        return "{\"choices\":[{\"index\":0,\"delta\":{" + members + "},\"finish_reason\":null}]}";
    }

    private static Map<String, Object> call(String id, String name, String arguments) {
        return Map.of(
                "id",
                id,
                "type",
                "function",
                "function",
                Map.of("name", name, "arguments", arguments));
    }

    @Test
    void text_is_joined_and_reasoning_goes_along_where_it_has_a_name() {
        AnswerMessage m =
                stream(
                        delta("\"role\":\"assistant\",\"content\":\"\""),
                        delta("\"reasoning_content\":\"hm\",\"content\":null"),
                        delta("\"content\":\"grü\""),
                        delta("\"content\":\"ß\\n\""),
                        "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}");
        assertEquals(Map.of("role", "assistant", "content", "grüß\n"), m.asMessage(null));
        assertEquals(
                Map.of("role", "assistant", "content", "grüß\n", "reasoning", "hm"),
                m.asMessage("reasoning"));
        assertEquals(Map.of("role", "user", "content", "x"), m.reply("x"));
    }

    @Test
    void tool_calls_are_put_together_in_their_order() {
        AnswerMessage m =
                stream(
                        delta(
                                "\"tool_calls\":[{\"index\":0,\"id\":\"c0\",\"type\":\"function\","
                                        + "\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]"),
                        delta(
                                "\"tool_calls\":[{\"index\":1,\"id\":\"c1\","
                                        + "\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]"),
                        delta(
                                "\"tool_calls\":[{\"index\":0,"
                                        + "\"function\":{\"arguments\":\"{\\\"a\\\":1}\"}}]"));
        assertEquals(
                List.of(call("c0", "f", "{\"a\":1}"), call("c1", "g", "{}")),
                m.asMessage(null).get("tool_calls"));
        assertEquals("c0", m.reply("x").get("tool_call_id"));
        assertEquals("tool", m.reply("x").get("role"));
    }

    @Test
    void a_whole_document_is_read_as_well() {
        AnswerMessage m =
                AnswerMessage.read(
                        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}]}"
                                .getBytes(StandardCharsets.UTF_8),
                        false);
        assertEquals("hi", m.asMessage(null).get("content"));
    }

    @Test
    void what_is_no_single_message_is_none() {
        assertNull(stream(delta("\"content\":\"\"")));
        assertNull(stream("{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}"));
        assertNull(stream(delta("\"content\":7")));
        assertNull(stream("{cut"));
        assertNull(AnswerMessage.read(new byte[] {'<'}, false));
    }
}
