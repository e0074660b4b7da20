package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ChatMediaTest {
    /** Loops over parts, so engines hand it lists. */
    private static final String PARTS =
            "{% for message in messages %}<{{ message.role }}>{% for content in message.content %}"
                    + "{{ content.text }}{% endfor %}</>{% endfor %}";

    private static final String TEXT =
            "{% for message in messages %}<{{ message.role }}>{{ message.content | trim }}</>"
                    + "{% endfor %}";

    private static final String TYPES =
            "{% for message in messages %}{% for content in message.content %}"
                    + "{{ content.text or '[' ~ content.type ~ ']' }}{% endfor %}{% endfor %}";
    private static final String CHAT =
            "{'messages': [{'role': 'system', 'content': 's'}, {'role': 'user', 'content': [{'type':"
                    + " 'text', 'text': 'before '}, {'type': 'image_url', 'image_url': {'url': 'u'}},"
                    + " {'type': 'text', 'text': 'after'}, {'type': 'image_url', 'image_url': {}}]},"
                    + " {'role': 'user', 'content': [{'type': 'input_audio'}]}]}";

    private static ChatMedia media(ChatRequest chat) {
        ChatMedia media = ChatMedia.of(chat);
        assertNotNull(media);
        return media;
    }

    private static String beginning(EngineProfile engine, String template) {
        EnginePrompt.Text text =
                ChatMedia.beginning(
                        Chats.render(engine, template, media(Chats.request(CHAT)).marked()));
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
                ChatMedia.of(
                        Chats.request(
                                "{'messages': [{'role': 'user', 'content': [{'type': 'text', 'text':"
                                        + " 'a'}]}, {'role': 'user', 'content': 'b'}]}")));
    }

    @Test
    void a_template_that_prints_no_parts_has_no_beginning() {
        ChatRequest marked = media(Chats.request(CHAT)).marked();
        assertNull(ChatMedia.beginning(Chats.render(EngineProfile.VLLM, "constant", marked)));
    }

    @Test
    void vllm_hands_media_to_templates_that_want_parts() {
        ChatRequest chat = media(Chats.request(CHAT)).inPlace();
        assertEquals(
                new EnginePrompt.Text("sbefore [image]after[image][audio]"),
                Chats.render(EngineProfile.VLLM, TYPES, chat));
        assertInstanceOf(
                EnginePrompt.Unpredictable.class, Chats.render(EngineProfile.VLLM, TEXT, chat));
        assertInstanceOf(
                EnginePrompt.Unpredictable.class,
                Chats.render(EngineProfile.VLLM, TEXT, Chats.request(CHAT)));
    }

    @Test
    void sglang_hands_images_alone_to_such_templates() {
        ChatRequest image =
                media(
                                Chats.request(
                                        "{'messages': [{'role': 'user', 'content': [{'type':"
                                                + " 'image_url'}, {'type': 'text', 'text':"
                                                + " 'a'}]}]}"))
                        .inPlace();
        assertEquals(
                new EnginePrompt.Text("[image]a"),
                Chats.render(EngineProfile.SGLANG, TYPES, image));
        assertInstanceOf(
                EnginePrompt.Unpredictable.class, Chats.render(EngineProfile.SGLANG, TEXT, image));
        assertInstanceOf(
                EnginePrompt.Unpredictable.class,
                Chats.render(EngineProfile.SGLANG, TYPES, media(Chats.request(CHAT)).inPlace()));
    }

    private static Medium medium(String part) {
        return media(Chats.request("{'messages': [{'role': 'user', 'content': [" + part + "]}]}"))
                .media()
                .getFirst();
    }

    @Test
    void what_is_in_the_request_has_a_name_and_what_lies_elsewhere_has_the_client_s() {
        String png =
                "data:image/png;base64,"
                        + "iVBORw0KGgoAAAANSUhEUgAAAHAAAABUCAIAAAAWvZlhAAAAAElFTkSuQmCC";
        String image = "{'type': 'image_url', 'image_url': {'url': '%s'}}";
        Medium one = medium(image.formatted(png));
        assertEquals("image 112x84", one.look());
        assertEquals(64, String.valueOf(one.name()).length());
        assertEquals(one, medium("{'type': 'image_url', 'image_url': '" + png + "'}"));
        assertNotEquals(one.name(), medium(image.formatted(png + "A")).name());
        assertNull(medium(image.formatted("http://127.0.0.1/a.png")).name());
        assertEquals(
                new Medium("image", "mine", true, null, null),
                medium(
                        "{'type': 'image_url', 'uuid': 'mine', 'image_url': {'url':"
                                + " 'http://127.0.0.1/a.png'}}"));
        Medium named =
                medium(image.formatted(png).replace("'image_url', ", "'image_url', 'uuid': 'a', "));
        assertEquals(one.content(), named.content());
        assertEquals(one.content(), medium(image.formatted(png + "', 'detail': 'auto")).content());
        Medium rough = medium(image.formatted(png + "', 'detail': 'low"));
        assertEquals(one.name(), rough.name());
        assertNotEquals(one.content(), rough.content());
        assertNotNull(
                medium("{'type': 'input_audio', 'input_audio': {'data': 'AA', 'format': 'wav'}}")
                        .name());
        assertNull(medium("{'type': 'image_embeds', 'image_embeds': 'AA'}").name());
    }

    @Test
    void sizes_are_read_from_the_first_bytes_of_files() {
        assertEquals("image 3x2", size("47494638396103000200"));
        assertEquals(
                "image 640x480",
                size(
                        "ffd8"
                                + "ffe00006aabbccdd"
                                + "ffff"
                                + "fe0003aa"
                                + "ffc2001108"
                                + "01e00280"
                                + "0301"));
        String riff = "524946460000000057454250";
        assertEquals(
                "image 5x9",
                size(riff + "56503820" + "00000000" + "000000" + "9d012a" + "05000900"));
        assertEquals(
                "image 16384x1",
                size(riff + "5650384c" + "00000000" + "2f" + "ff3f0000" + "0000000000"));
        assertEquals(
                "image 1000x256",
                size(riff + "56503858" + "00000000" + "00000000" + "e70300" + "ff0000"));
        assertNull(size("424d00000000000000000000"));
        assertNull(size("ffd8ffda0002aabbccddeeff"));
        assertNull(ImageSize.of("data:image/png,abc"));
        assertNull(ImageSize.of("data:image/png;base64,####"));
    }

    private static @Nullable String size(String hex) {
        return ImageSize.of(
                "data:image/x;base64,"
                        + Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex)));
    }
}
