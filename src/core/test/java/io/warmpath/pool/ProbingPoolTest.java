package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.PoolStanding.BreakerState;
import io.warmpath.pool.PoolUnavailableException.Reason;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A pool asked by pages, before a store in memory whose answers come when the test lets them. */
class ProbingPoolTest {
    private static final int PAGE = 4;

    /** Keys in a set; answers at once, or when told to. */
    private static final class MemoryStore implements KeyStore {
        final Set<String> keys = new HashSet<>();
        final Deque<CompletableFuture<BitSet>> waiting = new ArrayDeque<>();
        final List<List<String>> asked = new ArrayList<>();
        boolean later;
        boolean closed;
        Runnable forget = () -> {};
        @Nullable RuntimeException broken;
        @Nullable PoolUnavailableException failing;

        @Override
        public CompletionStage<BitSet> held(List<String> wanted) {
            asked.add(wanted);
            if (broken != null) {
                throw broken;
            }
            if (failing != null) {
                return CompletableFuture.failedFuture(failing);
            }
            BitSet held = new BitSet();
            IntStream.range(0, wanted.size())
                    .filter(i -> keys.contains(wanted.get(i)))
                    .forEach(held::set);
            CompletableFuture<BitSet> answer = new CompletableFuture<>();
            if (later) {
                waiting.addLast(answer);
                return answer.thenApply(none -> held);
            }
            answer.complete(held);
            return answer;
        }

        @Override
        public CompletionStage<List<String>> some(int most) {
            return CompletableFuture.completedFuture(keys.stream().limit(most).toList());
        }

        @Override
        public void onForget(Runnable action) {
            forget = action;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final AtomicLong clock = new AtomicLong();
    private final MemoryStore store = new MemoryStore();
    private final SglangPages recipe =
            new SglangPages(
                    new SglangVersion(0, 5, 23), PAGE, false, false, SglangRanks.of(2, 1), "", "m");
    private final PoolLayout layout =
            new PoolLayout(recipe, List.of(URI.create("http://master:9003")));
    private final JdkPageDigests sha = new JdkPageDigests();

    private ProbingPool pool(PoolOptions options) {
        return new ProbingPool(layout, store, sha, Runnable::run, options, clock::get);
    }

    private static PoolQuestion prompt(int pages, int start) {
        return new PoolQuestion(IntStream.range(start, start + pages * PAGE).toArray());
    }

    private List<String> keys(PoolQuestion question, int page) {
        List<String> keys = new ArrayList<>();
        recipe.keys(recipe.digests(question, sha), page, keys);
        return keys;
    }

    private void store(PoolQuestion question, int from, int to) {
        for (int page = from; page < to; page++) {
            store.keys.addAll(keys(question, page));
        }
    }

    private static PoolHits now(CompletionStage<PoolHits> answer) {
        return answer.toCompletableFuture().join();
    }

    private static Reason reason(CompletionStage<PoolHits> answer) {
        CompletionException failure =
                assertThrows(CompletionException.class, () -> answer.toCompletableFuture().join());
        return assertInstanceOf(PoolUnavailableException.class, failure.getCause()).reason();
    }

    @Test
    void the_run_of_stored_pages_is_found() {
        PoolQuestion question = prompt(40, 0);
        store(question, 0, 23);
        PoolHits hits = now(pool(PoolOptions.DEFAULTS).ask(question));
        assertArrayEquals(new int[] {0, 23}, hits.bounds());
        assertEquals(23, hits.run());
        assertEquals(40, hits.pages());
        assertEquals(PAGE, hits.pageSize());
        assertEquals(store.asked.stream().mapToInt(List::size).sum(), hits.keysAsked());
    }

    @Test
    void a_page_with_one_part_missing_is_no_hit() {
        for (int part = 0; part < recipe.keysPerPage(); part++) {
            store.keys.clear();
            PoolQuestion question = prompt(3, 100 * part);
            store(question, 0, 3);
            store.keys.remove(keys(question, 1).get(part));
            ProbingPool all = pool(PoolOptions.DEFAULTS.withAll(true));
            assertArrayEquals(new int[] {0, 1, 2, 3}, now(all.ask(question)).bounds());
            assertEquals(1, now(pool(PoolOptions.DEFAULTS).ask(question)).run());
        }
    }

    @Test
    void a_prompt_shorter_than_a_page_asks_nothing() {
        PoolHits hits = now(pool(PoolOptions.DEFAULTS).ask(new PoolQuestion(new int[PAGE - 1])));
        assertEquals(0, hits.pages());
        assertEquals(List.of(), store.asked);
    }

    @Test
    void answers_are_kept_for_a_while_and_longer_prompts_ask_only_what_is_new() {
        PoolQuestion question = prompt(64, 0);
        store(question, 0, 64);
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        now(pool.ask(question));
        int before = store.asked.size();
        PoolHits again = now(pool.ask(question));
        assertEquals(64, again.run());
        assertEquals(0, again.keysAsked());
        assertTrue(again.pagesFromCache() > 0);
        assertEquals(before, store.asked.size());

        PoolHits longer = now(pool.ask(prompt(65, 0)));
        assertEquals(64, longer.run());
        assertEquals(recipe.keysPerPage(), longer.keysAsked());

        clock.addAndGet(PoolOptions.DEFAULTS.heldTtl().toNanos());
        assertTrue(now(pool.ask(question)).keysAsked() > 0);
        PoolStanding standing = pool.standing();
        assertEquals(3, standing.asked());
        assertEquals(1, standing.answeredFromCache());
        assertTrue(standing.pagesFound() > 0 && standing.pagesFound() < standing.pagesLookedUp());
    }

    @Test
    void an_answer_that_nobody_waited_for_serves_the_next_prompt() {
        PoolQuestion question = prompt(8, 0);
        store(question, 0, 8);
        store.later = true;
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        CompletableFuture<PoolHits> late = pool.ask(question).toCompletableFuture();
        assertFalse(late.isDone());
        while (!store.waiting.isEmpty()) {
            store.waiting.removeFirst().complete(new BitSet());
        }
        PoolHits next = now(pool.ask(question));
        assertEquals(8, next.run());
        assertEquals(0, next.keysAsked());
    }

    @Test
    void what_is_answered_across_a_change_of_masters_is_not_kept() {
        PoolQuestion question = prompt(1, 0);
        store(question, 0, 1);
        store.later = true;
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        CompletionStage<PoolHits> first = pool.ask(question);
        store.forget.run();
        store.waiting.removeFirst().complete(new BitSet());
        assertEquals(1, now(first).run());
        store.later = false;
        assertTrue(now(pool.ask(question)).keysAsked() > 0);
    }

    @Test
    void a_pool_that_fails_again_and_again_is_left_alone() {
        store.failing = new PoolUnavailableException(Reason.UNREACHABLE, "connection refused");
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        for (int i = 0; i < PoolOptions.DEFAULTS.failures(); i++) {
            assertEquals(Reason.UNREACHABLE, reason(pool.ask(prompt(1, i))));
        }
        assertEquals(BreakerState.OPEN, pool.standing().breaker());
        int asked = store.asked.size();
        assertEquals(Reason.BREAKER_OPEN, reason(pool.ask(prompt(1, 0))));
        assertEquals(asked, store.asked.size());
        assertEquals("connection refused", pool.standing().lastFailure());

        store.failing = null;
        clock.addAndGet(PoolOptions.DEFAULTS.pause().toNanos());
        assertEquals(0, now(pool.ask(prompt(1, 0))).run());
        assertEquals(BreakerState.CLOSED, pool.standing().breaker());
        assertEquals("", pool.standing().lastFailure());
    }

    @Test
    void a_store_that_breaks_its_promise_fails_the_question_and_not_the_caller() {
        store.broken = new IllegalStateException("boom");
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        for (int i = 0; i < PoolOptions.DEFAULTS.failures(); i++) {
            assertEquals(Reason.GARBLED, reason(pool.ask(prompt(1, i))));
        }
        assertEquals(Reason.BREAKER_OPEN, reason(pool.ask(prompt(1, 0))));
    }

    @Test
    void no_more_questions_are_under_way_than_allowed() {
        PoolOptions d = PoolOptions.DEFAULTS;
        PoolOptions two =
                new PoolOptions(
                        false,
                        64,
                        d.heldTtl(),
                        d.missingTtl(),
                        1024,
                        2,
                        64,
                        5,
                        d.pause(),
                        d.longestPause());
        store.later = true;
        ProbingPool pool = pool(two);
        pool.ask(prompt(1, 0));
        pool.ask(prompt(1, 1));
        assertEquals(Reason.BUSY, reason(pool.ask(prompt(1, 2))));
        store.waiting.removeFirst().complete(new BitSet());
        assertFalse(pool.ask(prompt(1, 3)).toCompletableFuture().isDone());
    }

    @Test
    void long_prompts_are_hashed_elsewhere_and_refused_when_there_is_no_room() {
        Deque<Runnable> tasks = new ArrayDeque<>();
        ProbingPool pool =
                new ProbingPool(layout, store, sha, tasks::add, PoolOptions.DEFAULTS, clock::get);
        PoolQuestion question = prompt(PoolOptions.DEFAULTS.inlineTokens() / PAGE + 1, 0);
        CompletableFuture<PoolHits> answer = pool.ask(question).toCompletableFuture();
        assertEquals(List.of(), store.asked);
        tasks.removeFirst().run();
        assertEquals(0, now(answer).run());
        ProbingPool full =
                new ProbingPool(
                        layout,
                        store,
                        sha,
                        task -> {
                            throw new RejectedExecutionException("full");
                        },
                        PoolOptions.DEFAULTS,
                        clock::get);
        assertEquals(Reason.BUSY, reason(full.ask(question)));
        assertEquals(BreakerState.CLOSED, full.standing().breaker());
    }

    @Test
    void a_closed_pool_refuses_and_closes_its_store() {
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        pool.close();
        assertTrue(store.closed);
        assertEquals(Reason.CLOSED, reason(pool.ask(prompt(1, 0))));
    }

    @Test
    void the_self_check_tells_a_wrong_recipe_from_an_empty_pool() {
        ProbingPool pool = pool(PoolOptions.DEFAULTS);
        RecipeCheck check = new RecipeCheck(PAGE, 2);
        assertInstanceOf(RecipeCheck.Verdict.NothingToAsk.class, verdict(pool, check));
        check.stored(new PoolQuestion(new int[PAGE - 1]));
        assertInstanceOf(RecipeCheck.Verdict.NothingToAsk.class, verdict(pool, check));

        check.stored(prompt(30, 0));
        check.stored(prompt(30, 0));
        assertEquals(1, check.sample().size(), "the same prompt once");
        RecipeCheck.Verdict.Nothing empty =
                assertInstanceOf(RecipeCheck.Verdict.Nothing.class, verdict(pool, check));
        assertFalse(empty.wrongRecipe());
        assertEquals(4, empty.asked());

        store.keys.add("other-model_0123_0_k");
        RecipeCheck.Verdict.Nothing wrong =
                assertInstanceOf(RecipeCheck.Verdict.Nothing.class, verdict(pool, check));
        assertTrue(wrong.wrongRecipe());
        for (String said :
                List.of("other-model_0123_0_k", wrong.tried(), recipe.description(), "4 pages")) {
            assertTrue(wrong.message().contains(said), wrong.message());
        }

        store(prompt(30, 0), 2, 3);
        assertEquals(new RecipeCheck.Verdict.Fits(4, 1), verdict(pool, check));
    }

    @Test
    void the_self_check_keeps_the_newest_prompts() {
        RecipeCheck check = new RecipeCheck(PAGE, 2);
        for (int start = 0; start < 5; start++) {
            check.stored(prompt(1, start));
        }
        assertEquals(List.of(3, 4), check.sample().stream().map(q -> q.tokens()[0]).toList());
    }

    private static RecipeCheck.Verdict verdict(ProbingPool pool, RecipeCheck check) {
        return pool.check(check.sample()).toCompletableFuture().join();
    }

    @Test
    void a_layout_names_its_masters_by_admin_url() {
        assertThrows(IllegalArgumentException.class, () -> new PoolLayout(recipe, List.of()));
        assertThrows(
                IllegalArgumentException.class,
                () -> new PoolLayout(recipe, List.of(URI.create("etcd://host:2379"))));
        assertEquals(layout, new PoolLayout(recipe, List.of(URI.create("http://master:9003"))));
    }
}
