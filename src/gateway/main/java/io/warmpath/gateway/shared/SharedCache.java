package io.warmpath.gateway.shared;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.LmcacheMetadata;
import io.warmpath.fleet.metadata.VllmStoreMetadata;
import io.warmpath.pool.PageRecipe;
import io.warmpath.pool.PoolHits;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolQuestion;
import io.warmpath.pool.PoolStanding;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.RecipeCheck;
import io.warmpath.pool.SharedPool;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.SharedHits;
import io.warmpath.routing.SharedView;
import io.warmpath.routing.SharedView.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Asks the pools of a request's candidates what they hold of its prompt, and waits no longer than
 * the deadline. {@link #ask} on the request's event loop, never blocks; whatever goes wrong, the
 * request goes on with what is known. Fleet changes come one at a time and not on an event loop.
 * {@link #check} on one timer. Owns the pools: one for each layout that some worker has.
 */
public final class SharedCache implements FleetListener, AutoCloseable {
    private static final Logger LOG = Logger.getLogger(SharedCache.class);

    /** From the first stored prompt to the first look for it: writing to the pool takes a while. */
    private static final long FIRST_CHECK_NANOS = 60_000_000_000L;

    /** Prompt pages that are kept to be looked for, in tokens at most. */
    private static final int SAMPLE_PAGES = 5;

    private final SharedOptions options;
    private final Function<PoolLayout, SharedPool> opener;
    private final LongSupplier nanoTime;
    private final SharedMetrics metrics;
    private final Map<PoolLayout, OpenPool> pools = new ConcurrentHashMap<>();
    private final Map<Long, OpenPool> byWorker = new ConcurrentHashMap<>();
    private final Map<Long, String> unusable = new HashMap<>(); // fleet changes only
    private final AtomicBoolean warnedOfNone = new AtomicBoolean();

    /**
     * @param opener begins to follow a pool; called when its first worker has come
     * @param nanoTime as {@link System#nanoTime}
     */
    public SharedCache(
            SharedOptions options,
            Function<PoolLayout, SharedPool> opener,
            MeterRegistry meters,
            LongSupplier nanoTime) {
        this.options = options;
        this.opener = opener;
        this.nanoTime = nanoTime;
        this.metrics = new SharedMetrics(meters, this::open);
    }

    /** How the ways to the pools are doing, by pool. Any thread. */
    public Map<PoolLayout, PoolStanding> standings() {
        Map<PoolLayout, PoolStanding> all = new HashMap<>();
        pools.forEach((layout, open) -> all.put(layout, open.pool.standing()));
        return all;
    }

    private Collection<OpenPool> open() {
        return pools.values();
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        if (after.state() != WorkerState.STARTING) {
            place(after);
        }
    }

    @Override
    public void removed(Worker worker) {
        take(worker.id(), null);
        unusable.remove(worker.id());
    }

    private void place(Worker worker) {
        switch (PoolMembership.of(worker, options)) {
            case PoolMembership.Member(PoolLayout layout) -> {
                unusable.remove(worker.id());
                OpenPool at =
                        pools.computeIfAbsent(
                                layout,
                                l -> {
                                    OpenPool opened =
                                            new OpenPool(opener.apply(l), nanoTime.getAsLong());
                                    LOG.infof(
                                            "Shared cache: asking %s for pages of %s",
                                            l.masters(), l.recipe().description());
                                    return opened;
                                });
                take(worker.id(), at);
            }
            case PoolMembership.Unusable(String why) -> {
                take(worker.id(), null);
                if (!why.equals(unusable.put(worker.id(), why))) {
                    LOG.warnf(
                            "Worker %s gets no credit for its shared cache: %s",
                            worker.name(), why);
                }
            }
            case PoolMembership.None none -> take(worker.id(), null);
        }
    }

    /** The worker is in this pool from now on; null: in none. */
    @SuppressWarnings("ReferenceEquality") // there is one object for each pool
    private void take(long worker, @Nullable OpenPool at) {
        OpenPool was = at == null ? byWorker.remove(worker) : byWorker.put(worker, at);
        if (at != null) {
            at.join(worker);
        }
        if (was != null && was != at && was.leave(worker)) {
            pools.remove(was.pool.layout());
            was.pool.close();
        }
    }

    /**
     * Asks; to be called on the request's event loop, where {@code next} runs exactly once, at once
     * or when the answers are there, at the deadline at the latest.
     *
     * @param ids of the prompt as each kind of engine sees it; empty: not known
     * @param next gets null where there is nothing to ask
     */
    public void ask(
            Context context,
            List<Candidate> candidates,
            Function<EngineKind, int[]> ids,
            PrefixSpace space,
            Consumer<@Nullable SharedView> next) {
        List<OpenPool> asked = poolsOf(candidates);
        int[] tokens = asked.isEmpty() ? new int[0] : ids.apply(kind());
        // The engines name adapters by ids of their own, which enter their pages' names.
        if (tokens.length == 0 || !space.lora().isEmpty()) {
            next.accept(null);
            return;
        }
        new Asking(context, asked, next).start(question(tokens, space));
    }

    private static PoolQuestion question(int[] tokens, PrefixSpace space) {
        return new PoolQuestion(
                tokens, tokens.length, null, space.salt().isEmpty() ? null : space.salt());
    }

    private EngineKind kind() {
        return switch (options.kind()) {
            case HICACHE -> EngineKind.SGLANG;
            case MOONCAKE_STORE, LMCACHE -> EngineKind.VLLM;
        };
    }

    private List<OpenPool> poolsOf(List<Candidate> candidates) {
        if (pools.isEmpty()) {
            if (!candidates.isEmpty() && warnedOfNone.compareAndSet(false, true)) {
                LOG.warnf(
                        "Shared cache: no workers have HiCache enabled: none has told %s, so no pool"
                                + " is asked. %s",
                        switch (options.kind()) {
                            case HICACHE -> HiCacheMetadata.KEY;
                            case MOONCAKE_STORE -> VllmStoreMetadata.KEY;
                            case LMCACHE -> LmcacheMetadata.KEY;
                        },
                        options.kind() == SharedOptions.Kind.HICACHE
                                ? "Start SGLang with --hicache-storage-backend mooncake, or tell it"
                                        + " for the worker"
                                : "Tell it for the worker");
            }
            return List.of();
        }
        List<OpenPool> found = new ArrayList<>(1);
        for (int i = 0; i < candidates.size(); i++) {
            OpenPool pool = byWorker.get(candidates.get(i).worker().id());
            if (pool != null && !found.contains(pool)) {
                found.add(pool);
                if (found.size() == pools.size()) {
                    break;
                }
            }
        }
        return found;
    }

    /** A request was decided on what pools said. */
    public void decided(RoutingDecision decision) {
        SharedView view = decision.request().shared();
        if (view != null) {
            Worker worker = decision.chosen().candidate().worker();
            SharedHits hits = view.hits(worker);
            if (hits != null) {
                metrics.decided(
                        hits,
                        decision.request().promptTokens() / Math.max(1, worker.blockSize()),
                        decision.chosen().gpuBlocks());
            }
        }
    }

    /**
     * The prompt goes to this worker; now and then one is kept for the self-check.
     *
     * @return to be run when the worker has answered well; null: nothing
     */
    public @Nullable Runnable sent(Worker worker, int[] tokens, PrefixSpace space) {
        OpenPool pool = byWorker.get(worker.id());
        int page = pool == null ? 0 : pool.pool.layout().recipe().pageSize();
        if (pool == null
                || tokens.length < page
                || !space.lora().isEmpty()
                || !pool.wantsSample(worker, nanoTime.getAsLong())) {
            return null;
        }
        int kept = Math.min(tokens.length, SAMPLE_PAGES * page);
        PoolQuestion beginning = question(Arrays.copyOf(tokens, kept), space);
        return () -> pool.stored(beginning);
    }

    /** Pools that workers share, and how many of them answer. */
    public Answering answering() {
        List<OpenPool> now = List.copyOf(open());
        return new Answering(
                now.size(), (int) now.stream().filter(pool -> !pool.isFailing()).count());
    }

    /** Of all pools. */
    public record Answering(int pools, int answering) {}

    /** Looks for stored pages where that is due. */
    public void check() {
        long now = nanoTime.getAsLong();
        for (OpenPool pool : open()) {
            List<PoolQuestion> sample = pool.sample();
            if (sample.isEmpty()) {
                continue;
            }
            if (pool.firstStored < 0) {
                pool.firstStored = now;
            }
            boolean due =
                    pool.checkedAt < 0
                            ? now - pool.firstStored >= FIRST_CHECK_NANOS
                            : now - pool.checkedAt >= options.checkInterval().toNanos();
            if (due) {
                pool.checkedAt = now;
                checkNow(pool, sample);
            }
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // whenComplete hands on what is handled in it
    private static void checkNow(OpenPool pool, List<PoolQuestion> sample) {
        pool.pool
                .check(sample)
                .whenComplete(
                        (RecipeCheck.Verdict verdict, Throwable failure) -> {
                            if (failure == null) {
                                pool.checked(verdict);
                            } else {
                                LOG.debugf("%s was not checked: %s", pool.name, failure);
                            }
                        });
    }

    @Override
    public void close() {
        pools.values().forEach(p -> p.pool.close());
        pools.clear();
        byWorker.clear();
    }

    /** One prompt's questions. On its event loop. */
    private final class Asking {
        private final Context context;
        private final List<OpenPool> pools;
        private final SharedView.@Nullable Pool[] answers;
        private final Consumer<@Nullable SharedView> next;
        private final long began = nanoTime.getAsLong();
        private int open;
        private boolean done;
        private long timer = -1;

        Asking(Context context, List<OpenPool> pools, Consumer<@Nullable SharedView> next) {
            this.context = context;
            this.pools = pools;
            this.answers = new SharedView.Pool[pools.size()];
            this.next = next;
        }

        void start(PoolQuestion question) {
            open = pools.size() + 1; // one for this method
            for (int i = 0; i < pools.size(); i++) {
                begin(i, question);
            }
            ended();
            long millis = options.deadline().toMillis();
            if (!done && millis == 0) {
                late();
            } else if (!done) {
                timer = context.owner().setTimer(millis, t -> late());
            }
        }

        @SuppressWarnings("FutureReturnValueIgnored") // both ends are handled in it
        private void begin(int i, PoolQuestion question) {
            CompletableFuture<PoolHits> answer;
            try {
                answer = pools.get(i).pool.ask(question).toCompletableFuture();
            } catch (RuntimeException e) {
                answer = CompletableFuture.failedFuture(e);
            }
            boolean atOnce = answer.isDone();
            answer.whenComplete(
                    (hits, failure) -> {
                        if (atOnce) {
                            answered(i, hits, failure);
                        } else {
                            context.runOnContext(v -> answered(i, hits, failure));
                        }
                    });
        }

        private void answered(int i, @Nullable PoolHits hits, @Nullable Throwable failure) {
            OpenPool pool = pools.get(i);
            String problem = "";
            if (hits != null) {
                metrics.answered(nanoTime.getAsLong() - began, hits.keysAsked());
            } else {
                Throwable cause =
                        failure instanceof CompletionException && failure.getCause() != null
                                ? failure.getCause()
                                : failure;
                problem = cause == null ? "no answer" : String.valueOf(cause.getMessage());
                metrics.failed(
                        cause instanceof PoolUnavailableException u
                                ? u.reason()
                                : PoolUnavailableException.Reason.GARBLED);
                pool.failed(problem);
            }
            if (done) {
                return; // late: what it said is remembered by the pool
            }
            if (hits != null) {
                pool.answered();
            }
            end(
                    i,
                    hits == null ? Outcome.FAILED : Outcome.IN_TIME,
                    problem,
                    hits == null ? null : inBlocks(hits, pool.pool.layout().recipe()));
            ended();
        }

        private static SharedHits inBlocks(PoolHits hits, PageRecipe recipe) {
            int blocks = recipe.pageSize() / recipe.blockSize();
            int[] bounds = Arrays.stream(hits.bounds()).map(page -> page * blocks).toArray();
            return new SharedHits(recipe.blockSize(), bounds);
        }

        private void end(int i, Outcome outcome, String problem, @Nullable SharedHits hits) {
            OpenPool pool = pools.get(i);
            Set<Long> workers = pool.workers();
            metrics.outcome(outcome);
            // An empty set would stand for all workers.
            answers[i] =
                    new SharedView.Pool(
                            pool.name,
                            workers.isEmpty() ? Set.of(-1L) : workers,
                            outcome,
                            problem,
                            hits);
        }

        private void late() {
            if (done) {
                return;
            }
            for (int i = 0; i < answers.length; i++) {
                if (answers[i] == null) {
                    pools.get(i).late(options.deadline().toMillis());
                    end(i, Outcome.LATE, "", null);
                }
            }
            finish();
        }

        private void ended() {
            if (--open == 0 && !done) {
                finish();
            }
        }

        private void finish() {
            done = true;
            if (timer >= 0) {
                context.owner().cancelTimer(timer);
            }
            List<SharedView.Pool> all = new ArrayList<>(answers.length);
            for (SharedView.Pool answer : answers) {
                all.add(Objects.requireNonNull(answer));
            }
            next.accept(new SharedView(all));
        }
    }
}
