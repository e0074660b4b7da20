package io.warmpath.tokens.template;

import static io.warmpath.tokens.template.Continuation.CHANGED;
import static io.warmpath.tokens.template.Continuation.EXACT;
import static io.warmpath.tokens.template.Continuation.UNKNOWN;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What engines make of a chat whose answer has begun elsewhere, by kind and template. */
class ContinuationTest {
    private static final Path FAMILIES = Path.of("src/test/resources/templates/families");
    private static final Clock CLOCK =
            Clock.fixed(Instant.parse("2026-05-06T00:00:00Z"), ZoneOffset.UTC);
    private static final Chat ASKED = new Chat(List.of(new Message("user", "hi")), true);

    private static ChatTemplate family(String name) throws IOException {
        return template(
                Files.readString(FAMILIES.resolve(name + ".jinja"), StandardCharsets.UTF_8));
    }

    private static ChatTemplate template(String source) {
        return new JinjaChatTemplate(
                Template.compile(source),
                null,
                Map.of("bos_token", "<s>", "eos_token", "</s>"),
                ModelFacts.UNKNOWN,
                CLOCK,
                null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once upon", "Once\n", "Once\n\n", "\n\nOnce", " Once", " \n"})
    void chatml_passes_a_text_on_as_it_is(String said) throws Exception {
        for (String name : List.of("chatml-plain", "chatml-default-system", "qwen25-tools")) {
            for (EngineProfile engine : List.of(EngineProfile.VLLM, EngineProfile.SGLANG)) {
                assertEquals(EXACT, family(name).continuation(ASKED, said, engine), name + engine);
            }
        }
        assertEquals(EXACT, new GuessedChatMl().continuation(ASKED, said, EngineProfile.VLLM));
    }

    /** Templates print messages in their own ways; SGLang does not show them this one. */
    @ParameterizedTest
    @ValueSource(strings = {"Once upon", "Once\n", "\n\nOnce", " Once"})
    void on_sglang_no_template_matters(String said) throws Exception {
        for (String name : List.of("llama3-plain", "gemma-plain", "qwen3-thinking", "phi3")) {
            assertEquals(EXACT, family(name).continuation(ASKED, said, EngineProfile.SGLANG), name);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "llama3-plain, 'Once upon', EXACT",
        "llama3-plain, 'Once\n', CHANGED",
        "llama3-plain, ' Once', CHANGED",
        "gemma-plain, 'Once upon', EXACT",
        "gemma-plain, 'Once\n', CHANGED",
        // It opens a thought of its own, but behind one that has ended.
        "qwen3-thinking, 'Once upon', CHANGED",
        "qwen3-thinking, '<think>\nHm.\n</think>\n\nOnce\n', EXACT",
        "qwen3-thinking, '<think>\nHm', CHANGED"
    })
    void on_vllm_the_template_decides(String name, String said, Continuation expected)
            throws Exception {
        assertEquals(expected, family(name).continuation(ASKED, said, EngineProfile.VLLM));
    }

    @Test
    void a_template_that_refuses_the_beginning_of_an_answer_changes_it() {
        ChatTemplate strict =
                template(
                        "{% for m in messages %}{% if m.role == 'assistant' %}"
                                + "{{ raise_exception('no') }}{% endif %}{{ m.content }}"
                                + "{% endfor %}");
        assertEquals(CHANGED, strict.continuation(ASKED, "Once", EngineProfile.VLLM));
        assertEquals(EXACT, strict.continuation(ASKED, "Once", EngineProfile.SGLANG));
    }

    @Test
    void a_chat_whose_own_prompt_is_not_known_proves_nothing() throws Exception {
        ChatRequest media =
                ChatRequest.of(
                        List.of(
                                Map.of(
                                        "role",
                                        "user",
                                        "content",
                                        List.of(Map.of("type", "image_url")))),
                        true);
        assertEquals(
                UNKNOWN, family("chatml-plain").continuation(media, "Once", EngineProfile.VLLM));
        assertEquals(UNKNOWN, new GuessedChatMl().continuation(media, "Once", EngineProfile.VLLM));
    }
}
