package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class MediaCutTest {
    /** Loops over parts, so engines hand it lists. */
    private static final String PARTS =
            "{% for message in messages %}<{{ message.role }}>{% for content in message.content %}"
                    + "{{ content.text }}{% endfor %}</>{% endfor %}";

    private static final String TEXT =
            "{% for message in messages %}<{{ message.role }}>{{ message.content | trim }}</>"
                    + "{% endfor %}";

    private static final String CHAT =
            "{'messages': [{'role': 'system', 'content': 's'}, {'role': 'user', 'content': [{'type':"
                    + " 'text', 'text': 'before '}, {'type': 'image_url', 'image_url': {'url': 'u'}},"
                    + " {'type': 'text', 'text': 'after'}, {'type': 'image_url', 'image_url': {}}]},"
                    + " {'role': 'user', 'content': [{'type': 'input_audio'}]}]}";

    private static String beginning(EngineProfile engine, String template) {
        ChatRequest marked = MediaCut.marked(Chats.request(CHAT));
        assertNotNull(marked);
        EnginePrompt.Text text = MediaCut.beginning(Chats.render(engine, template, marked));
        assertNotNull(text);
        return text.whole();
    }

    @Test
    void a_prompt_is_known_up_to_its_first_medium() {
        assertEquals("<system>s</><user>before ", beginning(EngineProfile.VLLM, PARTS));
        // SGLang leaves a text a text, so that this template finds no part in it.
        assertEquals("<system></><user>before ", beginning(EngineProfile.SGLANG, PARTS));
        assertEquals("<system>s</><user>before \n", beginning(EngineProfile.VLLM, TEXT));
        assertEquals("<system>s</><user>before  ", beginning(EngineProfile.SGLANG, TEXT));
    }

    @Test
    void without_a_medium_there_is_nothing_to_cut() {
        assertNull(
                MediaCut.marked(
                        Chats.request(
                                "{'messages': [{'role': 'user', 'content': [{'type': 'text', 'text':"
                                        + " 'a'}]}, {'role': 'user', 'content': 'b'}]}")));
    }

    @Test
    void a_template_that_prints_no_parts_has_no_beginning() {
        ChatRequest marked = MediaCut.marked(Chats.request(CHAT));
        assertNotNull(marked);
        assertNull(MediaCut.beginning(Chats.render(EngineProfile.VLLM, "constant", marked)));
    }
}
