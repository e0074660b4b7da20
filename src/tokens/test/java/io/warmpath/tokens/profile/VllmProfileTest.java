package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.tokens.jinja.TemplateException;
import org.junit.jupiter.api.Test;

class VllmProfileTest {
    private static String dump(String message) {
        return text(Chats.DUMP, "{'messages': [" + message + "]}");
    }

    private static String dumpParts(String message) {
        return text(Chats.DUMP_PARTS, "{'messages': [" + message + "]}");
    }

    private static String text(String template, String json) {
        return Chats.text(EngineProfile.VLLM, template, json);
    }

    private static String refused(String json) {
        return Chats.refused(EngineProfile.VLLM, Chats.DUMP, json);
    }

    private static String unpredictable(String template, String json) {
        return Chats.unpredictable(EngineProfile.VLLM, template, json);
    }

    private static String call(String arguments) {
        return "{'role': 'assistant', 'tool_calls': [{'type': 'function', 'index': 3, 'id': 'c1',"
                + " 'function': {'name': 'f', 'arguments': "
                + arguments
                + "}}]}";
    }

    private static String called(String arguments) {
        return "[{'role': 'assistant', 'content': '', 'tool_calls': [{'id': 'c1', 'function':"
                + " {'arguments': "
                + arguments
                + ", 'name': 'f'}, 'type': 'function'}]}]";
    }

    @Test
    void tool_call_arguments_are_parsed_and_the_keys_of_a_call_have_their_own_order() {
        assertEquals(
                called("{'b': [1, 2.0], 'a': None}").replace("None", "null"),
                dump(call("'{\\\"b\\\": [1, 2.0], \\\"a\\\": null}'")));
    }

    @Test
    void tool_call_arguments_that_are_not_json_or_no_object_are_an_empty_object() {
        for (String odd : new String[] {"''", "'{'", "'[1]'", "'3'", "'null'", "'{} x'"}) {
            assertEquals(called("{}"), dump(call(odd)), odd);
        }
    }

    @Test
    void tool_call_arguments_that_are_an_object_are_refused() {
        assertEquals(
                "messages[0].tool_calls[0].function.arguments",
                refused("{'messages': [" + call("{'a': 1}") + "]}"));
    }

    @Test
    void a_tool_call_without_an_id_or_of_another_type_is_refused() {
        assertEquals(
                "messages[0].tool_calls[0].id",
                refused(
                        "{'messages': [{'role': 'assistant', 'tool_calls': [{'type': 'function',"
                                + " 'function': {'name': 'f', 'arguments': '{}'}}]}]}"));
        assertEquals(
                "messages[0].tool_calls[0].type",
                refused("{'messages': [{'role': 'assistant', 'tool_calls': [{'id': 'c'}]}]}"));
    }

    @Test
    void an_empty_list_of_tool_calls_is_left_out() {
        assertEquals(
                "[{'role': 'assistant', 'content': 'a'}]",
                dump("{'role': 'assistant', 'content': 'a', 'tool_calls': []}"));
    }

    @Test
    void tools_keep_what_is_known_in_its_order_and_what_is_absent_is_null() {
        assertEquals(
                "[{'type': 'function', 'function': {'name': 'f', 'description': null, 'parameters':"
                        + " {'z': 1, 'a': 2}}}, {'type': 'function', 'function': {'name': 'g',"
                        + " 'description': 'd', 'parameters': null, 'strict': false}}]",
                text(
                        "{{ tools | tojson }}",
                        "{'messages': [{'role': 'user'}], 'tools': [{'x': 1, 'function':"
                                + " {'parameters': {'z': 1, 'a': 2}, 'y': 2, 'name': 'f'}, 'type':"
                                + " 'function'}, {'type': 'function', 'function': {'strict': false,"
                                + " 'description': 'd', 'name': 'g'}}]}"));
    }

    @Test
    void an_empty_list_of_tools_stays_one_whatever_the_choice() {
        assertEquals(
                "[]",
                text("{{ tools | tojson }}", "{'messages': [{'role': 'user'}], 'tools': []}"));
        assertEquals(
                "1None",
                text(
                        "{{ tools | length }}{{ documents }}",
                        "{'messages': [{'role': 'user'}], 'tools': [{'function': {'name': 'f'}}],"
                                + " 'tool_choice': 'none'}"));
        assertEquals(
                "tools[0].function.name",
                refused("{'messages': [{'role': 'user'}], 'tools': [{'function': {}}]}"));
    }

    @Test
    void text_parts_are_joined_with_a_newline_without_the_empty_ones() {
        assertEquals(
                "[{'role': 'user', 'content': 'a\\nb'}]",
                dump(
                        "{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'type':"
                                + " 'text', 'text': ''}, 'b']}"));
    }

    @Test
    void text_parts_stay_a_list_where_the_template_loops_over_them() {
        assertEquals(
                "[{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'text',"
                        + " 'text': ''}]}]",
                dumpParts(
                        "{'role': 'user', 'content': [{'text': 'a', 'x': 1, 'type': 'text'},"
                                + " {'type': 'text', 'text': ''}]}"));
    }

    @Test
    void results_of_tools_are_always_one_text() {
        String parts =
                "{'role': 'tool', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'text',"
                        + " 'text': ''}, {'type': 'text', 'text': 'b'}], 'tool_call_id': 'c'}";
        assertEquals("[{'role': 'tool', 'content': 'a\\nb', 'tool_call_id': 'c'}]", dump(parts));
        assertEquals(
                "[{'role': 'tool', 'content': 'a\\n\\nb', 'tool_call_id': 'c'}]", dumpParts(parts));
        assertEquals(
                "[{'role': 'tool', 'content': 'a'}]",
                dumpParts("{'role': 'tool', 'content': 'a'}"));
    }

    @Test
    void a_plain_text_becomes_a_list_of_one_part_where_the_template_loops_over_parts() {
        assertEquals(
                "[{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}]}]",
                dumpParts("{'content': 'a', 'role': 'user'}"));
    }

    @Test
    void a_macro_that_loops_over_the_content_it_is_handed_gets_a_list() {
        String template =
                "{% macro shown(c, role='') %}{{ role }}:{% for p in c %}<{{ p.text }}>{% endfor %}"
                        + "{% endmacro %}{% for m in messages %}CALL{% endfor %}";
        String chat = "{'messages': [{'role': 'user', 'content': 'a'}]}";
        for (String call :
                new String[] {
                    "{{ shown(m.content, m.role) }}",
                    "{{ shown(role=m.role, c=m.content) }}",
                    "{% set text = shown(m['content'], m.role) %}{{ text }}"
                }) {
            assertEquals("user:<a>", text(template.replace("CALL", call), chat), call);
        }
    }

    @Test
    void null_content_is_empty() {
        assertEquals(
                "[{'role': 'user', 'content': ''}]", dump("{'role': 'user', 'content': null}"));
        assertEquals("[{'role': 'user', 'content': []}]", dumpParts("{'role': 'user'}"));
    }

    @Test
    void reasoning_has_both_names_and_other_members_are_dropped() {
        assertEquals(
                "[{'role': 'assistant', 'content': 'a', 'reasoning': 'r', 'reasoning_content':"
                        + " 'r'}]",
                dump("{'reasoning_content': 'r', 'role': 'assistant', 'content': 'a', 'x': 1}"));
        assertEquals(
                "[{'role': 'assistant', 'content': 'a', 'reasoning': 'q', 'reasoning_content':"
                        + " 'q'}]",
                dump(
                        "{'role': 'assistant', 'content': 'a', 'reasoning_content': 'r',"
                                + " 'reasoning': 'q'}"));
        assertEquals(
                "[{'role': 'user', 'content': 'a'}]",
                dump("{'role': 'user', 'content': 'a', 'reasoning': 'q', 'refusal': 'no'}"));
    }

    private static final String DEVELOPER =
            "{'messages': [{'role': 'system', 'content': 'S', 'name': 'n'}, {'role': 'user',"
                    + " 'content': 'U'}, {'role': 'developer', 'content': [{'type': 'text',"
                    + " 'text': 'D'}, {'type': 'text', 'text': 'E'}]}]}";

    @Test
    void developers_are_systems_and_all_systems_one_first_message() {
        String merged =
                "[{'role': 'system', 'content': 'S\\n\\nD\\nE'}, {'role': 'user', 'content': ";
        assertEquals(merged + "'U'}]", text(Chats.DUMP, DEVELOPER));
        assertEquals(
                merged + "[{'type': 'text', 'text': 'U'}]}]", text(Chats.DUMP_PARTS, DEVELOPER));
    }

    @Test
    void a_first_developer_alone_is_a_system_message_as_it_is() {
        assertEquals(
                "[{'role': 'system', 'content': 'D', 'name': 'n'}, {'role': 'user', 'content':"
                        + " 'U'}]",
                dump(
                        "{'role': 'developer', 'content': 'D', 'name': 'n'}, {'role': 'user',"
                                + " 'content': 'U'}"));
    }

    @Test
    void developers_stay_where_the_template_mentions_them() {
        assertEquals(
                "[{'role': 'system', 'content': 'S', 'name': 'n'}, {'role': 'user', 'content':"
                        + " 'U'}, {'role': 'developer', 'content': 'D\\nE', 'tools': null}]",
                text(Chats.DUMP + "{% if 'developer' == 1 %}{% endif %}", DEVELOPER));
    }

    @Test
    void several_system_messages_without_a_developer_stay_several() {
        assertEquals(
                "[{'role': 'user', 'content': 'U'}, {'role': 'system', 'content': 'S'}]",
                dump("{'role': 'user', 'content': 'U'}, {'role': 'system', 'content': 'S'}"));
    }

    @Test
    void names_are_kept() {
        assertEquals(
                "[{'role': 'user', 'content': 'a', 'name': 'n'}]",
                dump("{'name': 'n', 'role': 'user', 'content': 'a'}"));
    }

    @Test
    void roles_are_passed_on() {
        assertEquals(
                "[{'role': 'Critic', 'content': 'a'}]", dump("{'role': 'Critic', 'content': 'a'}"));
    }

    @Test
    void the_generation_prompt_is_the_requests() {
        String ask = "{{ add_generation_prompt }}";
        String user = "{'messages': [{'role': 'user', 'content': 'a'}]";
        assertEquals("True", text(ask, user + "}"));
        assertEquals("False", text(ask, user + ", 'add_generation_prompt': false}"));
        assertEquals(
                "True",
                text(ask, user + ", 'chat_template_kwargs': {'add_generation_prompt': false}}"));
    }

    @Test
    void a_last_message_of_the_assistant_stays_as_it_is() {
        assertEquals(
                "[{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'b'}]",
                dump("{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'b'}"));
    }

    @Test
    void a_final_message_is_continued_only_without_a_generation_prompt() {
        String chat =
                "{'messages': [{'role': 'assistant', 'content': 'Hel'}], 'continue_final_message':"
                        + " true";
        String template = "{% for m in messages %}<{{ m.content }}>{% endfor %}";
        assertEquals("<Hel", text(template, chat + ", 'add_generation_prompt': false}"));
        assertEquals("continue_final_message", refused(chat + ", 'add_generation_prompt': true}"));
        assertThrows(TemplateException.class, () -> text(template, chat + "}"));
    }

    @Test
    void a_template_gets_only_the_arguments_that_it_mentions() {
        assertEquals(
                "1<t>[{'a': 'b'}]",
                text(
                        "{{ x }}{{ bos_token }}{{ documents | tojson }}",
                        "{'messages': [{'role': 'user'}], 'chat_template_kwargs': {'x': 1, 'y': 2,"
                                + " 'bos_token': '<t>', 'documents': [{'a': 'b'}]}}"));
        for (String name : new String[] {"chat_template", "tokenize", "messages", "tools"}) {
            assertEquals(
                    "chat_template_kwargs." + name,
                    refused(
                            "{'messages': [{'role': 'user'}], 'chat_template_kwargs': {'"
                                    + name
                                    + "': 'x'}}"));
        }
    }

    @Test
    void documents_hold_texts() {
        String chat = "{'messages': [{'role': 'user'}], 'chat_template_kwargs': {'documents': []},";
        assertEquals(
                "[{'title': 't'}]",
                text("{{ documents | tojson }}", chat + "'documents': [{'title': 't'}]}"));
        assertEquals("documents[0].n", refused(chat + "'documents': [{'n': 1}]}"));
    }

    @Test
    void the_reasoning_effort_is_an_argument_and_switches_thinking_where_the_arguments_do_not() {
        String chat = "{'messages': [{'role': 'user'}], 'reasoning_effort': 'low'";
        assertEquals("low", text("{{ reasoning_effort }}", chat + "}"));
        String both = "{{ reasoning_effort }}{{ enable_thinking }}";
        assertEquals(
                "lowFalse",
                text(both, chat + ", 'chat_template_kwargs': {'enable_thinking': false}}"));
        assertEquals("lowTrue", text(both, chat + "}"));
        assertEquals("noneFalse", text(both, chat.replace("low", "none") + "}"));
    }

    @Test
    void media_are_not_predicted_and_unknown_parts_refused() {
        assertEquals(
                "content part image_url",
                unpredictable(
                        Chats.DUMP,
                        "{'messages': [{'role': 'user', 'content': [{'type': 'image_url'}]}]}"));
        assertEquals(
                "messages[0].content[0].type",
                refused("{'messages': [{'role': 'user', 'content': [{'type': 'x'}]}]}"));
        assertEquals("messages[1].role", refused("{'messages': [{'role': 'user'}, {}]}"));
        assertEquals("messages[0].content", refused("{'messages': [{'role': 'a', 'content': 1}]}"));
    }
}
