package io.warmpath.gateway.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** The last engine's prompt ends with the three tokens that the first one made. */
class JoinedUsageTest {
    private static JsonObject joined(JoinedUsage usage, String chunk) {
        JsonObject json = new JsonObject(chunk.replace('\'', '"'));
        usage.join(json);
        return json;
    }

    private static final String REPORT =
            "{'usage':{'prompt_tokens':43,'completion_tokens':5,'total_tokens':48,"
                    + "'prompt_tokens_details':{'cached_tokens':42,'created_cache_tokens':1}}}";

    private static JsonObject usage(int prompt, int completion, int cached) {
        return new JsonObject()
                .put("prompt_tokens", prompt)
                .put("completion_tokens", completion)
                .put("total_tokens", prompt + completion)
                .put("prompt_tokens_details", new JsonObject().put("cached_tokens", cached));
    }

    @Test
    void what_the_last_engine_found_cached_is_not_the_clients() {
        assertEquals(
                usage(40, 8, 0), joined(new JoinedUsage(3, 40, -1), REPORT).getJsonObject("usage"));
    }

    @Test
    void what_the_first_engine_reported_is() {
        assertEquals(
                usage(40, 8, 16),
                joined(new JoinedUsage(3, 40, 16), REPORT).getJsonObject("usage"));
        assertEquals(
                usage(40, 8, 40),
                joined(new JoinedUsage(3, 40, 64), REPORT).getJsonObject("usage"));
    }

    @Test
    void without_a_tokenizer_the_answers_tokens_are_taken_off_the_prompt() {
        assertEquals(
                usage(40, 8, 0), joined(new JoinedUsage(3, 0, -1), REPORT).getJsonObject("usage"));
    }

    @Test
    void engines_that_tell_no_details_stay_without() {
        JsonObject bare =
                joined(
                        new JoinedUsage(3, 40, 16),
                        "{'usage':{'prompt_tokens':43,'completion_tokens':5,"
                                + "'total_tokens':48,'prompt_tokens_details':null}}");
        assertEquals(usage(40, 8, 0).putNull("prompt_tokens_details"), bare.getJsonObject("usage"));
    }

    @Test
    void its_tiers_are_not_told_either() {
        assertEquals(
                new JsonObject("{\"choices\":[],\"sglext\":{}}"),
                joined(
                        new JoinedUsage(3, 40, -1),
                        "{'choices':[],'sglext':{'cached_tokens_details':{'device':42}}}"));
    }
}
