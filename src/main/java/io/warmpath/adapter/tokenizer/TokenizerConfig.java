package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.profile.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The files beside a {@code tokenizer.json} that say how a model is talked to: {@code
 * tokenizer_config.json} and {@code chat_template.jinja}, either of which may be missing.
 *
 * @param chatTemplate Jinja source of the template
 * @param toolTemplate of another one for chats with tools, where there are several
 * @param specialTokens bos_token, eos_token and so on, as far as they are set
 * @param overriding added tokens of the configuration that tokenizer.json has otherwise or not at
 *     all; engines let the configuration win
 * @param model what config.json and the names of the files tell
 */
record TokenizerConfig(
        boolean present,
        Optional<String> chatTemplate,
        Optional<String> toolTemplate,
        Map<String, String> specialTokens,
        List<String> overriding,
        ModelFacts model) {

    /** The names under which templates find them. */
    private static final String[] SPECIAL_TOKENS = {
        "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"
    };

    private static final String[] FLAGS = {"lstrip", "rstrip", "single_word", "normalized"};

    static TokenizerConfig beside(Path tokenizerJson, JsonNode addedTokens, ObjectMapper mapper)
            throws IOException {
        Path config = tokenizerJson.resolveSibling("tokenizer_config.json");
        Path jinja = tokenizerJson.resolveSibling("chat_template.jinja");
        boolean hasConfig = Files.isRegularFile(config);
        JsonNode root = hasConfig ? mapper.readTree(config.toFile()) : mapper.createObjectNode();
        Optional<String> template =
                Files.isRegularFile(jinja)
                        ? Optional.of(Files.readString(jinja))
                        : inlineTemplate(root.path("chat_template"));
        Optional<String> forTools =
                Files.isRegularFile(jinja)
                        ? Optional.empty()
                        : namedTemplate(root.path("chat_template"), "tool_use");
        Map<String, String> specials = new HashMap<>();
        for (String name : SPECIAL_TOKENS) {
            String content = tokenContent(root.path(name));
            if (content != null) {
                specials.put(name, content);
            }
        }
        return new TokenizerConfig(
                hasConfig || template.isPresent(),
                template,
                forTools,
                Map.copyOf(specials),
                overriding(root.path("added_tokens_decoder"), addedTokens),
                model(tokenizerJson, mapper));
    }

    private static ModelFacts model(Path tokenizerJson, ObjectMapper mapper) throws IOException {
        Path config = tokenizerJson.resolveSibling("config.json");
        JsonNode root =
                Files.isRegularFile(config)
                        ? mapper.readTree(config.toFile())
                        : mapper.createObjectNode();
        List<String> architectures = new ArrayList<>();
        root.path("architectures").forEach(name -> architectures.add(name.asText()));
        return new ModelFacts(
                root.path("model_type").asText(),
                architectures,
                Files.isRegularFile(tokenizerJson.resolveSibling("tekken.json")));
    }

    /** A string, or a list of named templates. */
    private static Optional<String> inlineTemplate(JsonNode template) {
        return template.isTextual()
                ? Optional.of(template.asText())
                : namedTemplate(template, "default");
    }

    private static Optional<String> namedTemplate(JsonNode templates, String name) {
        for (JsonNode named : templates) {
            if (named.path("name").asText().equals(name)) {
                return Optional.of(named.path("template").asText());
            }
        }
        return Optional.empty();
    }

    private static @Nullable String tokenContent(JsonNode token) {
        JsonNode content = token.isObject() ? token.path("content") : token;
        return content.isTextual() ? content.asText() : null;
    }

    private static List<String> overriding(JsonNode decoder, JsonNode addedTokens) {
        Map<String, JsonNode> known = new HashMap<>();
        addedTokens.forEach(token -> known.put(token.path("content").asText(), token));
        List<String> different = new ArrayList<>();
        for (JsonNode token : decoder) {
            String content = token.path("content").asText();
            JsonNode same = known.get(content);
            if (same == null || !sameFlags(token, same)) {
                different.add(content);
            }
        }
        return List.copyOf(different);
    }

    private static boolean sameFlags(JsonNode one, JsonNode other) {
        for (String flag : FLAGS) {
            if (one.path(flag).asBoolean() != other.path(flag).asBoolean()) {
                return false;
            }
        }
        return true;
    }
}
