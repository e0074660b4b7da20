package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.worker;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Which candidate wins when costs are equal, when chance decides, and when requests are counted.
 */
class ChoiceTest {
    private static final int B = 16;
    private static final long SEED = 20_261_121;

    private final LoadTracker loads = new LoadTracker();
    private final SplittableRandom random = new SplittableRandom(SEED);

    /** Costs in blocks, which see what is booked here. */
    private Router router(RouterMode mode) {
        return Routers.create(RouterOptions.of(mode).with(CostKind.BLOCKS), loads, () -> random);
    }

    /** Names of {@code blocks} blocks of one conversation; a longer one goes on where it ended. */
    private static long[] conversation(long seed, int blocks) {
        SplittableRandom r = new SplittableRandom(seed);
        return r.longs(blocks).toArray();
    }

    private static RoutingRequest prompt(List<Candidate> candidates, long seed, int blocks) {
        int tokens = blocks * B + 1;
        long[] names = conversation(seed, blocks);
        return request(candidates, tokens)
                .withPrompts(List.of(new PromptBlocks(B, tokens, names, true)));
    }

    private static String label(RoutingDecision d) {
        return d.chosen().candidate().label();
    }

    @Test
    void a_tie_goes_to_the_worker_that_served_the_same_prompt_last() {
        Router router = router(RouterMode.KV);
        List<Candidate> eight = workers(8, B);
        String first = label(router.decide(prompt(eight, 1, 10)));
        for (int other = 100; other < 140; other++) {
            router.decide(prompt(eight, other, 10));
        }
        RoutingDecision again = router.decide(prompt(eight, 1, 10));
        assertEquals(first, label(again));
        assertEquals(Choice.Kind.SERVED_LAST, again.choice().kind());
        assertEquals(
                "served this prefix last, one of 8 with the lowest cost 21.1 of 8", again.reason());
    }

    @Test
    void a_tie_of_a_longer_prompt_goes_where_its_beginning_went() {
        Router router = router(RouterMode.KV);
        List<Candidate> eight = workers(8, B);
        for (int seed = 1; seed <= 30; seed++) {
            String first = label(router.decide(prompt(eight, seed, 11)));
            assertEquals(first, label(router.decide(prompt(eight, seed, 14))), "seed " + seed);
        }
    }

    @Test
    void a_dearer_worker_is_not_chosen_because_it_served_last() {
        Router router = router(RouterMode.KV);
        List<Candidate> two = workers(2, B);
        RoutingDecision first = router.decide(prompt(two, 1, 4));
        loads.book(first.chosen().candidate().slot(), 0, 1);
        assertNotEquals(label(first), label(router.decide(prompt(two, 1, 4))));
    }

    @Test
    void the_memory_ends_with_the_incarnation_of_a_slot() {
        Router router = router(RouterMode.KV);
        List<Candidate> one = List.of(worker(3, B));
        router.decide(prompt(one, 1, 4));
        WorkerSlot reborn = new WorkerSlot(3 | 1 << WorkerSlot.NUMBER_BITS);
        Candidate c = one.getFirst();
        List<Candidate> later =
                List.of(new Candidate(c.worker(), 0, reborn), worker(4, B), worker(5, B));
        assertEquals(Choice.Kind.TIE_DRAWN, router.decide(prompt(later, 1, 4)).choice().kind());
    }

    /** Prompts that nobody knows, on an idle fleet: each worker once before any comes again. */
    @Test
    void equals_take_turns_in_an_order_that_is_drawn_once() {
        List<Candidate> eight = workers(8, B);
        Router router = router(RouterMode.KV);
        List<String> first = new ArrayList<>();
        for (int seed = 1; seed <= 8; seed++) {
            first.add(label(router.decide(prompt(eight, seed, 4))));
        }
        assertEquals(8, Set.copyOf(first).size(), first.toString());
        for (int seed = 9; seed <= 24; seed++) {
            RoutingDecision d = router.decide(prompt(eight, seed, 4));
            assertEquals(first.get((seed - 1) % 8), label(d), "seed " + seed);
            assertEquals(Choice.Kind.TIE_DRAWN, d.choice().kind());
        }
        Router other = router(RouterMode.KV);
        List<String> again = new ArrayList<>();
        for (int seed = 1; seed <= 8; seed++) {
            again.add(label(other.decide(prompt(eight, seed, 4))));
        }
        assertNotEquals(first, again, "the order of another gateway");
    }

    @Test
    void a_dry_run_leaves_no_trace() {
        List<Candidate> eight = workers(8, B);
        Router kv = router(RouterMode.KV);
        kv.decide(prompt(eight, 1, 4).with(RoutingRequest.Detail.DRY_RUN));
        assertEquals(Choice.Kind.TIE_DRAWN, kv.decide(prompt(eight, 1, 4)).choice().kind());
        Router turns = router(RouterMode.ROUND_ROBIN);
        RoutingRequest dry = request(eight, B).with(RoutingRequest.Detail.DRY_RUN);
        assertEquals("w0", label(turns.decide(dry)));
        assertEquals("w0", label(turns.decide(dry)));
        assertEquals("w0", label(turns.decide(request(eight, B))));
        assertEquals("w1", label(turns.decide(dry)));
    }

    @Test
    void overrides_hold_for_their_request_alone() {
        Router router = router(RouterMode.KV);
        loads.book(new WorkerSlot(0), 0, 6); // holds everything, but is busy
        RoutingRequest r = request(workers(2, B), 4 * B + 1, device(B, 4, 4));
        assertEquals("w1", label(router.decide(r)));
        RouterOverrides weight2 = new RouterOverrides(null, null, 2.0, null, null, null, null);
        RoutingDecision d = router.decide(r.with(weight2));
        assertEquals("w0", label(d));
        assertEquals(2, d.options().weights().prefillLoadScale());
        assertEquals("w1", label(router.decide(r)));
        RouterOverrides none = new RouterOverrides(null, null, 0.0, null, null, null, null);
        assertEquals(0, router.decide(r.with(none)).options().weights().overlapCredit());
        RouterOverrides warm = new RouterOverrides(3.0, 0.5, 7.0, 1.0, 0.7, false, false);
        RouterOptions o = router.decide(r.with(warm)).options();
        assertEquals(
                BlockWeights.DEFAULT
                        .withCredit(3)
                        .withPrefillLoadScale(0.5)
                        .withShared(1, SharedRule.CONTIGUOUS)
                        .withTrackPrefill(false),
                o.weights());
        assertEquals(0.7, o.temperature());
        assertEquals(Choice.Kind.SAMPLED, router.decide(r.with(warm)).choice().kind());
    }

    @Test
    void least_loaded_takes_the_fewest_requests_and_draws_among_equals() {
        loads.book(new WorkerSlot(0), 0, 1);
        loads.book(new WorkerSlot(2), 100_000, 900);
        loads.book(new WorkerSlot(2), 0, 1);
        Router router = router(RouterMode.LEAST_LOADED);
        int[] count = new int[5];
        int draws = 30_000;
        for (int i = 0; i < draws; i++) {
            RoutingDecision d = router.decide(request(workers(5, B), B));
            count[d.chosen().candidate().slot().index()]++;
            assertEquals("fewest requests, 0, of 5", d.reason());
        }
        assertEquals(0, count[0] + count[2]);
        assertEven(draws / 3.0, 13.82, count[1], count[3], count[4]);
    }

    /** Of three with 0, 1 and 2 requests: the idle one wins 2 of 3 pairs, the busiest none. */
    @Test
    void power_of_two_takes_the_less_busy_of_any_two_different_ones() {
        loads.book(new WorkerSlot(1), 0, 1);
        loads.book(new WorkerSlot(2), 0, 1);
        loads.book(new WorkerSlot(2), 0, 1);
        Router router = router(RouterMode.POWER_OF_TWO);
        int[] count = new int[3];
        int draws = 30_000;
        for (int i = 0; i < draws; i++) {
            count[router.decide(request(workers(3, B), B)).chosen().candidate().slot().index()]++;
        }
        assertEquals(0, count[2]);
        assertEven(draws / 3.0, 10.83, count[0] / 2.0, count[1]);
    }

    @Test
    void power_of_two_is_even_among_equals() {
        Router router = router(RouterMode.POWER_OF_TWO);
        int[] count = new int[4];
        int draws = 40_000;
        for (int i = 0; i < draws; i++) {
            count[router.decide(request(workers(4, B), B)).chosen().candidate().slot().index()]++;
        }
        assertEven(draws / 4.0, 16.27, Arrays.stream(count).asDoubleStream().toArray());
    }

    /** Chi-square at p = 0.001 for the degrees of freedom; the seed is fixed: never flickers. */
    private static void assertEven(double expected, double limit, double... counts) {
        double chiSquare = 0;
        for (double c : counts) {
            chiSquare += Math.pow(c - expected, 2) / expected;
        }
        assertFalse(
                chiSquare > limit,
                "chi-square " + chiSquare + " of " + Arrays.toString(counts) + ", seed " + SEED);
        assertTrue(expected > 1000, "too few draws to tell");
    }
}
