package io.warmpath.gateway;

import io.vertx.core.Context;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.FlowMetrics.WithoutTokens;
import io.warmpath.routing.RouterMode;
import io.warmpath.tokens.PromptInput;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.PromptTokens.Later;
import io.warmpath.tokens.profile.EngineProfile;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Prompt to tokens: at once when that is cheap, else on the tokenising threads and back.
 *
 * <p>Tokens are advice. Whatever goes wrong, {@code next} runs exactly once, on the request's event
 * loop, with null when the tokens are not known.
 */
final class TokenStep {
    private static final Logger LOG = Logger.getLogger(TokenStep.class);

    /** What follows. */
    interface Next {
        void tokens(@Nullable PromptIds ids);
    }

    private final PromptTokens tokens;
    private final RouterMode mode;
    private final TokenLanes threads;
    private final Duration deadline;
    private final FlowMetrics metrics;
    private final EngineIds engineIds;
    private final LongSupplier nanoTime;
    private final Dependency health =
            new Dependency(LOG, "Tokenising", "prompts that fail are routed by load alone");

    TokenStep(
            PromptTokens tokens,
            RouterMode mode,
            TokenLanes threads,
            Duration deadline,
            FlowMetrics metrics,
            EngineIds engineIds,
            LongSupplier nanoTime) {
        this.tokens = tokens;
        this.mode = mode;
        this.threads = threads;
        this.deadline = deadline;
        this.metrics = metrics;
        this.engineIds = engineIds;
        this.nanoTime = nanoTime;
    }

    void run(Context context, InferenceRequest request, List<Candidate> candidates, Next next) {
        boolean unread = request.passThrough() && request.prompt() instanceof PromptInput.Opaque;
        if (unread || (!mode.looksAtTokens() && !request.explain())) {
            next.tokens(null); // the decision does not look at them
        } else if (engineIds.asks(request)) {
            make(context, request, candidates, ids -> ask(context, request, candidates, ids, next));
        } else {
            make(context, request, candidates, next);
        }
    }

    /** What the files here do not give. */
    private void ask(
            Context context,
            InferenceRequest request,
            List<Candidate> candidates,
            @Nullable PromptIds made,
            Next next) {
        if (made == null) {
            next.tokens(null); // they would give it, but something is wrong or slow
            return;
        }
        engineIds.complete(
                context,
                request,
                candidates,
                made,
                metrics,
                ids -> {
                    if (ids == null) {
                        metrics.withoutTokens(WithoutTokens.UNKNOWN);
                    }
                    next.tokens(ids);
                });
    }

    private void make(
            Context context, InferenceRequest request, List<Candidate> candidates, Next next) {
        if (request.prompt() instanceof PromptInput.Opaque) {
            metrics.withoutTokens(WithoutTokens.UNKNOWN);
            next.tokens(null);
            return;
        }
        Set<EngineProfile> engines = Engines.of(candidates);
        Later later = null;
        Map<EngineProfile, Optional<int[]>> made = new EnumMap<>(EngineProfile.class);
        long begin = nanoTime.getAsLong();
        try {
            for (EngineProfile engine : asked(request, engines)) {
                switch (tokens.atOnce(request.model(), request.prompt(), engine)) {
                    case PromptTokens.Made(Optional<int[]> ids) -> made.put(engine, ids);
                    case Later other ->
                            later = later == null || later.compareTo(other) < 0 ? other : later;
                }
            }
        } catch (RuntimeException | LinkageError e) {
            // LinkageError: the tokenizer's native library is loaded on first use.
            next.tokens(failed(e));
            return;
        }
        if (later == null) {
            next.tokens(counted(request, ids(made), begin));
        } else {
            offload(context, request, engines, later, next);
        }
    }

    private void offload(
            Context context,
            InferenceRequest request,
            Set<EngineProfile> engines,
            Later later,
            Next next) {
        Handover handover = new Handover(context, next);
        Runnable work = () -> handover.deliver(compute(request, engines));
        try {
            switch (later) {
                case BRIEF -> threads.brief(work);
                case LENGTHY -> threads.lengthy(work);
            }
        } catch (RejectedExecutionException e) {
            metrics.withoutTokens(WithoutTokens.QUEUE_FULL);
            next.tokens(null);
            return;
        }
        handover.timer =
                context.owner().setTimer(Math.max(1, deadline.toMillis()), t -> handover.late());
    }

    /** Any thread; never throws. */
    private @Nullable PromptIds compute(InferenceRequest request, Set<EngineProfile> engines) {
        long begin = nanoTime.getAsLong();
        try {
            Map<EngineProfile, Optional<int[]>> made = new EnumMap<>(EngineProfile.class);
            for (EngineProfile engine : asked(request, engines)) {
                made.put(engine, tokens.tokens(request.model(), request.prompt(), engine));
            }
            return counted(request, ids(made), begin);
        } catch (RuntimeException | LinkageError e) {
            return failed(e);
        }
    }

    private @Nullable PromptIds counted(
            InferenceRequest request, @Nullable PromptIds ids, long begin) {
        health.worked();
        if (ids == null && engineIds.asks(request)) {
            return PromptIds.UNKNOWN;
        }
        if (ids == null) {
            metrics.withoutTokens(WithoutTokens.UNKNOWN);
        } else {
            metrics.tokenised(nanoTime.getAsLong() - begin);
        }
        return ids;
    }

    private @Nullable PromptIds failed(Throwable e) {
        metrics.withoutTokens(WithoutTokens.FAILED);
        health.failed(e);
        return null;
    }

    /** One engine stands for all where they do not differ. */
    private static Set<EngineProfile> asked(InferenceRequest request, Set<EngineProfile> engines) {
        boolean same =
                request.prompt() instanceof PromptInput.Ids
                        || request.prompt() instanceof PromptInput.Text;
        return same && engines.size() > 1 ? Set.of(engines.iterator().next()) : engines;
    }

    private static @Nullable PromptIds ids(Map<EngineProfile, Optional<int[]>> made) {
        if (made.size() == 1) {
            return made.values().iterator().next().map(PromptIds::same).orElse(null);
        }
        Map<EngineProfile, int[]> lists = new EnumMap<>(EngineProfile.class);
        boolean known = false;
        for (Map.Entry<EngineProfile, Optional<int[]>> one : made.entrySet()) {
            known |= one.getValue().isPresent();
            lists.put(one.getKey(), one.getValue().orElse(new int[0]));
        }
        return known ? PromptIds.of(lists) : null;
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

        void deliver(@Nullable PromptIds ids) {
            context.runOnContext(
                    v -> {
                        if (!done) {
                            done = true;
                            context.owner().cancelTimer(timer);
                            next.tokens(ids);
                        }
                    });
        }

        void late() {
            if (!done) {
                done = true;
                metrics.withoutTokens(WithoutTokens.LATE);
                next.tokens(null);
            }
        }
    }
}
