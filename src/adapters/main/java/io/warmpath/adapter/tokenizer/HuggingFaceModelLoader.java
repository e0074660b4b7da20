package io.warmpath.adapter.tokenizer;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.ModelLoader;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.model.TokenizerLoadException;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.ChatMlRecogniser;
import io.warmpath.tokens.template.ChatMlTemplate;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.GuessedChatMl;
import io.warmpath.tokens.template.JinjaChatTemplate;
import io.warmpath.tokens.text.AddedTokens;
import io.warmpath.tokens.text.BpeTokenizers;
import io.warmpath.tokens.text.TextTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads a model directory as it is published: {@code tokenizer.json}, and beside it, when they are
 * there, the files of {@link TokenizerConfig}. Any thread.
 */
public final class HuggingFaceModelLoader implements ModelLoader {
    private final ObjectMapper mapper = new ObjectMapper();
    private final @Nullable BpeTokenizers fast;

    /** Every file is run by the tokenizers library. */
    public HuggingFaceModelLoader() {
        this.fast = null;
    }

    /** {@code fast}: runs the files that are understood wholly. */
    public HuggingFaceModelLoader(BpeTokenizers fast) {
        this.fast = fast;
    }

    @Override
    public LoadedModel load(ModelSource source) throws TokenizerLoadException {
        Path configured = source.tokenizer();
        Path file = tokenizerIn(configured == null ? source.path() : configured);
        if (!Files.isRegularFile(file)) {
            throw new TokenizerLoadException(
                    "tokenizer file "
                            + file
                            + " does not exist; give the model's tokenizer.json or the directory"
                            + " that holds it",
                    null);
        }
        try {
            String json = Files.readString(file);
            TokenizerJson head = TokenizerJson.parse(json, mapper);
            TokenizerConfig config =
                    TokenizerConfig.beside(
                            tokenizerIn(source.path()),
                            source.chatTemplate(),
                            head.addedTokens(),
                            mapper);
            return loaded(file, json, head, config);
        } catch (JacksonException e) {
            throw new TokenizerLoadException(
                    ("tokenizer file %s is not valid JSON; fetch it again (a file of a few"
                                    + " lines may be a pointer to a large file): %s")
                            .formatted(file, e.getOriginalMessage()),
                    e);
        } catch (IOException e) {
            throw new TokenizerLoadException(
                    "tokenizer file " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static Path tokenizerIn(Path path) {
        return Files.isDirectory(path) ? path.resolve("tokenizer.json") : path;
    }

    private LoadedModel loaded(Path file, String json, TokenizerJson head, TokenizerConfig config)
            throws TokenizerLoadException, IOException {
        List<String> warnings = new ArrayList<>();
        Optional<ChatTemplate> template = template(file, head, config, warnings);
        if (!config.overriding().isEmpty()) {
            warnings.add(
                    ("%s: tokenizer_config.json or added_tokens.json changes added tokens of"
                                    + " tokenizer.json (%s); engines follow it, this gateway reads"
                                    + " tokenizer.json only, so prompts with these tokens are not"
                                    + " found in the cache")
                            .formatted(file, String.join(" ", config.overriding())));
        }
        TextTokenizer tokenizer = tokenizer(file, json, head, warnings);
        String whyNotSplit = head.whyNotSplit(tokenizer);
        if (!whyNotSplit.isEmpty()) {
            warnings.add(
                    ("%s: prompts are tokenised as a whole each time (%s), which costs CPU"
                                    + " in long conversations")
                            .formatted(file, whyNotSplit));
        }
        Optional<AddedTokens> splitOn =
                whyNotSplit.isEmpty() ? Optional.of(head.splitOn()) : Optional.empty();
        return new LoadedModel(
                tokenizer, splitOn, template, config.specialTokens(), List.copyOf(warnings));
    }

    private TextTokenizer tokenizer(
            Path file, String json, TokenizerJson head, List<String> warnings)
            throws TokenizerLoadException, IOException {
        if (fast == null) {
            return library(file, json);
        }
        String why;
        try {
            return fast.open(ByteLevelBpe.read(head.head(), BpeModel.read(json, mapper)));
        } catch (NotUnderstoodException | IllegalArgumentException e) {
            why = e.getMessage();
        }
        TextTokenizer library = library(file, json);
        warnings.add(
                "%s: run by the tokenizers library (%s), which costs some ten times the CPU"
                        .formatted(file, why));
        return library;
    }

    private static HuggingFaceTokenizerAdapter library(Path file, String json)
            throws TokenizerLoadException {
        try {
            return new HuggingFaceTokenizerAdapter(json);
        } catch (RuntimeException | LinkageError e) {
            throw new TokenizerLoadException(
                    ("tokenizer file %s is not understood by the tokenizers library; check"
                                    + " that it is the model's tokenizer.json: %s")
                            .formatted(file, e.getMessage()),
                    e);
        }
    }

    private static Optional<ChatTemplate> template(
            Path file, TokenizerJson head, TokenizerConfig config, List<String> warnings) {
        if (config.chatTemplate().isPresent()) {
            return jinja(file, config.chatTemplate().get(), config, warnings);
        }
        boolean chatMl =
                head.hasAddedToken(ChatMlTemplate.START) && head.hasAddedToken(ChatMlTemplate.END);
        if (!config.present() && chatMl) {
            warnings.add(
                    file
                            + ": no tokenizer_config.json beside it; taken for plain ChatML because"
                            + " of its tokens, chats with tools are routed by load alone. Put the"
                            + " model's tokenizer_config.json there to be sure");
            return Optional.of(new GuessedChatMl());
        }
        warnings.add(
                file
                        + ": no chat template beside it; chats are routed by load alone,"
                        + " completions by their tokens. Put the model's chat_template.jinja or"
                        + " tokenizer_config.json there");
        return Optional.empty();
    }

    private static Optional<ChatTemplate> jinja(
            Path file, String source, TokenizerConfig config, List<String> warnings) {
        for (EngineProfile engine : List.of(EngineProfile.VLLM, EngineProfile.SGLANG)) {
            config.model()
                    .renderedByCode(engine)
                    .ifPresent(
                            code ->
                                    warnings.add(
                                            ("%s: %s makes this model's prompts by code"
                                                            + " (%s), not with its template; chats"
                                                            + " are routed by load alone there")
                                                    .formatted(file, engine, code)));
        }
        try {
            Template forTools = config.toolTemplate().map(Template::compile).orElse(null);
            return Optional.of(
                    new JinjaChatTemplate(
                            Template.compile(source),
                            forTools,
                            config.specialTokens(),
                            config.model(),
                            Clock.system(ZoneId.systemDefault()),
                            ChatMlRecogniser.recognise(source, config.specialTokens())
                                    .orElse(null)));
        } catch (TemplateException e) {
            warnings.add(
                    ("%s: the chat template cannot be used, %s; chats are routed by load"
                                    + " alone, completions by their tokens")
                            .formatted(file, e.getMessage()));
            return Optional.empty();
        }
    }
}
