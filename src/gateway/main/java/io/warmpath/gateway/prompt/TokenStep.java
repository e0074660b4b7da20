package io.warmpath.gateway.prompt;

import io.vertx.core.Context;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.Dependency;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.FlowMetrics.WithoutTokens;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.Part;
import io.warmpath.routing.RouterMode;
import io.warmpath.tokens.LookUp;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.PromptTokens.Later;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.tokens.template.TextChunks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Prompt to tokens, or, with an index that makes them itself, straight to hashes and depths: at
 * once when that is cheap, else on the tokenising threads and back. What has no tokens here is
 * asked from engines, and where they do not answer its text stands for it. Then shared pools are
 * asked what they hold of it. Tokens are advice. Whatever goes wrong, {@code next} runs exactly
 * once, on the request's event loop, with the reason when nothing is known.
 */
public final class TokenStep {
    private static final Logger LOG = Logger.getLogger(TokenStep.class);

    /** Texts up to this length are cut into chunks on the event loop: some 10 µs. */
    private static final int QUICK_CHARS = 32 << 10;

    /** What follows. */
    public interface Next {
        void tokens(@Nullable EnginePrompts prompt);

        /** Nothing is known, for this reason. */
        default void without(NotExact why) {
            tokens(null);
        }

        /** The tokens are known; the pools are asked now. */
        default void asksPools() {}
    }

    private final PromptTokens tokens;
    private final @Nullable PromptIndex index;
    private final boolean takesTexts;
    private final RouterMode mode;
    private final TokenLanes threads;
    private final Duration deadline;
    private final FlowMetrics metrics;
    private final EngineIds engineIds;
    private final @Nullable SharedCache shared;
    private final LongSupplier nanoTime;
    private final Dependency health =
            new Dependency(LOG, "Tokenising", "prompts that fail are routed by load alone");

    public TokenStep(
            PromptTokens tokens,
            @Nullable PromptIndex index,
            boolean takesTexts,
            RouterMode mode,
            TokenLanes threads,
            Duration deadline,
            FlowMetrics metrics,
            EngineIds engineIds,
            @Nullable SharedCache shared,
            LongSupplier nanoTime) {
        this.tokens = tokens;
        this.index = index;
        this.takesTexts = takesTexts && mode.looksAtTokens();
        this.mode = mode;
        this.threads = threads;
        this.deadline = deadline;
        this.metrics = metrics;
        this.engineIds = engineIds;
        this.shared = shared;
        this.nanoTime = nanoTime;
    }

    public boolean looksAtPrompts() {
        return mode.looksAtTokens();
    }

    public void run(
            Context context, InferenceRequest request, List<Candidate> candidates, Next then) {
        SharedCache pools = mode == RouterMode.KV ? shared : null;
        Next next =
                pools == null
                        ? then
                        : new Next() {
                            @Override
                            public void tokens(@Nullable EnginePrompts prompt) {
                                askPools(pools, context, request, candidates, prompt, then);
                            }

                            @Override
                            public void without(NotExact why) {
                                then.without(why);
                            }
                        };
        boolean unread = request.passThrough() && request.prompt() instanceof PromptInput.Opaque;
        if (unread && request.form().part() == Part.PREFILL && mode.looksAtTokens()) {
            next.tokens(EnginePrompts.unread(request.body().length()));
        } else if (unread || (!mode.looksAtTokens() && !request.form().explain())) {
            next.without(NotExact.LOAD_ALONE); // the decision does not look at them
        } else if (engineIds.asks(request)) {
            make(
                    context,
                    request,
                    candidates,
                    new Next() {
                        @Override
                        public void tokens(@Nullable EnginePrompts made) {
                            ask(context, request, candidates, Objects.requireNonNull(made), next);
                        }

                        @Override
                        public void without(NotExact why) {
                            next.without(why); // they would give it, but something is wrong or slow
                        }
                    });
        } else {
            make(context, request, candidates, next);
        }
    }

    private static void askPools(
            SharedCache pools,
            Context context,
            InferenceRequest request,
            List<Candidate> candidates,
            @Nullable EnginePrompts prompt,
            Next next) {
        if (prompt == null || prompt.isGuess() || prompt.isSeveral()) {
            next.tokens(prompt); // pools name blocks by the tokens of one prompt
            return;
        }
        next.asksPools();
        pools.ask(
                context,
                candidates,
                kind -> prompt.of(kind).ids(),
                request.space(),
                view -> next.tokens(view == null ? prompt : prompt.with(view)));
    }

    /** What the files here do not give. */
    private void ask(
            Context context,
            InferenceRequest request,
            List<Candidate> candidates,
            EnginePrompts made,
            Next next) {
        engineIds.complete(
                context,
                request,
                candidates,
                made,
                metrics,
                ids -> {
                    if (ids == null) {
                        unknown(context, request, next);
                    } else {
                        next.tokens(ids);
                    }
                });
    }

    private void make(
            Context context, InferenceRequest request, List<Candidate> candidates, Next next) {
        if (request.prompt() instanceof PromptInput.Opaque) {
            unknown(context, request, next);
            return;
        }
        Set<EngineProfile> engines = Engines.of(candidates);
        LookUp lookUp = lookUp(request, candidates);
        if (request.prompt() instanceof PromptInput.Several) {
            Later how = request.body().length() <= QUICK_CHARS ? Later.BRIEF : Later.LENGTHY;
            offload(context, () -> compute(request, engines, lookUp), how, next);
            return;
        }
        Later later = null;
        Map<EngineProfile, PromptContent> made = new EnumMap<>(EngineProfile.class);
        long begin = nanoTime.getAsLong();
        try {
            for (EngineProfile engine : asked(request.prompt(), engines)) {
                PromptTokens.AtOnce one =
                        lookUp == null
                                ? tokens.atOnce(request.model(), request.prompt(), engine)
                                : tokens.atOnce(request.model(), request.prompt(), engine, lookUp);
                if (one instanceof Later other) {
                    later = later == null || later.compareTo(other) < 0 ? other : later;
                } else {
                    made.put(engine, content(one, lookUp));
                }
            }
        } catch (RuntimeException | LinkageError e) {
            // LinkageError: the tokenizer's native library is loaded on first use.
            give(next, failed(e));
            return;
        }
        if (later != null) {
            offload(context, () -> compute(request, engines, lookUp), later, next);
            return;
        }
        EnginePrompts prompt = counted(request, prompts(made), begin);
        if (prompt == null) {
            unknown(context, request, next);
        } else {
            next.tokens(prompt);
        }
    }

    /** The prompt's tokens cannot be known. */
    private void unknown(Context context, InferenceRequest request, Next next) {
        if (!takesTexts || TextChunks.isQuick(request.prompt(), QUICK_CHARS)) {
            give(next, text(request));
        } else {
            offload(context, () -> text(request), Later.BRIEF, next);
        }
    }

    /**
     * The chunks of text that stand for unknown tokens, or nothing and why. Any thread; never
     * throws.
     */
    private EnginePrompts text(InferenceRequest request) {
        Optional<TextChunks> text = Optional.empty();
        if (takesTexts) {
            try {
                text = TextChunks.of(request.model(), request.prompt());
            } catch (IllegalArgumentException e) {
                LOG.debugf("%s: %s", request.requestId(), e.getMessage()); // the engine will tell
            } catch (RuntimeException e) {
                return failed(e);
            }
        }
        if (text.isEmpty()) {
            return nothing(WithoutTokens.UNKNOWN);
        }
        metrics.byText();
        return EnginePrompts.of(text.get());
    }

    /** Null: ids are wanted. */
    private @Nullable LookUp lookUp(InferenceRequest request, List<Candidate> candidates) {
        if (index == null) {
            return null;
        }
        List<Integer> sizes = new ArrayList<>(1);
        for (int i = 0; i < candidates.size(); i++) {
            Worker worker = candidates.get(i).worker();
            if (worker.cache().bigrams()) {
                return null; // pairs of tokens are made of ids
            }
            int blockSize = worker.blockSize();
            if (blockSize > 0
                    && blockSize <= PrefixIndex.MAX_BLOCK_SIZE
                    && !sizes.contains(blockSize)) {
                sizes.add(blockSize);
            }
        }
        return sizes.isEmpty() ? null : new LookUp(index, sizes, request.space());
    }

    private static PromptContent content(PromptTokens.AtOnce one, @Nullable LookUp lookUp) {
        return switch (one) {
            case PromptTokens.Matched(List<HashedPrompt> found) -> PromptContent.of(found);
            case PromptTokens.Made(Optional<int[]> ids) ->
                    ids.isEmpty()
                            ? PromptContent.UNKNOWN
                            : lookUp == null
                                    ? PromptContent.of(ids.get())
                                    : PromptContent.of(lookUp.match(ids.get()));
            case Later later ->
                    throw new IllegalStateException(
                            "a thread that may take its time asked to be called later");
        };
    }

    /** {@code make}: never throws. */
    private void offload(Context context, Supplier<EnginePrompts> make, Later later, Next next) {
        Handover handover = new Handover(context, next);
        Runnable work = () -> handover.deliver(make.get());
        try {
            switch (later) {
                case BRIEF -> threads.brief(work);
                case LENGTHY -> threads.lengthy(work);
            }
        } catch (RejectedExecutionException e) {
            give(next, nothing(WithoutTokens.QUEUE_FULL));
            return;
        }
        handover.timer =
                context.owner().setTimer(Math.max(1, deadline.toMillis()), t -> handover.late());
    }

    /** Any thread; never throws. */
    private EnginePrompts compute(
            InferenceRequest request, Set<EngineProfile> engines, @Nullable LookUp lookUp) {
        long begin = nanoTime.getAsLong();
        try {
            EnginePrompts prompt = counted(request, made(request, engines, lookUp), begin);
            return prompt == null ? text(request) : prompt;
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            // The last one is of memory outside the heap: the JVM ends where the heap is used up.
            return failed(e);
        }
    }

    /** Null: no engine's is known, or not all of several. */
    private @Nullable EnginePrompts made(
            InferenceRequest request, Set<EngineProfile> engines, @Nullable LookUp lookUp) {
        if (!(request.prompt() instanceof PromptInput.Several several)) {
            return made(request.model(), request.prompt(), engines, lookUp);
        }
        List<EnginePrompts> all = new ArrayList<>(several.prompts().size());
        for (PromptInput prompt : several.prompts()) {
            EnginePrompts one = made(request.model(), prompt, engines, lookUp);
            if (one == null) {
                return null;
            }
            all.add(one);
        }
        return EnginePrompts.of(all);
    }

    private @Nullable EnginePrompts made(
            String model, PromptInput prompt, Set<EngineProfile> engines, @Nullable LookUp lookUp) {
        Map<EngineProfile, PromptContent> made = new EnumMap<>(EngineProfile.class);
        for (EngineProfile engine : asked(prompt, engines)) {
            PromptTokens.AtOnce one =
                    lookUp == null
                            ? new PromptTokens.Made(tokens.tokens(model, prompt, engine))
                            : tokens.matched(model, prompt, engine, lookUp);
            made.put(engine, content(one, lookUp));
        }
        return prompts(made);
    }

    /** Null: it is not known here, and no engine is asked. */
    private @Nullable EnginePrompts counted(
            InferenceRequest request, @Nullable EnginePrompts prompt, long begin) {
        health.worked();
        if (prompt == null) {
            return engineIds.asks(request) ? EnginePrompts.UNKNOWN : null;
        }
        metrics.tokenised(nanoTime.getAsLong() - begin);
        return prompt;
    }

    private EnginePrompts failed(Throwable e) {
        health.failed(e);
        return nothing(WithoutTokens.FAILED);
    }

    private EnginePrompts nothing(WithoutTokens why) {
        metrics.withoutTokens(why);
        return EnginePrompts.nothing(why.reason());
    }

    private static void give(Next next, EnginePrompts prompt) {
        NotExact why = prompt.whyNothing();
        if (why == null) {
            next.tokens(prompt);
        } else {
            next.without(why);
        }
    }

    /**
     * The ids of a prompt, made anew. Blocks as long as it takes.
     *
     * @return empty when they are not known
     */
    int[] idsOn(EngineKind kind, InferenceRequest request) {
        return tokens.tokens(request.model(), request.prompt(), Engines.of(kind))
                .orElse(PromptContent.NO_IDS);
    }

    /** One engine stands for all where they do not differ. */
    private static Set<EngineProfile> asked(PromptInput prompt, Set<EngineProfile> engines) {
        boolean same = prompt instanceof PromptInput.Ids || prompt instanceof PromptInput.Text;
        return same && engines.size() > 1 ? Set.of(engines.iterator().next()) : engines;
    }

    /** Null: no engine's is known. */
    private static @Nullable EnginePrompts prompts(Map<EngineProfile, PromptContent> made) {
        boolean known = false;
        for (PromptContent one : made.values()) {
            known |= one != PromptContent.UNKNOWN;
        }
        return known ? EnginePrompts.of(made) : null;
    }

    /** Between the tokenising thread and the loop; {@code next} is called by whoever is first. */
    private final class Handover {
        private final Context context;
        private final Next next;
        private boolean done; // event loop only
        long timer = -1; // event loop only

        Handover(Context context, Next next) {
            this.context = context;
            this.next = next;
        }

        void deliver(EnginePrompts prompt) {
            context.runOnContext(
                    v -> {
                        if (!done) {
                            done = true;
                            context.owner().cancelTimer(timer);
                            give(next, prompt);
                        }
                    });
        }

        void late() {
            if (!done) {
                done = true;
                give(next, nothing(WithoutTokens.LATE));
            }
        }
    }
}
