package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.tokens.jinja.TemplateException;
import org.junit.jupiter.api.Test;

class SglangProfileTest {
    private static final String USER = "{'role': 'user', 'content': 'u'}";

    /** The last message is a user's, so that the others stay what they are. */
    private static String dump(String message) {
        return first(text(Chats.DUMP, "{'messages': [" + message + ", " + USER + "]}"));
    }

    private static String dumpParts(String message) {
        return first(text(Chats.DUMP_PARTS, "{'messages': [" + message + ", " + USER + "]}"));
    }

    private static String first(String messages) {
        String end = ", " + USER + "]";
        assertEquals(end, messages.substring(messages.length() - end.length()));
        return messages.substring(1, messages.length() - end.length());
    }

    private static String text(String template, String json) {
        return Chats.text(EngineProfile.SGLANG, template, json);
    }

    private static String refused(String json) {
        return Chats.refused(EngineProfile.SGLANG, Chats.DUMP, json);
    }

    private static String unpredictable(String template, String json) {
        return Chats.unpredictable(EngineProfile.SGLANG, template, json);
    }

    private static String call(String arguments) {
        return "{'role': 'assistant', 'tool_calls': [{'function': {'arguments': "
                + arguments
                + ", 'name': 'f', 'x': 1}, 'type': 'function'}]}";
    }

    private static String called(String arguments) {
        return "{'role': 'assistant', 'content': '', 'tool_calls': [{'id': null, 'index': null,"
                + " 'type': 'function', 'function': {'name': 'f', 'arguments': "
                + arguments
                + "}}]}";
    }

    @Test
    void tool_call_arguments_are_a_text_or_an_object_and_the_keys_of_a_call_have_their_own_order() {
        assertEquals(called("{'a': 1}"), dump(call("'{\\\"a\\\": 1}'")));
        assertEquals(called("{'a': 1}"), dump(call("{'a': 1}")));
        assertEquals(called("null"), dump(call("null")));
    }

    @Test
    void tool_call_arguments_that_are_no_json_object_are_refused() {
        for (String odd : new String[] {"''", "'{'", "'[1]'", "'3'", "'{\\\"a\\\": NaN}'"}) {
            assertEquals(
                    "messages[0].tool_calls[0].function.arguments",
                    refused("{'messages': [" + call(odd) + "]}"),
                    odd);
        }
    }

    private static String tools(String rest) {
        return text("{{ tools | tojson }}", "{'messages': [" + USER + "], " + rest + "}");
    }

    @Test
    void tools_keep_their_order_and_what_is_absent_is_null_and_last() {
        assertEquals(
                "[{'type': 'function', 'function': {'parameters': {'z': 1}, 'name': 'f',"
                        + " 'description': null}, 'defer_loading': null}, {'type': 'function',"
                        + " 'function': {'name': 'g', 'description': null, 'parameters': null},"
                        + " 'defer_loading': null}]",
                tools(
                        "'tools': [{'x': 1, 'function': {'parameters': {'z': 1}, 'y': 2, 'name':"
                                + " 'f'}, 'type': 'function'}, {'function': {'name': 'g'}}]"));
    }

    @Test
    void no_tools_are_given_when_the_list_is_empty_or_none_may_be_called() {
        assertEquals("null", tools("'tools': []"));
        String two = "'tools': [{'function': {'name': 'f'}}, {'function': {'name': 'g'}}]";
        assertEquals("null", tools(two + ", 'tool_choice': 'none'"));
        assertEquals(
                "[{'type': 'function', 'function': {'name': 'g', 'description': null,"
                        + " 'parameters': null}, 'defer_loading': null}]",
                tools(two + ", 'tool_choice': {'function': {'name': 'g'}}"));
    }

    @Test
    void after_a_failure_of_the_template_it_is_tried_with_the_bare_functions() {
        String chat = "{'messages': [" + USER + "], 'tools': [{'function': {'name': 'f'}}]}";
        assertEquals(
                "f",
                text(
                        "{{ raise_exception('wrapped') if tools[0].function else tools[0].name }}",
                        chat));
        TemplateException words =
                assertThrows(
                        TemplateException.class,
                        () -> text("{{ raise_exception(tools[0].name or 'first') }}", chat));
        assertEquals("f", words.getMessage());
    }

    @Test
    void text_parts_are_joined_with_a_blank() {
        assertEquals(
                "{'role': 'system', 'content': 'a  b', 'name': 'n'}",
                dump(
                        "{'role': 'system', 'name': 'n', 'content': [{'type': 'text', 'text':"
                                + " 'a'}, {'type': 'text', 'text': ''}, {'type': 'text', 'text':"
                                + " 'b'}]}"));
    }

    @Test
    void a_list_of_parts_stays_one_behind_all_other_members_where_the_template_loops_over_it() {
        assertEquals(
                "{'role': 'system', 'name': 'n', 'content': [{'type': 'text', 'text': 'a'}]}",
                dumpParts(
                        "{'role': 'system', 'content': [{'text': 'a', 'x': 1, 'type': 'text'}],"
                                + " 'name': 'n'}"));
    }

    @Test
    void a_word_of_media_anywhere_in_the_template_is_taken_for_such_a_loop() {
        for (String word : new String[] {"image", "audio", "video", "vision"}) {
            assertEquals(
                    "{'role': 'system', 'content': [{'type': 'text', 'text': 'a'}]}",
                    first(
                            text(
                                    Chats.DUMP + "{# tele" + word + " #}",
                                    "{'messages': [{'role': 'system', 'content': [{'type':"
                                            + " 'text', 'text': 'a'}]}, "
                                            + USER
                                            + "]}")),
                    word);
        }
    }

    @Test
    void results_of_tools_are_one_text() {
        assertEquals(
                "{'role': 'tool', 'tool_call_id': 'c', 'content': 'a b'}",
                dumpParts(
                        "{'role': 'tool', 'tool_call_id': 'c', 'content': [{'type': 'text',"
                                + " 'text': 'a'}, {'type': 'text', 'text': 'b'}]}"));
    }

    @Test
    void a_plain_text_stays_one_whatever_the_template_loops_over() {
        assertEquals(
                "{'role': 'system', 'content': 'a'}",
                dumpParts("{'role': 'system', 'content': 'a'}"));
    }

    @Test
    void null_content_is_empty_and_refused_of_a_user() {
        assertEquals("{'role': 'system', 'content': ''}", dump("{'role': 'system'}"));
        assertEquals("{'role': 'system', 'content': ''}", dumpParts("{'role': 'system'}"));
        assertEquals("messages[0].content", refused("{'messages': [{'role': 'user'}]}"));
    }

    @Test
    void reasoning_content_is_kept_and_nulls_and_other_members_are_dropped() {
        assertEquals(
                "{'role': 'assistant', 'content': 'a', 'name': 'n', 'reasoning_content': 'r'}",
                dump(
                        "{'reasoning_content': 'r', 'reasoning': 'q', 'role': 'assistant',"
                                + " 'tool_call_id': null, 'content': 'a', 'name': 'n', 'x': 1}"));
    }

    @Test
    void developers_are_passed_on_and_several_system_messages_too() {
        assertEquals(
                "{'role': 'developer', 'content': 'd'}, {'role': 'system', 'content': 's'}",
                dump("{'role': 'developer', 'content': 'd'}, {'role': 'system', 'content': 's'}"));
    }

    @Test
    void names_of_users_are_dropped() {
        assertEquals(
                USER, dump("{'role': 'user', 'content': 'u', 'name': 'n', 'tool_calls': [1]}"));
    }

    @Test
    void roles_are_lower_case_and_unknown_ones_refused() {
        assertEquals(
                "{'role': 'system', 'content': 's'}", dump("{'role': 'SYSTEM', 'content': 's'}"));
        assertEquals("messages[0].role", refused("{'messages': [{'role': 'User'}]}"));
        assertEquals("messages[0].role", refused("{'messages': [{'role': 'critic'}]}"));
    }

    @Test
    void the_generation_prompt_is_always_on() {
        assertEquals(
                "True",
                text(
                        "{{ add_generation_prompt }}",
                        "{'messages': [" + USER + "], 'add_generation_prompt': false}"));
        assertEquals(
                "chat_template_kwargs.add_generation_prompt",
                refused(
                        "{'messages': ["
                                + USER
                                + "], 'chat_template_kwargs': {'add_generation_prompt': false}}"));
    }

    private static final String OPEN =
            "{'messages': ["
                    + USER
                    + ", {'role': 'assistant', 'content': 'Hel', 'reasoning_content': 'r'}]";

    @Test
    void a_last_message_of_the_assistant_becomes_the_users() {
        assertEquals(
                "[" + USER + ", {'role': 'user', 'content': 'Hel'}]", text(Chats.DUMP, OPEN + "}"));
    }

    @Test
    void a_final_message_to_be_continued_is_taken_off_and_follows_the_prompt() {
        assertEquals(
                new EnginePrompt.Text("[{\"role\": \"user\", \"content\": \"u\"}]", "Hel"),
                Chats.render(
                        EngineProfile.SGLANG,
                        Chats.DUMP,
                        OPEN + ", 'continue_final_message': true}"));
    }

    @Test
    void a_last_message_of_parts_stays_the_assistants_where_the_template_loops_over_parts() {
        assertEquals(
                "[{'role': 'assistant', 'content': [{'type': 'text', 'text': 'a'}]}]",
                text(
                        Chats.DUMP_PARTS,
                        "{'messages': [{'role': 'assistant', 'content': [{'type': 'text', 'text':"
                                + " 'a'}]}], 'continue_final_message': true}"));
    }

    @Test
    void a_template_gets_all_arguments_and_documents_only_among_them() {
        String chat = "{'messages': [" + USER + "], 'documents': [{'a': 'b'}]";
        String print = "{{ documents | tojson }}{{ x }}";
        assertEquals("null", text(print, chat + "}"));
        assertEquals(
                "[{'c': 1}]2",
                text(print, chat + ", 'chat_template_kwargs': {'documents': [{'c': 1}], 'x': 2}}"));
    }

    @Test
    void the_reasoning_effort_switches_thinking_on_or_off_unless_the_arguments_say_otherwise() {
        String chat = "{'messages': [" + USER + "], 'reasoning_effort': ";
        String print = "{{ reasoning_effort }}{{ thinking }}{{ enable_thinking }}";
        assertEquals("noneFalseFalse", text(print, chat + "'none'}"));
        assertEquals("highTrueTrue", text(print, chat + "'high'}"));
        assertEquals("minimalTrueTrue", text(print, chat + "'minimal'}"));
        assertEquals(
                "noneFalseTrue",
                text(print, chat + "'none', 'chat_template_kwargs': {'enable_thinking': true}}"));
        assertEquals(
                "lowTrueTrue",
                text(print, chat + "'high', 'chat_template_kwargs': {'reasoning_effort': 'low'}}"));
        assertEquals("reasoning_effort", refused(chat + "'xxl'}"));
        assertEquals("reasoning_effort that is a number", unpredictable("", chat + "'0.5'}"));
    }

    @Test
    void a_low_effort_is_an_argument_of_its_own_where_the_template_has_one() {
        String chat = "{'messages': [" + USER + "], 'reasoning_effort': ";
        String nemotron = "{{ low_effort }}{{ truncate_history_thinking }}";
        assertEquals("True", text(nemotron, chat + "'low'}"));
        assertEquals("", text(nemotron, chat + "'high'}"));
        assertEquals("", text("{{ low_effort }}", chat + "'low'}"));
    }

    @Test
    void thoughts_among_an_answers_parts_leave_no_trace() {
        String thought = "{'type': 'thinking', 'thinking': 'hm'}, {'type': 'text', 'text': 'a'}";
        assertEquals(
                "{'role': 'assistant', 'content': 'a'}",
                dump("{'role': 'assistant', 'content': [" + thought + "]}"));
        assertEquals(
                "messages[0].content[0].type",
                refused("{'messages': [{'role': 'user', 'content': [" + thought + "]}]}"));
    }

    @Test
    void media_are_not_predicted_and_unknown_parts_refused() {
        assertEquals(
                "content part image_url",
                unpredictable(
                        Chats.DUMP,
                        "{'messages': [{'role': 'user', 'content': [{'type': 'image_url'}]}]}"));
        assertEquals(
                "messages[0].content[0]",
                refused("{'messages': [{'role': 'user', 'content': ['x']}]}"));
        assertEquals(
                "messages[0].content[0].text",
                refused("{'messages': [{'role': 'user', 'content': [{'type': 'text'}]}]}"));
    }
}
