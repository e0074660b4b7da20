package io.warmpath.tokens;

import io.warmpath.tokens.PromptInput.Chat;
import io.warmpath.tokens.PromptInput.Conversation;
import io.warmpath.tokens.PromptInput.Ids;
import io.warmpath.tokens.PromptInput.Opaque;
import io.warmpath.tokens.PromptInput.Text;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Prompt to token ids with each model's own tokenizer and chat template.
 *
 * <p>As engines do: a rendered chat is tokenised without the tokens that the tokenizer adds around
 * a text, a raw prompt with them.
 *
 * <p>Any thread. Tokens are advice: whatever goes wrong gives no tokens, moves one counter and
 * warns once, and the request is routed by load.
 */
public final class ModelTokens implements PromptTokens, Tokenizing, AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ModelTokens.class);

    /** Names come from clients; more than this many are not worth a line each. */
    private static final int MAX_WARNED_MODELS = 64;

    private final ModelShelf shelf;
    private final TokensOptions options;
    private final LongSupplier nanoTime;
    private final TokensCounters counters;
    private final Set<String> warnedModels = ConcurrentHashMap.newKeySet();

    /**
     * Loads all tokenizers, several at a time; each file once, however many models use it. One that
     * cannot be loaded is told in the log, and its models have no tokens until {@link #reload}.
     *
     * @param nanoTime a monotonic clock, nanoseconds
     */
    public ModelTokens(
            ModelSources sources,
            ModelLoader loader,
            TokensOptions options,
            LongSupplier nanoTime) {
        this.options = options;
        this.nanoTime = nanoTime;
        this.counters = new TokensCounters();
        this.shelf = new ModelShelf(sources, loader, options.cacheBytes(), counters);
        shelf.load();
    }

    private ModelTokens(ModelTokens other, long cacheBytes) {
        options = other.options;
        nanoTime = other.nanoTime;
        counters = new TokensCounters();
        shelf = other.shelf.copy(cacheBytes, counters);
    }

    /**
     * The same tokenizers with counters and remembered pieces of their own: what is asked of it
     * leaves no trace here. It has no tokens of a model that was closed or loaded anew since.
     *
     * @param cacheBytes memory for its remembered pieces
     */
    public PromptTokens apart(long cacheBytes) {
        return new ModelTokens(this, cacheBytes);
    }

    /** A model that has a tokenizer; empty when none has. */
    public Optional<String> anyModel() {
        return shelf.anyModel();
    }

    /**
     * Loads what has changed on disk, and what could not be loaded before. A model is exchanged as
     * a whole, under running requests; files that cannot be used leave the loaded ones in service.
     * One at a time; takes as long as loading does.
     *
     * @return one entry for each set of files
     */
    public List<ReloadedModel> reload() {
        return shelf.reload();
    }

    /**
     * As {@link #reload}, for files that have changed since they were last tried and have not since
     * the last call: not those that are just being written.
     */
    public void reloadChanged() {
        shelf.reloadChanged();
    }

    @Override
    public boolean isCheap(String modelName, PromptInput prompt, EngineProfile engine) {
        return switch (prompt) {
            case Ids ids -> true;
            case Opaque opaque -> true;
            case Text text -> isCheap(modelName, text.text().length(), prompt, engine);
            case Chat chat -> isCheap(modelName, chars(chat), prompt, engine);
            case Conversation chat -> isCheap(modelName, chat.chars(), prompt, engine);
        };
    }

    private boolean isCheap(
            String modelName, long chars, PromptInput prompt, EngineProfile engine) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            return true; // nothing will be tokenised
        }
        try {
            return isCheap(model, chars, prompt, engine);
        } finally {
            model.leave();
        }
    }

    private boolean isCheap(
            ServedModel model, long chars, PromptInput prompt, EngineProfile engine) {
        if (chars > options.maxPromptChars()) {
            return true; // nothing will be tokenised
        }
        if (prompt instanceof Conversation) {
            return model.template == null; // to be read first
        }
        if (prompt instanceof Chat chat
                && model.template != null
                && !model.template.isQuick(chat.messages().size())) {
            return false;
        }
        if (chars <= options.inlineNewChars()) {
            return true;
        }
        if (model.segmented == null || chars > options.inlineChars()) {
            return false;
        }
        return !(prompt(model, prompt, engine) instanceof EnginePrompt.Text text)
                || model.segmented.unknownChars(text.rendered(), prompt instanceof Text)
                        <= options.inlineNewChars();
    }

    @Override
    public Optional<int[]> tokens(String modelName, PromptInput prompt, EngineProfile engine) {
        return switch (prompt) {
            case Ids ids -> Optional.of(ids.tokens());
            case Opaque opaque -> {
                counters.opaque.increment();
                yield Optional.empty();
            }
            case Text text -> tokens(modelName, text.text().length(), prompt, engine);
            case Chat chat -> tokens(modelName, chars(chat), prompt, engine);
            case Conversation chat -> tokens(modelName, chat.chars(), prompt, engine);
        };
    }

    private Optional<int[]> tokens(
            String modelName, long chars, PromptInput prompt, EngineProfile engine) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            absent(modelName);
            return Optional.empty();
        }
        try {
            return tokens(modelName, model, chars, prompt, engine);
        } finally {
            model.leave();
        }
    }

    private Optional<int[]> tokens(
            String modelName,
            ServedModel model,
            long chars,
            PromptInput prompt,
            EngineProfile engine) {
        if (chars > options.maxPromptChars()) {
            counters.tooLong.increment();
            return Optional.empty();
        }
        if (!(prompt instanceof Text) && model.template == null) {
            counters.noTemplate.increment(); // the loader's warning said so at start
            return Optional.empty();
        }
        long start = nanoTime.getAsLong();
        if (!(prompt(model, prompt, engine) instanceof EnginePrompt.Text text)) {
            counters.refused.increment();
            return Optional.empty();
        }
        int[] ids = encode(modelName, model, text, prompt instanceof Text);
        if (ids == null) {
            return Optional.empty();
        }
        counters.prompts.increment();
        counters.promptTokens.add(ids.length);
        counters.encodeNanos.add(nanoTime.getAsLong() - start);
        return Optional.of(ids);
    }

    @Override
    public Answer tokenize(
            String modelName,
            PromptInput prompt,
            EngineProfile engine,
            @Nullable Boolean addSpecialTokens) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            return new NoTokenizer();
        }
        try {
            return tokenize(modelName, model, prompt, engine, addSpecialTokens);
        } finally {
            model.leave();
        }
    }

    private static Answer tokenize(
            String modelName,
            ServedModel model,
            PromptInput prompt,
            EngineProfile engine,
            @Nullable Boolean addSpecialTokens) {
        if (!(prompt instanceof Text) && model.template == null) {
            return new Refused(
                    "model",
                    "There is no chat template for `" + modelName + "` here; send a `prompt`.");
        }
        boolean special = addSpecialTokens != null ? addSpecialTokens : prompt instanceof Text;
        return switch (prompt(model, prompt, engine)) {
            case EnginePrompt.Text text -> {
                try {
                    yield new Tokens(ids(model, text, special), text.whole());
                } catch (UnencodableTextException e) {
                    yield new Refused(prompt instanceof Text ? "prompt" : "messages", said(e));
                }
            }
            case EnginePrompt.Invalid invalid -> new Refused(invalid.path(), invalid.message());
            case EnginePrompt.Unpredictable other ->
                    new Refused(
                            "messages",
                            "What the engine makes of this is not known here: "
                                    + other.why()
                                    + ".");
        };
    }

    private static String said(RuntimeException e) {
        return String.valueOf(e.getMessage());
    }

    @Override
    public Answer detokenize(String modelName, int[] ids) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            return new NoTokenizer();
        }
        try {
            Optional<String> text = model.tokenizer.decode(ids);
            return text.isPresent()
                    ? new Tokens(ids, text.get())
                    : new Refused("tokens", "These tokens are not known to the model's tokenizer.");
        } finally {
            model.leave();
        }
    }

    private static int[] ids(ServedModel model, EnginePrompt.Text text, boolean addSpecialTokens) {
        return addSpecialTokens
                ? model.tokenizer.encode(text.whole(), true)
                : LoadedModel.promptIds(model.tokenizer, text, model.loaded.specialTokens());
    }

    private int @Nullable [] encode(
            String modelName, ServedModel model, EnginePrompt.Text text, boolean addSpecialTokens) {
        try {
            int[] ids = ids(model, text, addSpecialTokens);
            if (model.segmented == null) {
                counters.encodedTokens.add(ids.length);
            }
            model.failing = false;
            return ids;
        } catch (UnencodableTextException e) {
            counters.failed.increment(); // the client's doing; the engine will tell it
            return null;
        } catch (RuntimeException e) {
            counters.failed.increment();
            if (!model.failing) {
                model.failing = true;
                LOG.warnf(
                        e,
                        "The tokenizer of %s fails; its requests are routed by load until it works",
                        modelName);
            }
            return null;
        }
    }

    /** What the engine tokenises, as far as it is certain. */
    private static EnginePrompt prompt(
            ServedModel model, PromptInput prompt, EngineProfile engine) {
        if (prompt instanceof Text text) {
            return new EnginePrompt.Text(text.text());
        }
        ChatTemplate template = model.template;
        if (template != null && prompt instanceof Chat chat) {
            return template.render(chat, engine);
        }
        if (template != null && prompt instanceof Conversation chat) {
            try {
                return template.render(chat.source().get(), engine);
            } catch (IllegalArgumentException e) {
                return new EnginePrompt.Invalid("", said(e));
            }
        }
        return new EnginePrompt.Unpredictable("no template");
    }

    private static long chars(Chat chat) {
        long chars = 0;
        for (PromptInput.Message message : chat.messages()) {
            chars += (long) message.role().length() + message.content().length();
        }
        return chars;
    }

    /** Why there is no tokenizer: it could not be loaded, or nobody gave one, or all is over. */
    private void absent(String modelName) {
        if (shelf.isClosed()) {
            return;
        }
        if (shelf.knows(modelName)) {
            counters.notLoaded.increment(); // the log said so when it was tried
        } else {
            counters.unknownModel.increment();
            warnUnknown(modelName);
        }
    }

    private void warnUnknown(String modelName) {
        if (warnedModels.size() < MAX_WARNED_MODELS && warnedModels.add(modelName)) {
            LOG.warnf(
                    "No tokenizer for model %s: its requests are routed by load alone;"
                            + " give one with --tokenizer %s=FILE",
                    modelName, modelName);
        }
    }

    public TokensCounters counters() {
        return counters;
    }

    /** Memory held by remembered pieces, about. */
    public long cacheBytes() {
        return sumOfCaches(SegmentCache::bytes);
    }

    public long cacheEntries() {
        return sumOfCaches(SegmentCache::size);
    }

    public long cacheEvictions() {
        return shelf.formerEvictions() + sumOfCaches(SegmentCache::evictions);
    }

    private long sumOfCaches(ToLongFunction<SegmentCache> value) {
        return shelf.sumOfCaches(value);
    }

    /** Frees the tokenizers; prompts that come later get no tokens. */
    @Override
    public void close() {
        shelf.close();
    }
}
