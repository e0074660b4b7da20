package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateFacts;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProfilesTest {
    @Test
    void an_unknown_engine_gets_a_prompt_only_where_all_agree() {
        String template = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}";
        assertEquals(
                "system:s;user:u;",
                Chats.text(
                        EngineProfile.ANY,
                        template,
                        "{'messages': [{'role': 'system', 'content': 's'}, {'role': 'user',"
                                + " 'content': 'u'}]}"));
        assertEquals(
                "engines differ on this chat",
                Chats.unpredictable(
                        EngineProfile.ANY,
                        template,
                        "{'messages': [{'role': 'assistant', 'content': 'a'}]}"));
    }

    @Test
    void without_an_engine_the_request_reaches_the_template_as_it_is() {
        assertEquals(
                "[{'x': 1, 'role': 'assistant'}]FalseNone",
                Chats.text(
                        EngineProfile.NONE,
                        Chats.DUMP + "{{ add_generation_prompt }}{{ tools }}",
                        "{'messages': [{'x': 1, 'role': 'assistant'}]}"));
    }

    private static TemplateFacts facts(String source) {
        return Template.compile(source).facts();
    }

    private static boolean vllm(String source) {
        return facts(source).vllmParts();
    }

    private static boolean sglang(String source) {
        return facts(source).sglangParts();
    }

    private static String loop(String over) {
        return "{% for message in messages %}{% if message.role %}{% for c in "
                + over
                + " %}{{ c }}{% endfor %}{% endif %}{% endfor %}";
    }

    @Test
    void both_engines_see_a_loop_over_the_content_through_slices_filters_and_tests() {
        for (String over :
                List.of(
                        "message.content",
                        "message['content']",
                        "message.content[1:]",
                        "message.content | list",
                        "message.content is iterable")) {
            assertEquals(true, vllm(loop(over)), over);
            assertEquals(true, sglang(loop(over)), over);
        }
        for (String over : List.of("message.get('content')", "message.parts", "other.content")) {
            assertEquals(false, vllm(loop(over)), over);
            assertEquals(false, sglang(loop(over)), over);
        }
    }

    @Test
    void vllm_follows_the_name_of_the_message_and_of_the_messages() {
        String any =
                "{% set rest = messages[1:] %}{% set more = rest %}{% for x in more %}{% for c in"
                        + " x.content %}{% endfor %}{% endfor %}";
        assertEquals(true, vllm(any));
        assertEquals(false, sglang(any));
        assertEquals(
                false,
                vllm("{% for x in others %}{% for c in x.content %}{% endfor %}{% endfor %}"));
    }

    @Test
    void sglang_looks_at_the_names_alone() {
        for (String name : List.of("message", "msg", "m")) {
            String macro =
                    "{% macro f("
                            + name
                            + ") %}{% for c in "
                            + name
                            + ".content %}{% endfor %}"
                            + "{% endmacro %}";
            assertEquals(true, sglang(macro), name);
            assertEquals(false, vllm(macro), name);
        }
    }

    @Test
    void vllm_takes_a_loop_over_a_variable_content_for_one_too() {
        String macro = "{% macro f(content) %}{% for c in content %}{% endfor %}{% endmacro %}";
        assertEquals(true, vllm(macro));
        assertEquals(false, sglang(macro));
    }

    @Test
    void vllm_gives_up_at_a_target_that_is_no_name() {
        String parts = loop("message.content");
        assertEquals(true, vllm(parts));
        assertEquals(false, vllm("{% set ns.n = messages | length %}" + parts));
        assertEquals(false, vllm("{% for a, b in messages %}{% endfor %}" + parts));
        assertEquals(false, vllm(loop("message.content").replace("for c in", "for c, d in")));
    }

    @Test
    void the_variables_and_the_role_of_a_developer_are_seen() {
        TemplateFacts facts =
                facts(
                        "{% macro f(x=limit) %}{{ a.b[c] }}{% endmacro %}{% set d = e is"
                                + " defined %}{% if g == 'developer' %}{% endif %}{{ 'h' }}");
        assertEquals(true, facts.developer());
        for (String name : List.of("limit", "a", "c", "e", "g")) {
            assertEquals(true, facts.variables().contains(name), name);
        }
        assertEquals(false, facts.variables().contains("h"));
        assertEquals(false, facts("{# developer #}").developer());
    }

    @Test
    void models_whose_prompts_are_made_by_code_are_recognised_for_each_engine() {
        assertCode(new ModelFacts("gpt_oss", List.of(), false), "Harmony", null);
        assertCode(new ModelFacts("", List.of("GptOssForCausalLM"), false), "Harmony", null);
        assertCode(
                new ModelFacts("deepseek_v32", List.of(), false), "DeepSeek V3.2", "DeepSeek V3.2");
        assertCode(
                new ModelFacts("x", List.of("DeepseekV4ForCausalLM"), false),
                "DeepSeek V4",
                "DeepSeek V4");
        assertCode(new ModelFacts("kimi_k3", List.of(), false), "Kimi K3", "Kimi K3");
        assertCode(new ModelFacts("mistral", List.of(), true), "mistral-common", null);
        assertCode(new ModelFacts("cohere2", List.of(), false), "Cohere", null);
        assertCode(new ModelFacts("mistral", List.of(), false), null, null);
        assertCode(
                new ModelFacts("deepseek_v3", List.of("DeepseekV3ForCausalLM"), false), null, null);
        assertCode(ModelFacts.UNKNOWN, null, null);
    }

    private static void assertCode(ModelFacts model, String vllm, String sglang) {
        assertEquals(Optional.ofNullable(vllm), model.renderedByCode(EngineProfile.VLLM));
        assertEquals(Optional.ofNullable(sglang), model.renderedByCode(EngineProfile.SGLANG));
        assertEquals(Optional.empty(), model.renderedByCode(EngineProfile.NONE));
        assertEquals(Optional.ofNullable(vllm), model.renderedByCode(EngineProfile.ANY));
    }

    @Test
    void json_inside_of_texts_is_read_as_each_engines_library_reads_it() throws Exception {
        assertEquals(
                Map.of(
                        "a",
                        Arrays.asList(BigInteger.ONE, -0.5, true, null),
                        "b",
                        "\n\u00e9\ud83d\ude00"),
                JsonText.parse(
                        " {\"b\": \"x\", \"a\": [1, -5e-1, true, null], \"b\":"
                                + " \"\\n\\u00e9\\ud83d\\ude00\"} ",
                        JsonText.Library.PYTHON));
        BigInteger huge = BigInteger.TEN.pow(30);
        assertEquals(huge, JsonText.parse(huge.toString(), JsonText.Library.PYTHON));
        assertEquals(1e30, JsonText.parse(huge.toString(), JsonText.Library.ORJSON));
        assertEquals(
                Double.NEGATIVE_INFINITY, JsonText.parse("-Infinity", JsonText.Library.PYTHON));
        assertEquals("\ud800", JsonText.parse("\"\\ud800\"", JsonText.Library.PYTHON));
        for (String bad : List.of("NaN", "\"\\ud800\"", "1e999")) {
            assertThrows(
                    JsonText.NotJson.class,
                    () -> JsonText.parse(bad, JsonText.Library.ORJSON),
                    bad);
        }
        for (String bad :
                List.of(
                        "",
                        "{",
                        "[1,]",
                        "{\"a\":}",
                        "{a:1}",
                        "01",
                        "1.",
                        ".5",
                        "+1",
                        "\"\t\"",
                        "\"\\x\"",
                        "'a'",
                        "tru",
                        "1 2",
                        "\"",
                        "{\"a\" 1}",
                        "\ufeff{}")) {
            for (JsonText.Library library : JsonText.Library.values()) {
                assertThrows(JsonText.NotJson.class, () -> JsonText.parse(bad, library), bad);
            }
        }
        assertThrows(
                NotRendered.class, () -> JsonText.parse("[".repeat(300), JsonText.Library.PYTHON));
    }
}
