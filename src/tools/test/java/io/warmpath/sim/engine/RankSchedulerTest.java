package io.warmpath.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CachePolicy;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import io.warmpath.sim.cache.Medium;
import io.warmpath.sim.cache.SglangPageHasher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who computes when, on virtual time: 1 ms per prompt token, 10 ms per answer token. */
class RankSchedulerTest {
    private static final int BLOCK = 4;
    private static final long MS = 1_000_000;
    private static final Timing TIMING = new Timing(1000, 10_000, Duration.ofMillis(10), 1);

    private final VirtualTimers timers = new VirtualTimers();
    private int batchTokens = 1000;
    private final List<CacheEvent> pending = new ArrayList<>();
    private final List<String> log = new ArrayList<>();

    @Test
    void the_first_token_comes_after_the_uncached_part_and_the_others_at_their_pace() {
        RankScheduler rank = rank(cache(100, 0), 8, false);
        rank.submit(request("a", prompt(1, 20), 3));
        timers.advanceTo(100 * MS);
        rank.submit(request("b", prompt(1, 20), 1));
        timers.advanceTo(200 * MS);
        assertEquals(
                List.of(
                        "20 store 5",
                        "20 a cached 0",
                        "20 a 0",
                        "30 a 1",
                        "40 a 2",
                        "40 a end",
                        // 16 of 20 tokens cached: the last block is computed again
                        "104 b cached 16",
                        "104 b 0",
                        "104 b end"),
                log);
    }

    @Test
    void prompts_are_computed_one_after_the_other_and_see_what_the_one_before_left() {
        RankScheduler rank = rank(cache(100, 0), 8, false);
        rank.submit(request("a", prompt(1, 20), 2));
        rank.submit(request("b", prompt(1, 21), 1));
        assertEquals(1, rank.waiting());
        timers.advanceTo(21 * MS);
        assertEquals(
                List.of(
                        "20 store 5",
                        "20 a cached 0",
                        "20 a 0",
                        "21 b cached 20",
                        "21 b 0",
                        "21 b end"),
                log);
    }

    @Test
    void a_step_takes_prompts_until_it_is_full_and_goes_on_with_the_last_one() {
        batchTokens = 24;
        RankScheduler rank = rank(cache(100, 0), 8, false);
        rank.submit(request("a", prompt(1, 4), 1));
        rank.submit(request("b", prompt(2, 16), 1));
        rank.submit(request("c", prompt(3, 12), 1));
        rank.submit(request("d", prompt(4, 8), 1));
        timers.advanceTo(100 * MS);
        // 4; 16 of b and 8 of c; 4 of c and 8 of d
        assertEquals(
                List.of("4 a 0", "28 b 0", "40 c 0", "40 d 0"),
                log.stream().filter(l -> l.endsWith(" 0") && !l.contains("cached")).toList(),
                log.toString());
        assertTrue(log.contains("28 store 4") && log.contains("28 store 2"), log.toString());
    }

    @Test
    void a_prompt_that_leaves_its_step_does_not_hold_up_the_others() {
        RankScheduler rank = rank(cache(100, 0), 8, false);
        rank.submit(request("a", prompt(1, 4), 1));
        Sequence leaves = request("b", prompt(2, 16), 1);
        Sequence last = request("c", prompt(3, 16), 1);
        rank.submit(leaves);
        rank.submit(last);
        timers.advanceTo(5 * MS);
        rank.abort(leaves);
        timers.advanceTo(36 * MS);
        assertTrue(log.contains("36 c 0"), "its step was under way: " + log);
        rank.submit(request("d", prompt(4, 16), 1));
        Sequence alone = request("e", prompt(5, 4), 1);
        timers.advanceTo(40 * MS);
        rank.submit(alone);
        rank.abort(alone);
        timers.advanceTo(100 * MS);
        assertTrue(log.contains("52 d 0"), log.toString());
        assertEquals(0, rank.running() + rank.waiting() + timers.pending());
    }

    @Test
    void answers_become_cached_at_the_end_as_in_sglang() {
        RankScheduler rank = rank(cache(100, 0), 8, false);
        rank.submit(request("a", prompt(1, 6), 8));
        timers.advanceTo(60 * MS);
        log.clear();
        timers.advanceTo(100 * MS);
        // 6 + 8 tokens, the last one not computed: 13 tokens, 3 blocks, one stored already
        assertEquals(List.of("66 a 6", "76 store 2", "76 a 7", "76 a end"), log);
    }

    @Test
    void blocks_become_known_when_scheduled_and_as_they_fill_as_in_vllm() {
        RankScheduler rank = rank(cache(100, 0), 8, true);
        rank.submit(request("a", prompt(1, 6), 4));
        timers.advanceTo(100 * MS);
        assertEquals(
                List.of(
                        "0 store 1",
                        "6 a cached 0",
                        "6 a 0",
                        "16 a 1",
                        // the third token's step computes the KV of the eighth
                        "26 store 1",
                        "26 a 2",
                        "36 a 3",
                        "36 a end"),
                log);
    }

    @Test
    void no_more_run_than_the_batch_limit_allows() {
        RankScheduler rank = rank(cache(1000, 0), 2, false);
        rank.submit(request("a", prompt(1, 10), 5));
        rank.submit(request("b", prompt(2, 10), 5));
        rank.submit(request("c", prompt(3, 10), 1));
        timers.advanceTo(45 * MS);
        assertEquals(2, rank.running());
        assertEquals(1, rank.waiting());
        timers.advanceTo(60 * MS);
        assertTrue(log.contains("50 a end"));
        assertTrue(log.contains("60 c 0"), "c starts when a has ended: " + log);
    }

    @Test
    void a_request_that_does_not_fit_waits_and_holds_back_those_behind_it() {
        RankScheduler rank = rank(cache(8, 0), 8, false);
        rank.submit(request("big", prompt(1, 20), 4));
        rank.submit(request("too big for now", prompt(2, 20), 4));
        rank.submit(request("small", prompt(3, 3), 1));
        timers.advanceTo(45 * MS);
        assertEquals(1, rank.running());
        assertEquals(2, rank.waiting());
        timers.advanceTo(200 * MS);
        assertEquals(0, rank.running() + rank.waiting());
        assertTrue(
                log.indexOf("70 too big for now 0") < log.indexOf("73 small 0")
                        && log.contains("73 small 0"),
                "first come, first served: " + log);
    }

    /** One at a time; the first one runs when the others come. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"ARRIVAL, low none high higher", "HIGHER_FIRST, higher high low none"})
    void the_queue_is_ordered_by_priority_when_it_is_told_to(QueueOrder order, String expected) {
        assertEquals(List.of(expected.split(" ")), order(order));
    }

    @Test
    void the_lower_ones_come_first_when_it_is_told_to() {
        assertEquals(List.of("low", "high", "higher", "none"), order(QueueOrder.LOWER_FIRST));
    }

    private List<String> order(QueueOrder order) {
        log.clear();
        RankScheduler rank =
                new RankScheduler(
                        cache(100, 0),
                        TIMING,
                        timers,
                        1,
                        batchTokens,
                        false,
                        order,
                        null,
                        this::publish);
        rank.submit(request("first", prompt(1, 8), 1));
        rank.submit(request("low", prompt(2, 8), 1, 1));
        rank.submit(request("none", prompt(3, 8), 1, null));
        rank.submit(request("high", prompt(4, 8), 1, 5));
        rank.submit(request("higher", prompt(5, 8), 1, 6));
        timers.playAll();
        return log.stream()
                .filter(l -> l.endsWith(" end"))
                .map(l -> l.split(" ", -1)[1])
                .skip(1)
                .toList();
    }

    @Test
    void what_can_never_fit_is_refused() {
        RankScheduler rank = rank(cache(4, 0), 8, false);
        assertThrows(
                IllegalArgumentException.class, () -> rank.submit(request("a", prompt(1, 16), 1)));
    }

    @Test
    void an_abort_frees_slot_and_blocks_in_every_state() {
        KvCache cache = cache(8, 0);
        RankScheduler rank = rank(cache, 1, false);
        Sequence decoding = request("a", prompt(1, 8), 8);
        Sequence waiting = request("b", prompt(2, 8), 8);
        rank.submit(decoding);
        rank.submit(waiting);
        timers.advanceTo(20 * MS);
        rank.abort(waiting);
        rank.abort(decoding);
        Sequence prefilling = request("c", prompt(3, 8), 8);
        rank.submit(prefilling);
        rank.abort(prefilling);
        log.clear();
        timers.advanceTo(500 * MS);

        assertEquals(List.of(), log, "nothing is said to those who left");
        assertEquals(3, rank.counters().aborted());
        assertEquals(0, rank.running() + rank.waiting());
        assertEquals(cache.gpuEvictable(), cache.gpuUsed(), "no block is held any more");
        rank.abort(decoding);
        assertEquals(3, rank.counters().aborted(), "a second abort has no effect");
    }

    @Test
    void a_host_hit_is_loaded_at_the_links_rate() {
        KvCache cache = cache(8, 100);
        RankScheduler rank = rank(cache, 8, false);
        rank.submit(request("a", prompt(1, 20), 1));
        timers.advanceTo(100 * MS);
        rank.submit(request("b", prompt(2, 28), 1));
        timers.advanceTo(200 * MS);
        log.clear();
        rank.submit(request("a again", prompt(1, 21), 1));
        timers.advanceTo(300 * MS);
        // 20 tokens at 0.1 ms from the host, the last one computed meanwhile
        assertTrue(log.contains("202 a again cached 20"), log.toString());
        assertEquals(
                List.of("200 remove GPU"), log.stream().filter(l -> l.contains("remove")).toList());
    }

    /** Whatever happens in which order: at the end nobody runs and nothing is held. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void random_submits_and_aborts_leave_nothing_behind(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        KvCache cache = cache(30, seed % 2 == 0 ? 100 : 0);
        RankScheduler rank = rank(cache, 4, seed % 3 == 0);
        List<Sequence> alive = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            if (random.nextInt(3) > 0) {
                int length = 1 + random.nextInt(40);
                Sequence s =
                        request("r" + i, prompt(random.nextInt(4), length), 1 + random.nextInt(9));
                alive.add(s);
                rank.submit(s);
            } else if (!alive.isEmpty()) {
                int newest = Math.min(6, alive.size());
                rank.abort(alive.remove(alive.size() - 1 - random.nextInt(newest)));
            }
            timers.advanceTo(timers.nanoTime() + random.nextLong(25 * MS));
        }
        timers.advanceTo(timers.nanoTime() + 1_000_000 * MS);
        RankCounters c = rank.counters();
        assertEquals(0, rank.running() + rank.waiting());
        assertTrue(c.finished() > 100 && c.aborted() > 100, c.finished() + " " + c.aborted());
        assertEquals(cache.gpuEvictable(), cache.gpuUsed());
        assertEquals(cache.contents(Medium.GPU).size(), cache.gpuUsed());
        assertEquals(0, timers.pending(), "no timer runs on");
    }

    private KvCache cache(int gpu, int host) {
        HostDma dma = new HostDma(timers, TIMING, this::publish);
        return new KvCache(
                BLOCK, gpu, host, new SglangPageHasher(), dma, CachePolicy.LRU, pending::add);
    }

    private RankScheduler rank(KvCache cache, int maxBatch, boolean early) {
        return new RankScheduler(
                cache,
                TIMING,
                timers,
                maxBatch,
                batchTokens,
                early,
                QueueOrder.ARRIVAL,
                null,
                this::publish);
    }

    private void publish() {
        for (CacheEvent event : pending) {
            if (event instanceof CacheEvent.Stored s && s.medium() == Medium.GPU) {
                say("store " + s.digests().size());
            } else if (event instanceof CacheEvent.Removed r) {
                say("remove " + r.medium());
            }
        }
        pending.clear();
    }

    private void say(String what) {
        log.add(timers.nanoTime() / MS + " " + what);
    }

    private static int[] prompt(int first, int length) {
        return IntStream.range(0, length).map(i -> first * 1000 + i).toArray();
    }

    private Sequence request(String name, int[] prompt, int answer) {
        return request(name, prompt, answer, null);
    }

    private Sequence request(String name, int[] prompt, int answer, @Nullable Integer priority) {
        int[] tokens = Arrays.copyOf(prompt, prompt.length + answer);
        for (int i = 0; i < answer; i++) {
            tokens[prompt.length + i] = -1 - i;
        }
        return new Sequence(
                tokens,
                prompt.length,
                CacheSpace.NONE,
                null,
                null,
                priority,
                null,
                new Sequence.Listener() {
                    @Override
                    public void started(int cachedTokens, int hostTokens) {
                        say(name + " cached " + cachedTokens);
                    }

                    @Override
                    public void token(int index) {
                        say(name + " " + index);
                    }

                    @Override
                    public void finished() {
                        say(name + " end");
                    }
                });
    }
}
