package io.warmpath.adapter.tokenizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.model.TokenizerLoadException;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class HuggingFaceModelLoaderTest {
    private final HuggingFaceModelLoader loader = new HuggingFaceModelLoader();
    @TempDir Path dir;

    @Test
    void the_demo_model_loads_from_its_directory_and_from_its_file() throws Exception {
        for (Path path :
                List.of(DemoModel.directory(), DemoModel.directory().resolve("tokenizer.json"))) {
            LoadedModel model = loader.load(path);
            model.tokenizer().close();
            assertEquals("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", prompt(model));
            assertTrue(model.splitOn().isPresent());
            assertEquals(List.of(), model.warnings());
        }
    }

    @Test
    void a_file_that_is_understood_runs_natively_and_another_by_the_library_with_a_warning()
            throws Exception {
        HuggingFaceModelLoader fast =
                new HuggingFaceModelLoader(
                        parts -> new NativeBpeTokenizer(Optional.empty(), parts));
        LoadedModel understood = fast.load(DemoModel.directory());
        understood.tokenizer().close();
        assertInstanceOf(NativeBpeTokenizer.class, understood.tokenizer());
        assertEquals(List.of(), understood.warnings());
        Files.copy(
                DemoModel.directory().resolve("tokenizer_config.json"),
                dir.resolve("tokenizer_config.json"));
        LoadedModel other = fast.load(write("tokenizer.json", BpeFamilies.lowercase()));
        other.tokenizer().close();
        assertInstanceOf(HuggingFaceTokenizerAdapter.class, other.tokenizer());
        assertEquals(1, other.warnings().size());
        assertTrue(
                other.warnings()
                        .getFirst()
                        .contains("run by the tokenizers library (normalizer Lowercase)"),
                other.warnings().getFirst());
    }

    @Test
    void a_native_library_that_cannot_be_loaded_leaves_the_file_to_the_other_one()
            throws Exception {
        HuggingFaceModelLoader fast =
                new HuggingFaceModelLoader(
                        parts -> {
                            throw new IllegalArgumentException("there is no native index");
                        });
        LoadedModel model = fast.load(DemoModel.directory());
        model.tokenizer().close();
        assertInstanceOf(HuggingFaceTokenizerAdapter.class, model.tokenizer());
        assertTrue(model.warnings().getFirst().contains("(there is no native index)"));
    }

    @Test
    void a_missing_file_is_named_with_what_to_give() {
        Path missing = dir.resolve("nowhere/tokenizer.json");
        assertRefused(missing, missing + " does not exist; give the model's tokenizer.json");
        assertRefused(dir, dir.resolve("tokenizer.json") + " does not exist");
    }

    @Test
    void a_file_that_is_no_json_is_named() throws IOException {
        Path file = write("tokenizer.json", "version of a large file pointer\nsize 7031645\n");
        assertRefused(file, file + " is not valid JSON");
        assertRefused(
                write("tokenizer.json", DemoModel.json().substring(0, 40_000)),
                "is not valid JSON");
        assertRefused(write("tokenizer.json", "[1]"), "not a JSON object");
    }

    @Test
    void a_json_that_is_no_tokenizer_is_named() throws IOException {
        Path file = write("tokenizer.json", "{\"model\": {\"type\": \"none\"}}");
        assertRefused(file, file + " is not understood by the tokenizers library");
    }

    @Test
    void without_a_configuration_its_tokens_make_it_plain_chatml_with_a_warning() throws Exception {
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", prompt(model));
        assertInstanceOf(
                EnginePrompt.Unpredictable.class,
                model.template()
                        .orElseThrow()
                        .render(ChatRequest.of(List.of(), null), EngineProfile.VLLM),
                "what it makes of tools nobody knows");
        assertEquals(1, model.warnings().size());
        assertTrue(model.warnings().getFirst().contains("taken for plain ChatML"));
    }

    @Test
    void a_template_that_is_not_supported_gives_no_template_and_a_warning_with_its_line()
            throws Exception {
        write("tokenizer_config.json", "{\"chat_template\": \"\\n{{ messages | pprint }}\"}");
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals(Optional.empty(), model.template());
        String warning = model.warnings().getFirst();
        assertTrue(warning.contains("line 2: the filter pprint is not supported"), warning);
        assertTrue(warning.contains("routed by load alone"), warning);
    }

    @Test
    void a_template_of_any_other_form_is_rendered_with_the_special_tokens() throws Exception {
        write(
                "tokenizer_config.json",
                """
                {"chat_template": "{{ bos_token }}{{ messages[0].content | upper }}{{ cls_token }}",
                 "bos_token": {"content": "<|endoftext|>"}, "cls_token": "<|im_end|>"}
                """);
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals("<|endoftext|>HI<|im_end|>", prompt(model));
        assertEquals(
                Map.of("bos_token", "<|endoftext|>", "cls_token", "<|im_end|>"),
                model.specialTokens());
        assertEquals(List.of(), model.warnings());
    }

    @Test
    void a_configuration_without_a_template_is_not_taken_for_chatml() throws Exception {
        write("tokenizer_config.json", "{\"chat_template\": null}");
        assertEquals(Optional.empty(), load(write("tokenizer.json", DemoModel.json())).template());
    }

    @Test
    void the_default_of_several_templates_is_for_plain_chats() throws Exception {
        write(
                "tokenizer_config.json",
                """
                {"chat_template": [
                   {"name": "tool_use", "template": "{{ tools }}"},
                   {"name": "default", "template": "{% for message in messages %}{{ bos_token + message.role + ':' + message.content }}{% endfor %}"}],
                 "bos_token": {"content": "<|endoftext|>"}}
                """);
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals("<|endoftext|>user:hi", prompt(model));
        assertEquals(
                new EnginePrompt.Text("[]"),
                model.template()
                        .orElseThrow()
                        .render(
                                new ChatRequest(
                                        List.of(Map.of("role", "user", "content", "hi")),
                                        List.of(),
                                        null,
                                        null,
                                        null,
                                        false,
                                        Map.of(),
                                        null),
                                EngineProfile.VLLM));
    }

    @Test
    void a_template_file_wins_over_the_configuration() throws Exception {
        Files.copy(
                DemoModel.directory().resolve("tokenizer_config.json"),
                dir.resolve("tokenizer_config.json"));
        write(
                "chat_template.jinja",
                "{% for message in messages %}{{ message.role }}={{ message.content }};{% endfor %}");
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals("user=hi;", prompt(model));
    }

    @Test
    void a_file_beside_it_that_is_no_json_is_named() throws IOException {
        Path file = write("tokenizer.json", DemoModel.json());
        for (String beside :
                List.of("config.json", "special_tokens_map.json", "tokenizer_config.json")) {
            Path broken = write(beside, "{");
            assertRefused(file, broken + " is not valid JSON");
            Files.delete(broken);
        }
    }

    @Test
    void the_old_map_of_special_tokens_counts_only_without_a_list_of_added_tokens()
            throws Exception {
        write("chat_template.jinja", "{{ bos_token }}");
        write("special_tokens_map.json", "{\"bos_token\": {\"content\": \"<|im_end|>\"}}");
        write("tokenizer_config.json", "{\"bos_token\": \"<|im_start|>\"}");
        assertEquals("<|im_end|>", prompt(load(write("tokenizer.json", DemoModel.json()))));
        write(
                "tokenizer_config.json",
                "{\"bos_token\": \"<|im_start|>\", \"added_tokens_decoder\": {}}");
        assertEquals("<|im_start|>", prompt(load(dir.resolve("tokenizer.json"))));
    }

    @Test
    void added_tokens_that_the_tokenizer_lacks_are_warned_of() throws Exception {
        write("chat_template.jinja", "x");
        write("added_tokens.json", "{\"<|im_start|>\": 1, \"<|new|>\": 2}");
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals(1, model.warnings().size(), model.warnings()::toString);
        assertTrue(model.warnings().getFirst().contains("(<|new|>)"), model.warnings()::toString);
    }

    @Test
    void named_template_files_are_those_of_the_model_and_win_over_its_configuration()
            throws Exception {
        Files.createDirectory(dir.resolve("additional_chat_templates"));
        write("tokenizer_config.json", "{\"chat_template\": \"inside\"}");
        write("additional_chat_templates/tool_use.jinja", "for tools");
        Path file = write("tokenizer.json", DemoModel.json());
        assertEquals(Optional.empty(), load(file).template(), "engines have no default, either");
        write("chat_template.jinja", "plain");
        ChatTemplate template = load(file).template().orElseThrow();
        assertEquals(new EnginePrompt.Text("plain"), render(template, null));
        assertEquals(new EnginePrompt.Text("for tools"), render(template, List.of()));
    }

    private static EnginePrompt render(ChatTemplate template, List<Object> tools) {
        return template.render(
                new ChatRequest(
                        List.of(Map.of("role", "user", "content", "hi")),
                        tools,
                        null,
                        null,
                        null,
                        false,
                        Map.of(),
                        null),
                EngineProfile.VLLM);
    }

    @Test
    void the_operators_tokenizer_and_template_win_over_those_of_the_directory() throws Exception {
        write("chat_template.jinja", "theirs");
        write("tokenizer_config.json", "{\"bos_token\": \"<|im_start|>\"}");
        Path own = write("own.jinja", "{{ bos_token }}ours");
        Path tokenizer = DemoModel.directory().resolve("tokenizer.json");
        LoadedModel model = loader.load(new ModelSource(dir, tokenizer, own));
        assertEquals("<|im_start|>ours", prompt(model));
        model.tokenizer().close();
        TokenizerLoadException refused =
                assertThrows(
                        TokenizerLoadException.class,
                        () ->
                                loader.load(
                                        new ModelSource(dir, tokenizer, dir.resolve("no.jinja"))));
        assertTrue(
                String.valueOf(refused.getMessage())
                        .contains(dir.resolve("no.jinja") + " does not exist"));
    }

    @Test
    void added_tokens_that_the_configuration_changes_are_warned_of() throws Exception {
        String config = Files.readString(DemoModel.directory().resolve("tokenizer_config.json"));
        write(
                "tokenizer_config.json",
                config.replaceFirst("\"rstrip\": false", "\"rstrip\": true"));
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals(1, model.warnings().size());
        assertTrue(
                model.warnings().getFirst().contains("<|endoftext|>"), model.warnings()::toString);
    }

    static Stream<Arguments> splittable() {
        return arguments(TokenizerVariants.splittable());
    }

    static Stream<Arguments> unsplittable() {
        return arguments(TokenizerVariants.unsplittable());
    }

    private static Stream<Arguments> arguments(Map<String, String> variants) {
        return variants.entrySet().stream().map(e -> Arguments.of(e.getKey(), e.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("splittable")
    void settings_that_see_one_piece_only_allow_the_cache(String name, String json)
            throws Exception {
        assertTrue(load(write("tokenizer.json", json)).splitOn().isPresent());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("unsplittable")
    void settings_that_look_across_pieces_switch_the_cache_off(String name, String json)
            throws Exception {
        LoadedModel model = load(write("tokenizer.json", json));
        assertFalse(model.splitOn().isPresent());
        String setting = name.split(" ", 2)[0];
        assertTrue(model.warnings().getLast().contains(setting), model.warnings()::toString);
    }

    @Test
    void prompts_that_an_engine_makes_by_code_are_warned_of_and_not_made() throws Exception {
        write("chat_template.jinja", "x");
        write("config.json", "{\"architectures\": [\"GptOssForCausalLM\"]}");
        LoadedModel model = load(write("tokenizer.json", DemoModel.json()));
        assertEquals(1, model.warnings().size(), model.warnings()::toString);
        assertTrue(
                model.warnings().getFirst().contains("VLLM makes this model's prompts by code"),
                model.warnings()::toString);
        PromptInput.Chat chat =
                new PromptInput.Chat(List.of(new PromptInput.Message("user", "hi")), true);
        ChatTemplate template = model.template().orElseThrow();
        assertInstanceOf(
                EnginePrompt.Unpredictable.class, template.render(chat, EngineProfile.VLLM));
        assertEquals(new EnginePrompt.Text("x"), template.render(chat, EngineProfile.SGLANG));
    }

    /** Of one plain message. */
    private static String prompt(LoadedModel model) {
        PromptInput.Chat chat =
                new PromptInput.Chat(List.of(new PromptInput.Message("user", "hi")), true);
        return switch (model.template().orElseThrow().render(chat, EngineProfile.ANY)) {
            case EnginePrompt.Text text -> text.whole();
            case EnginePrompt other -> throw new AssertionError(other.toString());
        };
    }

    private Path write(String name, String content) throws IOException {
        return Files.writeString(dir.resolve(name), content);
    }

    private LoadedModel load(Path path) throws TokenizerLoadException {
        LoadedModel model = loader.load(path);
        model.tokenizer().close();
        return model;
    }

    private void assertRefused(Path path, String part) {
        TokenizerLoadException refused =
                assertThrows(TokenizerLoadException.class, () -> loader.load(path));
        assertTrue(String.valueOf(refused.getMessage()).contains(part), refused.getMessage());
    }
}
