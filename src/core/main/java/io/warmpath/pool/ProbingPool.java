package io.warmpath.pool;

import io.warmpath.pool.PoolUnavailableException.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A shared pool asked page by page: digests, cache, the rounds of {@link Probe}, breaker. Threads
 * as the port says. Short prompts are hashed on the caller's thread, long ones on the executor;
 * what follows an answer of the store runs on the thread that brought it.
 */
public final class ProbingPool implements SharedPool {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int KEYS_SHOWN = 1;

    private final PoolLayout layout;
    private final KeyStore store;
    private final PageDigests sha;
    private final Executor hashing;
    private final PoolOptions options;
    private final PageCache cache;
    private final CircuitBreaker breaker;
    private final AtomicInteger underWay = new AtomicInteger();
    private final LongAdder asked = new LongAdder();
    private final LongAdder fromCache = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder lookedUp = new LongAdder();
    private final LongAdder found = new LongAdder();
    private volatile String lastFailure = "";
    private volatile boolean closed;

    /**
     * @param store closed with this
     * @param hashing bounded threads for long prompts; may refuse
     */
    public ProbingPool(
            PoolLayout layout,
            KeyStore store,
            PageDigests sha,
            Executor hashing,
            PoolOptions options,
            LongSupplier nanoTime) {
        this.layout = layout;
        this.store = store;
        this.sha = sha;
        this.hashing = hashing;
        this.options = options;
        this.cache =
                new PageCache(
                        options.cacheBytes(), options.heldTtl(), options.missingTtl(), nanoTime);
        this.breaker =
                new CircuitBreaker(
                        options.failures(), options.pause(), options.longestPause(), nanoTime);
        store.onForget(cache::clear);
    }

    @Override
    public PoolLayout layout() {
        return layout;
    }

    @Override
    public CompletionStage<PoolHits> ask(PoolQuestion question) {
        CompletableFuture<PoolHits> answer = new CompletableFuture<>();
        PoolUnavailableException refusal = refusal();
        if (refusal != null) {
            failed.increment();
            answer.completeExceptionally(refusal);
            return answer;
        }
        underWay.incrementAndGet();
        // Also when the caller gives up by completing it.
        var unused = answer.whenComplete((hits, failure) -> underWay.decrementAndGet());
        if (question.length() <= options.inlineTokens()) {
            begin(question, answer);
            return answer;
        }
        try {
            hashing.execute(() -> begin(question, answer));
        } catch (RejectedExecutionException e) {
            fail(answer, new PoolUnavailableException(Reason.BUSY, "no thread to hash on", e));
        }
        return answer;
    }

    private @Nullable PoolUnavailableException refusal() {
        if (closed) {
            return new PoolUnavailableException(Reason.CLOSED, "the pool is closed");
        }
        if (!breaker.lets()) {
            return new PoolUnavailableException(
                    Reason.BREAKER_OPEN, "left alone after: " + lastFailure);
        }
        if (underWay.get() >= options.mostUnderWay()) {
            return new PoolUnavailableException(
                    Reason.BUSY, options.mostUnderWay() + " questions are under way");
        }
        return null;
    }

    private void begin(PoolQuestion question, CompletableFuture<PoolHits> answer) {
        try {
            new Search(layout.recipe().digests(question, sha), answer).run();
        } catch (RuntimeException e) {
            fail(answer, unavailable(e));
        }
    }

    private void fail(CompletableFuture<PoolHits> answer, PoolUnavailableException failure) {
        failed.increment();
        lastFailure = String.valueOf(failure.getMessage());
        answer.completeExceptionally(failure);
    }

    /** Whatever went wrong, as the port says it. */
    private static PoolUnavailableException unavailable(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null
                        ? failure.getCause()
                        : failure;
        return cause instanceof PoolUnavailableException known
                ? known
                : new PoolUnavailableException(Reason.GARBLED, "failed: " + cause, cause);
    }

    /**
     * One question's rounds. One thread at a time: a round begins when the last one's answer is in.
     */
    private final class Search {
        private final byte[] digests;
        private final CompletableFuture<PoolHits> answer;
        private final int pages;
        private final int asOf;
        private final Probe probe;
        private final int cached;
        private int keysAsked;

        Search(byte[] digests, CompletableFuture<PoolHits> answer) {
            this.digests = digests;
            this.answer = answer;
            this.pages = digests.length / PageRecipe.DIGEST_BYTES;
            this.asOf = cache.generation();
            PageCache.Known[] known = new PageCache.Known[pages];
            int hits = 0;
            for (int i = 0; i < pages; i++) {
                known[i] = cache.get(name(i));
                hits += known[i] == PageCache.Known.NOTHING ? 0 : 1;
            }
            cached = hits;
            lookedUp.add(pages);
            found.add(hits);
            int width = options.keysPerRound() / layout.recipe().keysPerPage();
            probe = new Probe(known, Math.max(2, width), options.all());
        }

        private long name(int page) {
            return (long) LONGS.get(digests, page * PageRecipe.DIGEST_BYTES);
        }

        void run() {
            List<Integer> round = probe.next();
            if (round.isEmpty()) {
                fromCache.increment();
                finish();
            } else if (breaker.enter()) {
                asked.increment();
                ask(round);
            } else {
                fail(
                        answer,
                        new PoolUnavailableException(Reason.BREAKER_OPEN, "another is trying"));
            }
        }

        private void ask(List<Integer> round) {
            int each = layout.recipe().keysPerPage();
            List<String> keys = new ArrayList<>(round.size() * each);
            round.forEach(page -> layout.recipe().keys(digests, page, keys));
            keysAsked += keys.size();
            try {
                store.held(keys).whenComplete((held, failure) -> came(round, each, held, failure));
            } catch (RuntimeException e) {
                lost(e);
            }
        }

        private void came(
                List<Integer> round, int each, @Nullable BitSet held, @Nullable Throwable failure) {
            if (held == null || failure != null) {
                lost(failure == null ? new NullPointerException("no answer") : failure);
                return;
            }
            try {
                take(round, held, each);
            } catch (RuntimeException e) {
                lost(e);
            }
        }

        private void lost(Throwable failure) {
            breaker.failed();
            fail(answer, unavailable(failure));
        }

        private void take(List<Integer> round, BitSet held, int each) {
            for (int i = 0; i < round.size(); i++) {
                int page = round.get(i);
                // All parts: the engine fetches a page whole or not at all.
                boolean whole = held.nextClearBit(i * each) >= (i + 1) * each;
                probe.answered(page, whole);
                cache.put(name(page), whole, asOf);
            }
            List<Integer> next = probe.next();
            if (next.isEmpty()) {
                breaker.succeeded();
                lastFailure = "";
                finish();
            } else {
                ask(next);
            }
        }

        private void finish() {
            answer.complete(
                    new PoolHits(
                            layout.recipe().pageSize(), pages, probe.bounds(), keysAsked, cached));
        }
    }

    @Override
    public CompletionStage<RecipeCheck.Verdict> check(List<PoolQuestion> stored) {
        List<String> keys = new ArrayList<>();
        try {
            for (PoolQuestion question : stored) {
                byte[] digests = layout.recipe().digests(question, sha);
                for (int i = 0; i < digests.length / PageRecipe.DIGEST_BYTES; i++) {
                    layout.recipe().keys(digests, i, keys);
                }
            }
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(unavailable(e));
        }
        if (keys.isEmpty()) {
            return CompletableFuture.completedFuture(new RecipeCheck.Verdict.NothingToAsk());
        }
        CompletableFuture<RecipeCheck.Verdict> verdict = new CompletableFuture<>();
        store.held(keys)
                .thenCompose(held -> judge(keys, held))
                .whenComplete(
                        (result, failure) -> {
                            if (failure != null) {
                                verdict.completeExceptionally(unavailable(failure));
                            } else {
                                verdict.complete(result);
                            }
                        });
        return verdict;
    }

    private CompletionStage<RecipeCheck.Verdict> judge(List<String> keys, BitSet held) {
        int each = layout.recipe().keysPerPage();
        int pages = keys.size() / each;
        int whole = 0;
        for (int i = 0; i < pages; i++) {
            whole += held.nextClearBit(i * each) >= (i + 1) * each ? 1 : 0;
        }
        if (whole > 0) {
            return CompletableFuture.completedFuture(new RecipeCheck.Verdict.Fits(pages, whole));
        }
        return store.some(KEYS_SHOWN)
                .thenApply(
                        seen ->
                                new RecipeCheck.Verdict.Nothing(
                                        pages,
                                        layout.recipe().description(),
                                        keys.getFirst(),
                                        seen.isEmpty() ? "" : seen.getFirst()));
    }

    @Override
    public PoolStanding standing() {
        return new PoolStanding(
                breaker.state(),
                lastFailure,
                asked.sum(),
                fromCache.sum(),
                failed.sum(),
                lookedUp.sum(),
                found.sum());
    }

    @Override
    public void close() {
        closed = true;
        store.close();
    }
}
