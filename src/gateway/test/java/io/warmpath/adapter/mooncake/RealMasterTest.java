package io.warmpath.adapter.mooncake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.warmpath.pool.JdkPageDigests;
import io.warmpath.pool.PageRecipe;
import io.warmpath.pool.PoolHits;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolOptions;
import io.warmpath.pool.PoolQuestion;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.ProbingPool;
import io.warmpath.pool.RecipeCheck;
import io.warmpath.pool.SglangPages;
import io.warmpath.pool.SglangRanks;
import io.warmpath.pool.SglangVersion;
import io.warmpath.pool.VllmPages;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real master, real objects, and what a prompt's pages look like from here. */
class RealMasterTest {
    private static final int PAGE = 16;
    private static final JdkPageDigests SHA = new JdkPageDigests();

    /** Nothing is remembered: each question goes to the master. */
    private static final PoolOptions FRESH =
            PoolOptions.DEFAULTS.withTtls(Duration.ZERO, Duration.ZERO);

    @TempDir static Path logs;
    private static Vertx vertx;
    private static RealMaster master;

    private final List<ProbingPool> pools = new ArrayList<>();

    @BeforeAll
    static void start() {
        master = RealMaster.start(logs, 64 << 20);
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        if (master != null) {
            master.close();
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @AfterEach
    void close() {
        pools.forEach(ProbingPool::close);
    }

    private ProbingPool pool(PageRecipe recipe, PoolOptions options, URI url) {
        MooncakeOptions d = MooncakeOptions.DEFAULTS;
        MooncakeOptions patient =
                new MooncakeOptions(
                        d.keysPerRequest(),
                        d.connections(),
                        Duration.ofSeconds(10),
                        d.maxAnswerBytes(),
                        d.viewCheck());
        ProbingPool pool =
                new ProbingPool(
                        new PoolLayout(recipe, List.of(url)),
                        new MooncakeKeyStore(
                                vertx,
                                List.of(url),
                                patient,
                                System::nanoTime,
                                MooncakeKeyStore.Reach.ANYWHERE),
                        SHA,
                        Runnable::run,
                        options,
                        System::nanoTime);
        pools.add(pool);
        return pool;
    }

    private static SglangPages sglang(String version, boolean mla, SglangRanks ranks, String tag) {
        return new SglangPages(
                SglangVersion.parse(version).orElseThrow(),
                PAGE,
                mla,
                false,
                ranks,
                tag,
                "Qwen/Qwen3-8B");
    }

    private static PoolQuestion prompt(int pages, int start) {
        return new PoolQuestion(IntStream.range(start, start + pages * PAGE).toArray());
    }

    private static List<String> keys(PageRecipe recipe, PoolQuestion question, int from, int to) {
        byte[] digests = recipe.digests(question, SHA);
        List<String> keys = new ArrayList<>();
        for (int page = from; page < to; page++) {
            recipe.keys(digests, page, keys);
        }
        return keys;
    }

    private static PoolHits ask(ProbingPool pool, PoolQuestion question) {
        return pool.ask(question).toCompletableFuture().join();
    }

    @Test
    void pages_of_every_layout_are_found_as_far_as_they_were_written() {
        int start = 0;
        for (PageRecipe recipe :
                List.of(
                        sglang("0.5.6", false, SglangRanks.of(1, 1), ""),
                        sglang("0.5.9", true, SglangRanks.of(2, 1), "deploy1"),
                        sglang("0.5.14", false, new SglangRanks(2, 1, 4, 1, 1), "deploy1"),
                        sglang("0.5.17", false, SglangRanks.of(2, 2), ""),
                        sglang("0.5.23", true, new SglangRanks(8, 1, 8, 4, 1), ""),
                        new VllmPages(PAGE, "0", "Llama-3.1-8B", "@fmt2", "a/b", 2, 1, 1, 1, 1))) {
            start += 100_000;
            PoolQuestion question = prompt(60, start);
            master.put(keys(recipe, question, 0, 37), 64);
            master.put(keys(recipe, question, 50, 52), 64);
            PoolHits run = ask(pool(recipe, FRESH, master.url()), question);
            assertEquals(37, run.run(), recipe.description());
            assertTrue(
                    run.keysAsked() <= 60 * recipe.keysPerPage(), run.keysAsked() + " keys asked");
            assertArrayEquals(
                    new int[] {0, 37, 50, 52},
                    ask(pool(recipe, FRESH.withAll(true), master.url()), question).bounds());
        }
    }

    @Test
    void a_page_of_which_one_part_is_removed_is_found_no_more() {
        PageRecipe recipe = sglang("0.5.23", false, SglangRanks.of(2, 1), "");
        PoolQuestion question = prompt(8, 5_000_000);
        master.put(keys(recipe, question, 0, 8), 64);
        ProbingPool pool = pool(recipe, FRESH.withAll(true), master.url());
        assertEquals(8, ask(pool, question).run());
        master.remove(keys(recipe, question, 5, 6).subList(3, 4));
        assertArrayEquals(new int[] {0, 5, 6, 8}, ask(pool, question).bounds());
    }

    @Test
    void asking_does_not_keep_pages_from_being_removed() {
        PageRecipe recipe = sglang("0.5.23", true, SglangRanks.of(1, 1), "");
        PoolQuestion question = prompt(4, 6_000_000);
        List<String> keys = keys(recipe, question, 0, 4);
        master.put(keys, 64);
        ProbingPool pool = pool(recipe, FRESH, master.url());
        assertEquals(4, ask(pool, question).run());
        master.remove(keys); // refused while somebody has a lease
        assertEquals(0, ask(pool, question).run());
    }

    @Test
    void the_self_check_finds_what_was_written_and_names_what_is_there_instead() {
        PageRecipe right = sglang("0.5.23", false, SglangRanks.of(1, 1), "");
        PoolQuestion question = prompt(6, 7_000_000);
        master.put(keys(right, question, 0, 6), 64);
        RecipeCheck check = new RecipeCheck(PAGE, 4);
        check.stored(question);
        assertEquals(
                new RecipeCheck.Verdict.Fits(4, 4),
                pool(right, FRESH, master.url())
                        .check(check.sample())
                        .toCompletableFuture()
                        .join());
        PageRecipe wrong = sglang("0.5.16", false, SglangRanks.of(1, 1), "other");
        RecipeCheck.Verdict.Nothing nothing =
                assertInstanceOf(
                        RecipeCheck.Verdict.Nothing.class,
                        pool(wrong, FRESH, master.url())
                                .check(check.sample())
                                .toCompletableFuture()
                                .join());
        assertTrue(nothing.wrongRecipe(), nothing.message());
    }

    @Test
    void a_master_that_dies_fails_questions_and_nothing_else() {
        try (RealMaster mortal = RealMaster.start(logs, 32 << 20)) {
            PageRecipe recipe = sglang("0.5.23", true, SglangRanks.of(1, 1), "");
            PoolQuestion question = prompt(4, 8_000_000);
            mortal.put(keys(recipe, question, 0, 4), 64);
            ProbingPool pool = pool(recipe, FRESH, mortal.url());
            assertEquals(4, ask(pool, question).run());
            mortal.kill();
            CompletionException failure =
                    assertThrows(
                            CompletionException.class,
                            () -> {
                                for (int i = 0; i < 1000; i++) {
                                    ask(pool, question);
                                }
                            });
            assertEquals(
                    PoolUnavailableException.Reason.UNREACHABLE,
                    assertInstanceOf(PoolUnavailableException.class, failure.getCause()).reason());
        }
    }
}
