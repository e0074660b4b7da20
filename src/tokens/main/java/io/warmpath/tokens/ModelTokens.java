package io.warmpath.tokens;

import io.warmpath.prefix.HashedPrompt;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.ModelLoader;
import io.warmpath.tokens.model.ModelShelf;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.model.ModelSources;
import io.warmpath.tokens.model.ReloadedModel;
import io.warmpath.tokens.model.ServedModel;
import io.warmpath.tokens.profile.ChatMedia;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.Continuation;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Conversation;
import io.warmpath.tokens.template.PromptInput.Ids;
import io.warmpath.tokens.template.PromptInput.Opaque;
import io.warmpath.tokens.template.PromptInput.Several;
import io.warmpath.tokens.template.PromptInput.Text;
import io.warmpath.tokens.text.SegmentCache;
import io.warmpath.tokens.text.TokensCounters;
import io.warmpath.tokens.text.UnencodableTextException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Prompt to token ids with each model's own tokenizer and chat template. As engines do: a rendered
 * chat is tokenised without the tokens that the tokenizer adds around a text, a raw prompt with
 * them. Any thread. Tokens are advice: whatever goes wrong gives no tokens, moves one counter and
 * warns once.
 */
public final class ModelTokens implements PromptTokens, Tokenizing, AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ModelTokens.class);

    /** What takes longer is not waited for by other prompts, which lose 5 ms at most. */
    private static final long BRIEF_NANOS = 4_000_000;

    /** The ids, or what an index makes of them, where it can run the tokenizer. */
    private record Wanted(@Nullable LookUp lookUp) {
        static final Wanted IDS = new Wanted(null);

        @Nullable LookUp of(ServedModel model) {
            LookUp any = lookUp;
            return any != null && any.index().runs(model.loaded.tokenizer()) ? any : null;
        }
    }

    private final ModelShelf shelf;
    private final TokensOptions options;
    private final LongSupplier nanoTime;
    private final TokensCounters counters;

    /**
     * Loads all tokenizers, several at a time; each file once, however many models use it. One that
     * cannot be loaded is told in the log, and its models have no tokens until {@link #reload}.
     *
     * @param nanoTime a monotonic clock, nanoseconds
     * @param bases the model that an adapter belongs to, whose tokens it has; any other name itself
     */
    public ModelTokens(
            ModelSources sources,
            ModelLoader loader,
            TokensOptions options,
            LongSupplier nanoTime,
            UnaryOperator<String> bases) {
        this.options = options;
        this.nanoTime = nanoTime;
        this.counters = new TokensCounters();
        this.shelf = new ModelShelf(sources, loader, options.cacheBytes(), counters, bases);
        shelf.load();
    }

    /** Without adapters. */
    public ModelTokens(
            ModelSources sources,
            ModelLoader loader,
            TokensOptions options,
            LongSupplier nanoTime) {
        this(sources, loader, options, nanoTime, UnaryOperator.identity());
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

    /** What files that are not in service yet make of a prompt. */
    public interface Trial {
        /**
         * @return empty when they give no tokens for it
         */
        Optional<int[]> ids(PromptInput prompt, EngineProfile engine);
    }

    /**
     * Puts files into service for models that have none; they are loaded anew as all others are.
     * One at a time; takes as long as loading and the check do.
     *
     * @param check says what is wrong with them, empty when nothing is
     * @return what is wrong, as a sentence without its end; empty when they are in service
     */
    public String offer(Set<String> models, ModelSource source, Function<Trial, String> check) {
        return shelf.offer(
                models,
                source,
                model -> check.apply((prompt, engine) -> tried(model, prompt, engine)));
    }

    private static Optional<int[]> tried(
            ServedModel model, PromptInput prompt, EngineProfile engine) {
        return prompt(model, prompt, engine) instanceof EnginePrompt.Text text
                ? Optional.of(ids(model, text, prompt instanceof Text))
                : Optional.empty();
    }

    /** Files are set up for this model, its own or those of all others, whatever became of them. */
    public boolean knows(String model) {
        return shelf.knows(model);
    }

    /** Files of this model are in service, its own or those of all others. */
    public boolean has(String model) {
        return shelf.has(model);
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
    public AtOnce atOnce(String modelName, PromptInput prompt, EngineProfile engine) {
        return atOnce(modelName, prompt, engine, Wanted.IDS);
    }

    @Override
    public AtOnce atOnce(
            String modelName, PromptInput prompt, EngineProfile engine, LookUp lookUp) {
        return atOnce(modelName, prompt, engine, new Wanted(lookUp));
    }

    private AtOnce atOnce(
            String modelName, PromptInput prompt, EngineProfile engine, Wanted wanted) {
        return switch (prompt) {
            case Ids ids ->
                    // Whoever wants them hashed does that where it does not hurt.
                    wanted.lookUp != null && ids.tokens().length > options.inlineChars()
                            ? Later.BRIEF
                            : new Made(tokens(modelName, ids, engine));
            case Several several -> new Made(tokens(modelName, several, engine));
            case Opaque opaque -> new Made(tokens(modelName, opaque, engine));
            case Text text -> atOnce(modelName, text.text().length(), prompt, engine, wanted);
            case Chat chat -> atOnce(modelName, chars(chat), prompt, engine, wanted);
            case Conversation chat -> atOnce(modelName, chat.chars(), prompt, engine, wanted);
        };
    }

    private AtOnce atOnce(
            String modelName, long chars, PromptInput prompt, EngineProfile engine, Wanted wanted) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            absent(modelName);
            return new Made(Optional.empty());
        }
        try {
            return isUsable(model, chars, prompt)
                    ? atOnce(modelName, model, chars, prompt, engine, wanted)
                    : new Made(Optional.empty());
        } finally {
            model.leave();
        }
    }

    private AtOnce atOnce(
            String modelName,
            ServedModel model,
            long chars,
            PromptInput prompt,
            EngineProfile engine,
            Wanted wanted) {
        if (prompt instanceof Conversation // to be read first
                || chars > options.inlineChars()
                || (prompt instanceof Chat chat
                        && model.template != null
                        && !model.template.isQuick(chat.messages().size()))) {
            return later(model, chars);
        }
        int mostNewChars = options.inlineNanos() / model.tokenizer.nanosPerChar();
        if (model.segmented == null && chars > mostNewChars && wanted.of(model) == null) {
            return later(model, chars);
        }
        AtOnce made = made(modelName, model, prompt, engine, mostNewChars, wanted);
        return made instanceof Later ? later(model, chars) : made;
    }

    /**
     * Rather too careful with a long chat whose beginning is known: that takes a look to find out.
     */
    private static Later later(ServedModel model, long chars) {
        return chars * model.tokenizer.nanosPerChar() > BRIEF_NANOS ? Later.LENGTHY : Later.BRIEF;
    }

    @Override
    public Optional<int[]> tokens(String modelName, PromptInput prompt, EngineProfile engine) {
        return whole(modelName, prompt, engine, Wanted.IDS) instanceof Made(Optional<int[]> ids)
                ? ids
                : Optional.empty();
    }

    @Override
    public Continuation continuation(
            String modelName, PromptInput chat, String said, EngineProfile engine) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            return Continuation.UNKNOWN;
        }
        try {
            ChatTemplate template = model.template;
            if (template == null) {
                return Continuation.UNKNOWN;
            }
            return switch (chat) {
                case Chat plain -> template.continuation(plain, said, engine);
                case Conversation other ->
                        template.continuation(other.source().get(), said, engine);
                case Text text -> Continuation.UNKNOWN;
                case Ids ids -> Continuation.UNKNOWN;
                case Several several -> Continuation.UNKNOWN;
                case Opaque opaque -> Continuation.UNKNOWN;
            };
        } catch (IllegalArgumentException e) {
            return Continuation.UNKNOWN; // some member is not what a chat has
        } finally {
            model.leave();
        }
    }

    @Override
    public AtOnce matched(
            String modelName, PromptInput prompt, EngineProfile engine, LookUp lookUp) {
        return whole(modelName, prompt, engine, new Wanted(lookUp));
    }

    /** However long it takes. */
    private AtOnce whole(
            String modelName, PromptInput prompt, EngineProfile engine, Wanted wanted) {
        return switch (prompt) {
            case Ids ids -> new Made(Optional.of(ids.tokens()));
            case Several several -> new Made(Optional.empty()); // each is asked for by itself
            case Opaque opaque -> {
                counters.opaque.increment();
                yield new Made(Optional.empty());
            }
            case Text text -> whole(modelName, text.text().length(), prompt, engine, wanted);
            case Chat chat -> whole(modelName, chars(chat), prompt, engine, wanted);
            case Conversation chat -> whole(modelName, chat.chars(), prompt, engine, wanted);
        };
    }

    private AtOnce whole(
            String modelName, long chars, PromptInput prompt, EngineProfile engine, Wanted wanted) {
        ServedModel model = shelf.enter(modelName);
        if (model == null) {
            absent(modelName);
            return new Made(Optional.empty());
        }
        try {
            return isUsable(model, chars, prompt)
                    ? made(modelName, model, prompt, engine, Integer.MAX_VALUE, wanted)
                    : new Made(Optional.empty());
        } finally {
            model.leave();
        }
    }

    /** It has tokens for such a prompt; if not, the reason is counted. */
    private boolean isUsable(ServedModel model, long chars, PromptInput prompt) {
        if (chars > options.maxPromptChars()) {
            counters.tooLong.increment();
            return false;
        }
        if (!(prompt instanceof Text) && model.template == null) {
            counters.noTemplate.increment(); // the loader's warning said so at start
            return false;
        }
        return true;
    }

    private AtOnce made(
            String modelName,
            ServedModel model,
            PromptInput prompt,
            EngineProfile engine,
            int mostNewChars,
            Wanted wanted) {
        long start = nanoTime.getAsLong();
        EnginePrompt rendered = prompt(model, prompt, engine);
        AtOnce made = null;
        ChatTemplate template = model.template;
        if (rendered instanceof EnginePrompt.Unpredictable
                && prompt instanceof Conversation chat
                && template != null) {
            ChatMedia media = ChatMedia.of(chat.source().get());
            int[] ids =
                    media == null ? null : MediaTokens.ids(model, template, chat, media, engine);
            if (ids != null) {
                made = new Made(Optional.of(ids));
            } else if (media != null) {
                rendered = ChatMedia.beginning(template.render(media.marked(), engine));
            }
        }
        if (made == null) {
            if (!(rendered instanceof EnginePrompt.Text text)) {
                counters.refused.increment();
                return new Made(Optional.empty());
            }
            made = encode(modelName, model, text, prompt instanceof Text, mostNewChars, wanted);
        }
        int tokens =
                switch (made) {
                    case Made(Optional<int[]> ids) -> ids.map(all -> all.length).orElse(-1);
                    case Matched(List<HashedPrompt> found) -> found.getFirst().tokens();
                    case Later later -> -1;
                };
        if (tokens >= 0) {
            counters.prompts.increment();
            counters.promptTokens.add(tokens);
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
                    : new Refused(
                            "tokens", "The model's tokenizer cannot go from tokens to text here.");
        } finally {
            model.leave();
        }
    }

    private static int[] ids(ServedModel model, EnginePrompt.Text text, boolean addSpecialTokens) {
        return addSpecialTokens
                ? model.tokenizer.encode(text.whole(), true)
                : LoadedModel.promptIds(model.tokenizer, text, model.loaded.specialTokens());
    }

    private AtOnce encode(
            String modelName,
            ServedModel model,
            EnginePrompt.Text text,
            boolean addSpecialTokens,
            int mostNewChars,
            Wanted wanted) {
        try {
            LookUp lookUp = wanted.of(model);
            if (lookUp != null && text.continued().isEmpty()) {
                return matched(model, text.rendered(), addSpecialTokens, mostNewChars, lookUp);
            }
            int[] ids;
            if (model.segmented == null) {
                if (text.rendered().length() > mostNewChars) {
                    return Later.BRIEF;
                }
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
                        "The tokenizer of %s fails; its requests are routed by load until it works",
                        modelName);
            }
            return new Made(Optional.empty());
        }
    }

    /** All in one call, without ids. */
    private AtOnce matched(
            ServedModel model,
            String text,
            boolean addSpecialTokens,
            int mostNewChars,
            LookUp lookUp) {
        List<HashedPrompt> found =
                lookUp.match(model.loaded.tokenizer(), text, addSpecialTokens, mostNewChars);
        model.failing = false;
        if (found == null) {
            return Later.BRIEF;
        }
        HashedPrompt first = found.getFirst();
        counters.encodedTokens.add(first.tokens() - first.knownTokens());
        return new Matched(found);
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
