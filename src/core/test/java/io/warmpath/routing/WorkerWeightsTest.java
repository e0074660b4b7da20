package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.weighing;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a worker's weight means to each policy: worked examples, shares, and that 1 means nothing.
 */
class WorkerWeightsTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();

    private Router router(RouterMode mode) {
        SplittableRandom random = new SplittableRandom(7);
        return Routers.create(options(mode), loads, () -> random);
    }

    /** Of what is booked here, only the cost in blocks knows. */
    private static RouterOptions options(RouterMode mode) {
        return RouterOptions.of(mode).with(CostKind.BLOCKS);
    }

    private static int slot(RoutingDecision d) {
        return d.chosen().candidate().slot().index();
    }

    private void running(int slot, int requests) {
        for (int i = 0; i < requests; i++) {
            loads.book(new WorkerSlot(slot), 0, 0);
        }
    }

    private static double term(RoutingDecision d, int candidate, String name) {
        Scores all = d.compared();
        return all.terms(candidate).get(all.names().indexOf(name));
    }

    @Test
    void two_to_one_takes_two_turns_of_three() {
        Router router = router(RouterMode.ROUND_ROBIN);
        List<Candidate> all = weighing(B, 2, 1);
        StringBuilder seen = new StringBuilder();
        for (int i = 0; i < 9; i++) {
            seen.append(slot(router.decide(request(all, B))));
        }
        assertEquals("001001001", seen.toString());
    }

    @Test
    void turns_are_never_fewer_than_the_share_rounded_down_and_whole_rounds_are_exact() {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 50; round++) {
            double[] weights = new double[1 + random.nextInt(12)];
            Arrays.setAll(weights, i -> 1 + random.nextInt(9));
            weights[0] = 3; // whole numbers, not all of them 1
            double sum = Arrays.stream(weights).sum();
            Router router = router(RouterMode.ROUND_ROBIN);
            List<Candidate> all = weighing(B, weights);
            int[] turns = new int[weights.length];
            for (int n = 1; n <= 3 * sum; n++) {
                turns[slot(router.decide(request(all, B)))]++;
                for (int i = 0; i < turns.length; i++) {
                    double share = n * weights[i] / sum;
                    boolean whole = n % (int) sum == 0;
                    assertTrue(
                            whole
                                    ? Math.abs(turns[i] - share) < 1e-9
                                    : turns[i] >= Math.floor(share - 1e-9),
                            "-Dwarmpath.test.seed=" + seed + " turns " + Arrays.toString(turns));
                }
            }
        }
    }

    @Test
    void who_was_away_is_owed_one_turn_and_no_more() {
        Router router = router(RouterMode.ROUND_ROBIN);
        List<Candidate> all = weighing(B, 4, 1, 2);
        for (int i = 0; i < 700; i++) {
            router.decide(request(all.subList(0, 2), B));
        }
        int[] turns = new int[3];
        for (int i = 0; i < 70; i++) {
            turns[slot(router.decide(request(all, B)))]++;
        }
        assertEquals(20, turns[2], 1);
    }

    @Test
    void a_dry_run_takes_no_turn() {
        Router router = router(RouterMode.ROUND_ROBIN);
        RoutingRequest dry = request(weighing(B, 1, 3), B).with(RoutingRequest.Detail.DRY_RUN);
        for (int i = 0; i < 3; i++) {
            assertEquals(1, slot(router.decide(dry)));
        }
    }

    @Test
    void random_draws_by_weight() {
        Router router = router(RouterMode.RANDOM);
        double[] weights = {0.5, 4, 1, 2.5};
        int[] count = new int[4];
        int draws = 40_000;
        for (int i = 0; i < draws; i++) {
            count[slot(router.decide(request(weighing(B, weights), B)))]++;
        }
        double chiSquare = 0;
        for (int i = 0; i < 4; i++) {
            double expected = draws * weights[i] / 8;
            chiSquare += Math.pow(count[i] - expected, 2) / expected;
        }
        assertFalse(chiSquare > 16.27, "chi-square " + chiSquare); // 3 degrees, p = 0.001
    }

    /**
     * 3 of weight 2 are 2 with the next one, as is the first of weight 0.5; 2 of weight 1 are 3.
     */
    @Test
    void fewest_requests_are_counted_by_weight_with_the_new_one() {
        running(0, 3);
        running(1, 2);
        RoutingDecision d =
                router(RouterMode.LEAST_LOADED).decide(request(weighing(B, 2, 1, 0.25), B));
        assertEquals(0, slot(d));
        assertEquals("fewest requests, 3 for its weight 2.0, of 3", d.choice().why());
        running(0, 3);
        assertEquals(
                1,
                slot(router(RouterMode.LEAST_LOADED).decide(request(weighing(B, 2, 1, 0.25), B))));
    }

    /**
     * Load 12 over weight 2 is 6, and the prompt's 8 blocks are 4 to compute there: 4 + 6 + 8,
     * where the other one asks 8 + 4 + 8.
     */
    @Test
    void the_cost_in_blocks_divides_what_is_there_and_what_is_to_compute() {
        loads.book(new WorkerSlot(0), 0, 12);
        loads.book(new WorkerSlot(1), 0, 4);
        RoutingDecision d =
                router(RouterMode.KV).decide(request(weighing(B, 2, 1), 8 * B, device(B, 8, 0, 0)));
        assertEquals(18, d.scores().get(0).cost());
        assertEquals(20, d.scores().get(1).cost());
        assertEquals(2, term(d, 0, "weight"));
        assertEquals(1, term(d, 1, "weight"));
        assertEquals(0, slot(d));
    }

    /** Twice the weight is not worth a conversation's cache: 0 + 100 against 50 + 100. */
    @Test
    void a_heavier_worker_does_not_draw_a_conversation_from_its_cache() {
        RoutingDecision d =
                router(RouterMode.KV)
                        .decide(request(weighing(B, 2, 1), 100 * B, device(B, 100, 0, 100)));
        assertEquals(150, d.scores().get(0).cost());
        assertEquals(100, d.scores().get(1).cost());
        assertEquals(1, slot(d));
    }

    /** 3 requests of weight 3 are 1, below the mean of 4 over 4 times 1.25. */
    @Test
    void the_cache_aware_policy_weighs_the_load_of_the_hit_and_the_mean() {
        running(0, 3);
        running(1, 1);
        Router router = router(RouterMode.VLLM_CACHE_AWARE);
        RoutingRequest r = request(weighing(B, 3, 1), 4 * B + 1, device(B, 4, 4, 0));
        assertEquals(0, slot(router.decide(r)));
        assertEquals(
                "cache hit: 4 of 4 blocks (1.00), above 0.30; load 3 / 3.0 is below 1.25",
                router.decide(r).choice().why());
        RoutingRequest even = request(weighing(B, 1, 1), 4 * B + 1, device(B, 4, 4, 0));
        assertEquals(1, slot(router.decide(even)));
    }

    /** So many requests run at a time that shares show; each ends when the oldest of all does. */
    @ParameterizedTest
    @EnumSource(
            value = RouterMode.class,
            names = {
                "KV",
                "RANDOM",
                "ROUND_ROBIN",
                "POWER_OF_TWO",
                "LEAST_LOADED",
                "VLLM_CACHE_AWARE"
            })
    void under_load_each_gets_its_share(RouterMode mode) {
        double[] weights = {1, 2, 4, 0.5, 0.5};
        Router router = router(mode);
        List<Candidate> all = weighing(B, weights);
        Deque<LoadBook.Booking> open = new ArrayDeque<>();
        int[] count = new int[weights.length];
        int requests = 20_000;
        for (int i = 0; i < requests; i++) {
            int to = slot(router.decide(request(all, 8 * B)));
            count[to]++;
            open.add(loads.book(new WorkerSlot(to), 0, 8));
            if (open.size() > 160) {
                open.remove().close();
            }
        }
        for (int i = 0; i < weights.length; i++) {
            double share = requests * weights[i] / 8;
            assertEquals(share, count[i], 0.1 * share, mode + " " + Arrays.toString(count));
        }
    }

    /** A list that somebody else's weight marks as weighted decides what a plain one decides. */
    @ParameterizedTest
    @EnumSource(RouterMode.class)
    void weight_1_changes_nothing_also_beside_others_of_another_weight(RouterMode mode) {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        Random random = new Random(seed);
        List<Candidate> plain = weighing(B, 1, 1, 1, 1, 1, 1);
        List<Candidate> mixed = weighing(B, 1, 1, 1, 1, 1, 7);
        for (int i = 0; i < 300; i++) {
            int busy = random.nextInt(5);
            loads.book(new WorkerSlot(busy), random.nextInt(400), random.nextInt(50));
            int tokens = 1 + random.nextInt(300);
            RoutingRequest r =
                    request(
                            plain,
                            tokens,
                            device(B, tokens / B, random.ints(6, 0, tokens / B + 1).toArray()));
            RoutingRequest beside = request(mixed, tokens, r.matches().toArray(new PrefixMatch[0]));
            RouterOptions options =
                    options(mode)
                            .with(
                                    BlockWeights.DEFAULT
                                            .withCreditDecay(random.nextDouble())
                                            .withActiveRequestWeight(random.nextInt(5)));
            int draws = random.nextInt();
            boolean pinned = mode == RouterMode.DIRECT;
            RoutingDecision a = decide(options, r, draws, pinned);
            RoutingDecision b = decide(options, beside, draws, pinned);
            for (int c = 0; c < (pinned ? a.scores().size() : 5); c++) {
                assertEquals(
                        Double.doubleToLongBits(a.scores().get(c).cost()),
                        Double.doubleToLongBits(b.scores().get(c).cost()),
                        "-Dwarmpath.test.seed=" + seed);
            }
            assertEquals(1, term(a, 0, "weight"));
        }
    }

    private RoutingDecision decide(
            RouterOptions options, RoutingRequest request, int draws, boolean pinned) {
        SplittableRandom chance = new SplittableRandom(draws);
        RoutingRequest r =
                pinned ? Fleets.pin(request, OptionalLong.of(2), OptionalInt.empty()) : request;
        return Routers.create(options, loads, () -> chance).decide(r);
    }
}
