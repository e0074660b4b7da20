package io.warmpath.gateway.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.gateway.request.GatewayJson;
import org.junit.jupiter.api.Test;

/** The last engine's prompt ends with the three tokens that the first one made. */
class JoinedUsageTest {
    private static ObjectNode joined(JoinedUsage usage, String chunk) {
        ObjectNode json = (ObjectNode) GatewayJson.tree(chunk.replace('\'', '"'));
        usage.join(json);
        return json;
    }

    private static final String REPORT =
            "{'usage':{'prompt_tokens':43,'completion_tokens':5,'total_tokens':48,"
                    + "'prompt_tokens_details':{'cached_tokens':42,'created_cache_tokens':1}}}";

    private static ObjectNode usage(int prompt, int completion, long cached) {
        ObjectNode usage =
                GatewayJson.object()
                        .put("prompt_tokens", prompt)
                        .put("completion_tokens", completion)
                        .put("total_tokens", prompt + completion);
        usage.putObject("prompt_tokens_details").put("cached_tokens", cached);
        return usage;
    }

    @Test
    void what_the_last_engine_found_cached_is_not_the_clients() {
        assertEquals(usage(40, 8, 0), joined(new JoinedUsage(3, 40, -1), REPORT).get("usage"));
    }

    @Test
    void what_the_first_engine_reported_is() {
        assertEquals(usage(40, 8, 16), joined(new JoinedUsage(3, 40, 16), REPORT).get("usage"));
        assertEquals(usage(40, 8, 40), joined(new JoinedUsage(3, 40, 64), REPORT).get("usage"));
    }

    @Test
    void without_a_tokenizer_the_answers_tokens_are_taken_off_the_prompt() {
        assertEquals(usage(40, 8, 0), joined(new JoinedUsage(3, 0, -1), REPORT).get("usage"));
    }

    @Test
    void engines_that_tell_no_details_stay_without() {
        ObjectNode bare =
                joined(
                        new JoinedUsage(3, 40, 16),
                        "{'usage':{'prompt_tokens':43,'completion_tokens':5,"
                                + "'total_tokens':48,'prompt_tokens_details':null}}");
        assertEquals(usage(40, 8, 0).putNull("prompt_tokens_details"), bare.get("usage"));
    }

    @Test
    void its_tiers_are_not_told_either() {
        assertEquals(
                GatewayJson.tree("{\"choices\":[],\"sglext\":{}}"),
                joined(
                        new JoinedUsage(3, 40, -1),
                        "{'choices':[],'sglext':{'cached_tokens_details':{'device':42}}}"));
    }
}
