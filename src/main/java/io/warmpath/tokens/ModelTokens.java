package io.warmpath.tokens;

import io.warmpath.tokens.PromptInput.Chat;
import io.warmpath.tokens.PromptInput.Conversation;
import io.warmpath.tokens.PromptInput.Ids;
import io.warmpath.tokens.PromptInput.Opaque;
import io.warmpath.tokens.PromptInput.Text;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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

    /** What takes longer is not waited for by other prompts, which lose 5 ms at most. */
    private static final long BRIEF_NANOS = 4_000_000;

    private final Map<String, Model> models;
    private final @Nullable Model fallback;
    private final Collection<Model> distinct;
    private final TokensOptions options;
    private final LongSupplier nanoTime;
    private final TokensCounters counters;
    private final Set<String> warnedModels = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** One tokenizer with its template and its remembered pieces. */
    private static final class Model {
        final Path path;
        final LoadedModel loaded;
        final TextTokenizer tokenizer;
        final @Nullable SegmentedTokenizer segmented;
        final @Nullable SegmentCache cache;
        final @Nullable ChatTemplate template;
        volatile boolean failing;

        Model(Path path, LoadedModel loaded, long cacheBytes, TokensCounters counters) {
            this.path = path;
            this.loaded = loaded;
            template = loaded.template().orElse(null);
            AddedTokens splitOn = loaded.splitOn().orElse(null);
            if (splitOn == null || cacheBytes == 0) {
                cache = null;
                segmented = null;
                tokenizer = loaded.tokenizer();
            } else {
                cache = new SegmentCache(cacheBytes);
                segmented = new SegmentedTokenizer(loaded.tokenizer(), splitOn, cache, counters);
                tokenizer = segmented;
            }
        }
    }

    /**
     * Loads all tokenizers, several at a time; each file once, however many models use it.
     *
     * @param paths model name to tokenizer file or directory
     * @param fallback for models that are not named; null: they get no tokens
     * @param nanoTime a monotonic clock, nanoseconds
     */
    public ModelTokens(
            Map<String, Path> paths,
            @Nullable Path fallback,
            ModelLoader loader,
            TokensOptions options,
            LongSupplier nanoTime)
            throws TokenizerLoadException {
        this.options = options;
        this.nanoTime = nanoTime;
        this.counters = new TokensCounters();
        Set<Path> files = new LinkedHashSet<>(paths.values());
        if (fallback != null) {
            files.add(fallback);
        }
        Map<Path, LoadedModel> loaded = ParallelLoad.all(files, loader);
        Map<Path, Model> byPath = new HashMap<>();
        for (Path file : files) {
            LoadedModel one = loaded.get(file);
            if (one == null) {
                throw new IllegalStateException(file + " was not loaded");
            }
            one.warnings().forEach(LOG::warn);
            long share = options.cacheBytes() / files.size();
            byPath.put(file, new Model(file, one, share, counters));
        }
        Map<String, Model> byName = new HashMap<>();
        paths.forEach((name, file) -> byName.put(name, byPath.get(file)));
        this.models = Map.copyOf(byName);
        this.fallback = fallback == null ? null : byPath.get(fallback);
        this.distinct = List.copyOf(byPath.values());
    }

    private ModelTokens(ModelTokens other, long cacheBytes) {
        options = other.options;
        nanoTime = other.nanoTime;
        counters = new TokensCounters();
        Map<Model, Model> copies = new HashMap<>();
        for (Model m : other.distinct) {
            long share = cacheBytes / other.distinct.size();
            copies.put(m, new Model(m.path, m.loaded, share, counters));
        }
        Map<String, Model> byName = new HashMap<>();
        other.models.forEach((name, m) -> byName.put(name, copies.get(m)));
        models = Map.copyOf(byName);
        fallback = other.fallback == null ? null : copies.get(other.fallback);
        distinct = List.copyOf(copies.values());
    }

    /**
     * The same tokenizers with counters and remembered pieces of their own: what is asked of it
     * leaves no trace here. Not to be asked after this is closed.
     *
     * @param cacheBytes memory for its remembered pieces
     */
    public PromptTokens apart(long cacheBytes) {
        return new ModelTokens(this, cacheBytes);
    }

    /** A model that has a tokenizer; empty when none has. */
    public Optional<String> anyModel() {
        Optional<String> named = models.keySet().stream().sorted().findFirst();
        return named.isPresent() || fallback == null ? named : Optional.of("any");
    }

    @Override
    public AtOnce atOnce(String modelName, PromptInput prompt, EngineProfile engine) {
        return switch (prompt) {
            case Ids ids -> new Made(tokens(modelName, ids, engine));
            case Opaque opaque -> new Made(tokens(modelName, opaque, engine));
            case Text text -> atOnce(modelName, text.text().length(), prompt, engine);
            case Chat chat -> atOnce(modelName, chars(chat), prompt, engine);
            case Conversation chat -> atOnce(modelName, chat.chars(), prompt, engine);
        };
    }

    private AtOnce atOnce(String modelName, long chars, PromptInput prompt, EngineProfile engine) {
        Model model = usable(modelName, chars, prompt);
        if (model == null) {
            return new Made(Optional.empty());
        }
        if (prompt instanceof Conversation // to be read first
                || chars > options.inlineChars()
                || (prompt instanceof Chat chat
                        && model.template != null
                        && !model.template.isQuick(chat.messages().size()))) {
            return later(model, chars);
        }
        int mostNewChars = options.inlineNanos() / model.tokenizer.nanosPerChar();
        if (model.segmented == null && chars > mostNewChars) {
            return later(model, chars);
        }
        AtOnce made = made(model, prompt, engine, mostNewChars);
        return made instanceof Later ? later(model, chars) : made;
    }

    /**
     * Rather too careful with a long chat whose beginning is known: that takes a look to find out.
     */
    private static Later later(Model model, long chars) {
        return chars * model.tokenizer.nanosPerChar() > BRIEF_NANOS ? Later.LENGTHY : Later.BRIEF;
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
        Model model = usable(modelName, chars, prompt);
        return model != null && made(model, prompt, engine, Integer.MAX_VALUE) instanceof Made made
                ? made.ids()
                : Optional.empty();
    }

    /** The model if it has tokens for such a prompt; else null, and the reason is counted. */
    private @Nullable Model usable(String modelName, long chars, PromptInput prompt) {
        Model model = model(modelName);
        if (model == null) {
            counters.unknownModel.increment();
            warnUnknown(modelName);
            return null;
        }
        if (closed) {
            return null;
        }
        if (chars > options.maxPromptChars()) {
            counters.tooLong.increment();
            return null;
        }
        if (!(prompt instanceof Text) && model.template == null) {
            counters.noTemplate.increment(); // the loader's warning said so at start
            return null;
        }
        return model;
    }

    private AtOnce made(Model model, PromptInput prompt, EngineProfile engine, int mostNewChars) {
        long start = nanoTime.getAsLong();
        if (!(prompt(model, prompt, engine) instanceof EnginePrompt.Text text)) {
            counters.refused.increment();
            return new Made(Optional.empty());
        }
        AtOnce made = encode(model, text, prompt instanceof Text, mostNewChars);
        if (made instanceof Made(Optional<int[]> ids) && ids.isPresent()) {
            counters.prompts.increment();
            counters.promptTokens.add(ids.get().length);
            counters.encodeNanos.add(nanoTime.getAsLong() - start);
        }
        return made;
    }

    @Override
    public Answer tokenize(
            String modelName,
            PromptInput prompt,
            EngineProfile engine,
            @Nullable Boolean addSpecialTokens) {
        Model model = model(modelName);
        if (model == null || closed) {
            return new NoTokenizer();
        }
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
        Model model = model(modelName);
        if (model == null || closed) {
            return new NoTokenizer();
        }
        Optional<String> text = model.tokenizer.decode(ids);
        return text.isPresent()
                ? new Tokens(ids, text.get())
                : new Refused(
                        "tokens", "The model's tokenizer cannot go from tokens to text here.");
    }

    private static int[] ids(Model model, EnginePrompt.Text text, boolean addSpecialTokens) {
        return addSpecialTokens
                ? model.tokenizer.encode(text.whole(), true)
                : LoadedModel.promptIds(model.tokenizer, text, model.loaded.specialTokens());
    }

    private AtOnce encode(
            Model model, EnginePrompt.Text text, boolean addSpecialTokens, int mostNewChars) {
        try {
            int[] ids;
            if (model.segmented == null) {
                ids = ids(model, text, addSpecialTokens);
                counters.encodedTokens.add(ids.length);
            } else if (mostNewChars == Integer.MAX_VALUE) {
                ids = ids(model, text, addSpecialTokens);
            } else if (!text.continued().isEmpty()) {
                return Later.BRIEF; // rare
            } else {
                ids =
                        model.segmented.encodeIfKnown(
                                text.rendered(), addSpecialTokens, mostNewChars);
            }
            model.failing = false;
            return ids == null ? Later.BRIEF : new Made(Optional.of(ids));
        } catch (UnencodableTextException e) {
            counters.failed.increment(); // the client's doing; the engine will tell it
            return new Made(Optional.empty());
        } catch (RuntimeException e) {
            counters.failed.increment();
            if (!model.failing) {
                model.failing = true;
                LOG.warnf(
                        e,
                        "The tokenizer %s fails; its models are routed by load until it works",
                        model.path);
            }
            return new Made(Optional.empty());
        }
    }

    /** What the engine tokenises, as far as it is certain. */
    private static EnginePrompt prompt(Model model, PromptInput prompt, EngineProfile engine) {
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

    private @Nullable Model model(String name) {
        Model model = models.get(name);
        return model == null ? fallback : model;
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
        return sumOfCaches(SegmentCache::evictions);
    }

    private long sumOfCaches(ToLongFunction<SegmentCache> value) {
        long sum = 0;
        for (Model model : distinct) {
            sum += model.cache == null ? 0 : value.applyAsLong(model.cache);
        }
        return sum;
    }

    /** Frees the tokenizers; prompts that come later get no tokens. */
    @Override
    public void close() {
        closed = true;
        List<RuntimeException> failures = new ArrayList<>();
        for (Model model : distinct) {
            try {
                model.tokenizer.close();
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            RuntimeException first = failures.removeFirst();
            failures.forEach(first::addSuppressed);
            throw first;
        }
    }
}
