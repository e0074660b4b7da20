package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import io.warmpath.tokens.jinja.TemplateFacts;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
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
    void an_unknown_engine_gets_what_both_render_for_every_row_of_the_table() throws IOException {
        ObjectMapper json = new ObjectMapper();
        int same = 0;
        int different = 0;
        for (String line :
                Files.readAllLines(Path.of("src/test/resources/templates/engines.jsonl"))) {
            JsonNode row = json.readTree(line);
            String template = row.at("/line/template").textValue();
            ChatRequest chat = Chats.exactly(row.get("line").toString());
            String vllm = outcome(EngineProfile.VLLM, template, chat);
            String sglang = outcome(EngineProfile.SGLANG, template, chat);
            String any = outcome(EngineProfile.ANY, template, chat);
            if (vllm.equals(sglang)) {
                same++;
                assertEquals(vllm, any, line);
            } else {
                different++;
                assertTrue(any.equals(vllm) || any.contains("engines differ"), line + any);
                assertFalse(any.startsWith("Text"), line);
            }
        }
        assertTrue(same > 10 && different > 10, same + " and " + different);
    }

    private static String outcome(EngineProfile engine, String template, ChatRequest chat) {
        try {
            return Chats.render(engine, template, chat).toString();
        } catch (TemplateException e) {
            return "failed: " + e.getMessage();
        }
    }

    @Test
    void objects_whose_members_stand_in_another_order_are_not_the_same_input() {
        Map<String, Object> one = new LinkedHashMap<>();
        one.put("a", 1);
        one.put("b", List.of(2));
        Map<String, Object> other = new LinkedHashMap<>();
        other.put("b", List.of(2));
        other.put("a", 1);
        assertEquals(one, other);
        assertFalse(SameTrees.sameTree(List.of(one), List.of(other)));
        assertTrue(SameTrees.sameTree(List.of(one), List.of(new LinkedHashMap<>(one))));
        assertFalse(SameTrees.sameTree(Map.of("a", 1), Map.of("a", 1.0)));
        assertFalse(SameTrees.sameTree(Map.of("a", 1), Map.of("a", true)));
        assertFalse(SameTrees.sameTree(List.of(1), List.of(1, 2)));
        assertFalse(SameTrees.sameTree(null, List.of()));
        assertTrue(SameTrees.sameTree(null, null));
    }

    @Test
    void a_profile_knows_the_patches_and_builds_of_its_version() {
        for (String own : List.of("0.33", "0.33.0", "v0.33.1", "0.33.2.dev5+g1a2b3c", "0.33rc1")) {
            assertTrue(EngineProfile.VLLM.isWrittenFor(own), own);
        }
        for (String other : List.of("", "0.3", "0.32.0", "0.330.1", "1.0.33", "dev")) {
            assertFalse(EngineProfile.VLLM.isWrittenFor(other), other);
        }
        assertTrue(EngineProfile.SGLANG.isWrittenFor("0.5.23.post1"));
        assertFalse(EngineProfile.SGLANG.isWrittenFor("0.5.2"));
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
    void vllm_takes_a_loop_over_a_variable_content_for_one_outside_of_macros() {
        String loop = "{% for c in content %}{% endfor %}";
        assertEquals(true, vllm(loop));
        assertEquals(false, sglang(loop));
        String macro = "{% macro f(content) %}" + loop + "{% endmacro %}";
        assertEquals(false, vllm(macro));
        String called = "{% for x in messages %}{{ f(x.content) }}{% endfor %}";
        assertEquals(true, vllm(macro + called));
        assertEquals(false, sglang(macro + called));
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
                ArgumentsJson.parse(
                        " {\"b\": \"x\", \"a\": [1, -5e-1, true, null], \"b\":"
                                + " \"\\n\\u00e9\\ud83d\\ude00\"} ",
                        ArgumentsJson.Library.PYTHON));
        BigInteger huge = BigInteger.TEN.pow(30);
        assertEquals(huge, ArgumentsJson.parse(huge.toString(), ArgumentsJson.Library.PYTHON));
        assertEquals(1e30, ArgumentsJson.parse(huge.toString(), ArgumentsJson.Library.ORJSON));
        assertEquals(
                Double.NEGATIVE_INFINITY,
                ArgumentsJson.parse("-Infinity", ArgumentsJson.Library.PYTHON));
        assertEquals("\ud800", ArgumentsJson.parse("\"\\ud800\"", ArgumentsJson.Library.PYTHON));
        for (String bad : List.of("NaN", "\"\\ud800\"", "1e999")) {
            assertThrows(
                    ArgumentsJson.NotJson.class,
                    () -> ArgumentsJson.parse(bad, ArgumentsJson.Library.ORJSON),
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
            for (ArgumentsJson.Library library : ArgumentsJson.Library.values()) {
                assertThrows(
                        ArgumentsJson.NotJson.class, () -> ArgumentsJson.parse(bad, library), bad);
            }
        }
        assertThrows(
                NotRendered.class,
                () -> ArgumentsJson.parse("[".repeat(300), ArgumentsJson.Library.PYTHON));
    }
}
