package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.model.TokenizerLoadException;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.profile.Placeholders;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files beside a {@code tokenizer.json} that say how a model is talked to, each of which may be
 * missing: {@code tokenizer_config.json}, {@code chat_template.jinja} and {@code
 * additional_chat_templates}, {@code special_tokens_map.json} and {@code added_tokens.json}, {@code
 * config.json}. Which of them counts is as in Hugging Face's transformers, which engines load them
 * with.
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

    /**
     * @param tokenizerJson need not be there
     * @param ownTemplate of the operator, in place of all that the files have; null: theirs
     * @throws TokenizerLoadException naming the file that is no JSON
     */
    static TokenizerConfig beside(
            Path tokenizerJson,
            @Nullable Path ownTemplate,
            JsonNode addedTokens,
            ObjectMapper mapper)
            throws IOException, TokenizerLoadException {
        Path config = tokenizerJson.resolveSibling("tokenizer_config.json");
        JsonNode root = read(config, mapper);
        Templates templates = templates(tokenizerJson, ownTemplate, root.path("chat_template"));
        // Files of the old form count only without the new one.
        boolean old = !root.has("added_tokens_decoder");
        Map<String, String> specials = new HashMap<>();
        specials(root, specials);
        if (old) {
            specials(
                    read(tokenizerJson.resolveSibling("special_tokens_map.json"), mapper),
                    specials);
        }
        return new TokenizerConfig(
                Files.isRegularFile(config) || templates.plain().isPresent(),
                templates.plain(),
                templates.forTools(),
                Map.copyOf(specials),
                old
                        ? unknown(
                                read(tokenizerJson.resolveSibling("added_tokens.json"), mapper),
                                addedTokens)
                        : overriding(root.path("added_tokens_decoder"), addedTokens),
                model(tokenizerJson, mapper));
    }

    /** An empty object where there is no such file. */
    private static JsonNode read(Path file, ObjectMapper mapper)
            throws IOException, TokenizerLoadException {
        if (!Files.isRegularFile(file)) {
            return mapper.createObjectNode();
        }
        try {
            return mapper.readTree(file.toFile());
        } catch (JacksonException e) {
            throw new TokenizerLoadException(
                    ("%s is not valid JSON; fetch it again (a file of a few lines may be a"
                                    + " pointer to a large file): %s")
                            .formatted(file, e.getOriginalMessage()),
                    e);
        }
    }

    private record Templates(Optional<String> plain, Optional<String> forTools) {}

    /** Template files win over the configuration, all of them over all of it. */
    private static Templates templates(
            Path tokenizerJson, @Nullable Path ownTemplate, JsonNode inline)
            throws IOException, TokenizerLoadException {
        if (ownTemplate != null) {
            if (!Files.isRegularFile(ownTemplate)) {
                throw new TokenizerLoadException(
                        "chat template " + ownTemplate + " does not exist; give a Jinja file",
                        null);
            }
            return new Templates(Optional.of(Files.readString(ownTemplate)), Optional.empty());
        }
        Path jinja = tokenizerJson.resolveSibling("chat_template.jinja");
        Path named = tokenizerJson.resolveSibling("additional_chat_templates");
        if (Files.isRegularFile(jinja) || hasTemplates(named)) {
            return new Templates(text(jinja), text(named.resolve("tool_use.jinja")));
        }
        return new Templates(inlineTemplate(inline), namedTemplate(inline, "tool_use"));
    }

    private static boolean hasTemplates(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return false;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jinja")) {
            return files.iterator().hasNext();
        }
    }

    private static Optional<String> text(Path file) throws IOException {
        return Files.isRegularFile(file) ? Optional.of(Files.readString(file)) : Optional.empty();
    }

    private static void specials(JsonNode from, Map<String, String> into) {
        for (String name : SPECIAL_TOKENS) {
            String content = tokenContent(from.path(name));
            if (content != null) {
                into.put(name, content);
            }
        }
    }

    private static ModelFacts model(Path tokenizerJson, ObjectMapper mapper)
            throws IOException, TokenizerLoadException {
        JsonNode root = read(tokenizerJson.resolveSibling("config.json"), mapper);
        List<String> architectures = new ArrayList<>();
        root.path("architectures").forEach(name -> architectures.add(name.asText()));
        return new ModelFacts(
                root.path("model_type").asText(),
                architectures,
                Files.isRegularFile(tokenizerJson.resolveSibling("tekken.json")),
                Placeholders.of(
                        architectures,
                        root.path("vision_config").path("model_type").asText(),
                        name -> root.path(name).asInt(-1)));
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

    /** Tokens of an added_tokens.json that tokenizer.json lacks: engines add them. */
    private static List<String> unknown(JsonNode added, JsonNode addedTokens) {
        Set<String> known = new HashSet<>();
        addedTokens.forEach(token -> known.add(token.path("content").asText()));
        List<String> unknown = new ArrayList<>();
        added.fieldNames()
                .forEachRemaining(
                        name -> {
                            if (!known.contains(name)) {
                                unknown.add(name);
                            }
                        });
        return List.copyOf(unknown);
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
