package io.warmpath.routing.modes;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.pin;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.tiers;
import static io.warmpath.routing.Fleets.worker;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Fleets;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Score;
import io.warmpath.routing.SharedRule;
import io.warmpath.routing.TierBlocks;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The cost in blocks as it decides: documented examples, pins, ties, samples. */
class CostRouterTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();
    private final Router router = router(blocks());

    private Router router(RouterOptions options) {
        SplittableRandom random = new SplittableRandom(7);
        return Routers.create(options, loads, () -> random, System::nanoTime);
    }

    private static RouterOptions blocks() {
        return RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS);
    }

    private static RouterOptions weight(double overlapWeight) {
        return blocks().with(BlockWeights.DEFAULT.overlapScoreWeight(overlapWeight));
    }

    private static RouterOptions temperature(double temperature) {
        return blocks().withTemperature(temperature);
    }

    private static BlockWeights weights(double host, double disk) {
        return new BlockWeights(1, 0, 1, host, disk, 0.5, SharedRule.CONTIGUOUS, 0, true);
    }

    private void book(int slot, int prefillTokens, int blocks) {
        loads.book(new WorkerSlot(slot), prefillTokens, blocks);
    }

    private static double[] costs(RoutingDecision d) {
        return d.scores().stream().mapToDouble(Score::cost).toArray();
    }

    private static String chosen(RoutingDecision d) {
        return d.chosen().candidate().worker().name();
    }

    private static void assertCosts(RoutingDecision d, double... expected) {
        double[] actual = costs(d);
        assertEquals(expected.length, actual.length);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], actual[i], 1e-9, "cost of " + i + " in " + d);
        }
    }

    /**
     * The documented example: prefill 8, 5, 2 and decode 10, 5, 9 blocks give 18, 10 and 11, and
     * the second worker wins. Here with a one-block request, so that the rest is booked load.
     */
    @Test
    void the_documented_example_gives_18_and_10_and_11() {
        book(0, 7 * B, 9);
        book(1, 4 * B, 4);
        book(2, B, 8);
        RoutingDecision d = router.decide(request(workers(3, B), B, device(B, 1)));
        assertCosts(d, 18, 10, 11);
        assertEquals("w1", chosen(d));
        assertEquals("lowest cost 10.0 of 3", d.reason());
    }

    /** The example's picture: 10 blocks, cached 2, 5, 8; the request's own blocks on each side. */
    @Test
    void cached_blocks_are_not_prefilled() {
        book(0, 0, 10);
        book(1, 0, 5);
        book(2, 0, 9);
        RoutingDecision d = router.decide(request(workers(3, B), 10 * B, device(B, 10, 2, 5, 8)));
        assertCosts(d, 8 + 10 + 10, 5 + 5 + 10, 2 + 9 + 10);
        assertEquals("w1", chosen(d));
        Score s = d.chosen();
        assertEquals(5, s.gpuBlocks());
        assertEquals(5 * B, s.cachedTokens());
        assertEquals(5 * B, s.prefillTokens());
        assertEquals(5, s.prefillBlocks(), 1e-9);
        assertEquals(15, s.decodeBlocks(), 1e-9);
        assertEquals(10, d.blocks());
    }

    @Test
    void a_higher_weight_prefers_the_cache_and_a_lower_one_the_idle_worker() {
        book(0, 0, 6); // holds everything, but is busy
        RoutingRequest r = request(workers(2, B), 4 * B + 1, device(B, 4, 4));
        assertEquals("w1", chosen(router(weight(1)).decide(r))); // 1/16 + 11 against 4.06 + 5
        assertEquals("w0", chosen(router(weight(2)).decide(r)));
        assertEquals("w1", chosen(router(weight(0.5)).decide(r)));
    }

    @Test
    void weight_0_is_load_alone() {
        book(0, 0, 1);
        book(1, 1_000_000, 0);
        RoutingDecision d =
                router(weight(0)).decide(request(workers(2, B), 4 * B, device(B, 4, 4, 0)));
        assertEquals("w1", chosen(d));
        assertCosts(d, 5, 4);
    }

    @Test
    void the_last_token_is_always_computed() {
        RoutingDecision exact = router.decide(request(workers(1, B), 4 * B, device(B, 4, 4)));
        assertEquals(4, exact.chosen().gpuBlocks());
        assertEquals(3 * B, exact.chosen().cachedTokens());
        assertEquals(B, exact.chosen().prefillTokens(), "booked");
        assertEquals(0, exact.chosen().prefillBlocks(), 1e-9, "but credited like any block");

        RoutingDecision oneMore = router.decide(request(workers(1, B), 4 * B + 1, device(B, 4, 4)));
        assertEquals(4 * B, oneMore.chosen().cachedTokens());
        assertEquals(1, oneMore.chosen().prefillTokens());
        assertEquals(5, oneMore.blocks());

        RoutingDecision single = router.decide(request(workers(1, 1), 1, device(1, 1, 1)));
        assertEquals(0, single.chosen().cachedTokens());
    }

    @Test
    void slower_tiers_are_credited_with_their_weights() {
        // 2 blocks on the device, 4 up to host memory, 6 up to disk, 8 up to the pool.
        RoutingDecision d =
                router.decide(request(workers(1, B), 10 * B, tiers(B, 10, new int[] {2, 4, 6, 8})));
        Score s = d.chosen();
        assertEquals(10 - (2 + 0.75 * 2 + 0.25 * 4), s.prefillBlocks(), 1e-9);
        assertEquals(8 * B, s.cachedTokens(), "wherever they come from");
        assertEquals(2, s.gpuBlocks());
        assertEquals(4, s.hostBlocks());
        assertEquals(6, s.diskBlocks());
        assertEquals(8, s.externalBlocks());
        assertEquals(new TierBlocks(2, 2, 2, 2), s.tiers());
    }

    @Test
    void a_host_only_prefix_beats_none_and_loses_to_the_device() {
        RoutingDecision d =
                router.decide(
                        request(
                                workers(3, B),
                                8 * B + 1,
                                tiers(
                                        B,
                                        8,
                                        new int[] {0, 0, 0, 0},
                                        new int[] {0, 8, 8, 8},
                                        new int[] {8, 8, 8, 8})));
        assertEquals("w2", chosen(d));
        assertEquals(8 * 0.75, d.scores().get(0).cost() - d.scores().get(1).cost(), 1e-9);
    }

    @Test
    void booked_prefill_counts_until_the_first_token() {
        var booking = loads.book(new WorkerSlot(0), 8 * B, 1);
        RoutingRequest r = request(workers(2, B), 4 * B, device(B, 4, 2));
        assertEquals("w1", chosen(router.decide(r)));
        booking.firstToken();
        assertEquals("w0", chosen(router.decide(r)));
    }

    @Test
    void without_tokens_load_alone_decides() {
        book(0, 0, 3);
        RoutingDecision d = router.decide(request(workers(2, B), 0, device(B, 4, 4)));
        assertEquals("w1", chosen(d));
        assertEquals(0, d.chosen().cachedTokens());
        assertEquals(1, d.blocks(), "an unknown prompt books at least one block");
    }

    @Test
    void requests_without_tokens_spread_when_each_books_its_block() {
        List<Candidate> four = workers(4, B);
        int[] count = new int[4];
        for (int i = 0; i < 40; i++) {
            RoutingDecision d = router.decide(request(four, 0));
            int slot = d.chosen().candidate().slot().index();
            count[slot]++;
            book(slot, 0, d.blocks());
        }
        for (int slot = 0; slot < 4; slot++) {
            assertEquals(10, count[slot], "requests of slot " + slot);
        }
    }

    @Test
    void an_index_that_was_not_asked_means_nothing_cached() {
        RoutingDecision d = router.decide(request(workers(2, B), 10 * B));
        assertCosts(d, 20, 20);
    }

    @Test
    void workers_of_different_block_sizes_are_compared_in_the_smaller_blocks() {
        List<Candidate> mixed = List.of(worker(0, 16), worker(1, 64));
        book(0, 128, 4); // 64 tokens of decode blocks
        book(1, 128, 1); // the same in larger blocks
        RoutingDecision d =
                router.decide(request(mixed, 256, device(16, 16, 0, 0), device(64, 4, 0, 0)));
        assertCosts(d, 24 + 20, 24 + 20);

        RoutingDecision cached =
                router.decide(request(mixed, 257, device(16, 16, 4), device(64, 4, 0, 4)));
        assertEquals("w1", chosen(cached));
        assertEquals(256, cached.chosen().cachedTokens());
        assertEquals(5, cached.blocks(), "blocks are the chosen worker's own");
    }

    @Test
    void a_worker_of_unknown_block_size_is_weighed_by_tokens() {
        List<Candidate> mixed = List.of(worker(0, 0), worker(1, B));
        RoutingDecision d = router.decide(request(mixed, 160, device(B, 10)));
        assertCosts(d, 20, 20);
        RoutingDecision alone = router.decide(request(workers(2, 0), 160));
        assertCosts(alone, 320, 320);
        assertEquals(160, alone.blocks());
        assertEquals(0, alone.chosen().cachedTokens());
    }

    @Test
    void ranks_of_one_worker_are_candidates_of_their_own() {
        List<Candidate> ranks = Fleets.ranks(9, B, 0, 1);
        RoutingDecision d = router.decide(request(ranks, 4 * B, device(B, 4, 1, 3)));
        assertEquals("w9/1", d.chosen().candidate().label());
    }

    @Test
    void a_pinned_worker_wins_whatever_it_costs() {
        book(0, 1_000_000, 1_000_000);
        RoutingRequest r = request(workers(3, B), 4 * B);
        RoutingDecision d = router.decide(pin(r, OptionalLong.of(0), OptionalInt.empty()));
        assertEquals("w0", chosen(d));
        assertEquals("pinned by client", d.reason());
        assertEquals(1, d.scores().size());
    }

    @Test
    void a_pinned_worker_with_open_rank_takes_its_cheapest_rank() {
        List<Candidate> all = new ArrayList<>(Fleets.ranks(9, B, 0, 1));
        all.add(worker(5, B));
        book(0, 0, 1);
        RoutingRequest r = request(all, 4 * B);
        RoutingDecision d = router.decide(pin(r, OptionalLong.of(9), OptionalInt.empty()));
        assertEquals("w9/1", d.chosen().candidate().label());
        assertEquals("pinned by client, lowest cost 8.0 of 2", d.reason());
        RoutingDecision rank = router.decide(pin(r, OptionalLong.of(9), OptionalInt.of(0)));
        assertEquals("w9/0", rank.chosen().candidate().label());
    }

    @Test
    void a_pin_that_nobody_meets_is_a_bad_request_that_names_it() {
        RoutingRequest r = request(workers(2, B), 4 * B);
        GatewayException worker =
                assertThrows(
                        GatewayException.class,
                        () -> router.decide(pin(r, OptionalLong.of(-1), OptionalInt.empty())));
        assertEquals(400, worker.error().httpStatus());
        assertEquals(
                "No ready worker with id 18446744073709551615 serves this model; leave the worker"
                        + " id out or name another.",
                worker.error().message());
        GatewayException rank =
                assertThrows(
                        GatewayException.class,
                        () -> router.decide(pin(r, OptionalLong.of(1), OptionalInt.of(3))));
        assertEquals(400, rank.error().httpStatus());
        assertEquals(
                "No ready worker that may serve this request has data-parallel rank 3; leave the"
                        + " rank out or name another.",
                rank.error().message());
    }

    @Test
    void a_decision_without_candidates_is_a_bug_of_the_caller() {
        RoutingRequest none = request(List.of(), 1);
        assertThrows(IllegalArgumentException.class, () -> router.decide(none));
    }

    @Test
    void ties_are_broken_evenly() {
        List<Candidate> four = workers(4, B);
        book(2, 0, 1); // never chosen
        int[] count = new int[4];
        int draws = 30_000;
        for (int i = 0; i < draws; i++) {
            RoutingDecision d = router.decide(request(four, B));
            count[d.chosen().candidate().slot().index()]++;
            assertEquals("one of 3 with the lowest cost 2.0 of 4", d.reason());
        }
        assertEquals(0, count[2]);
        double expected = draws / 3.0;
        double chiSquare = 0;
        for (int slot : new int[] {0, 1, 3}) {
            chiSquare += Math.pow(count[slot] - expected, 2) / expected;
        }
        // 2 degrees of freedom, p = 0.001; the seed is fixed, so this never flickers.
        assertFalse(chiSquare > 13.82, "chi-square " + chiSquare);
    }

    @Test
    void temperature_samples_the_normalised_costs() {
        book(1, 0, 5);
        book(2, 0, 10); // costs 2, 7, 12: normalised 0, 0.5, 1
        double temperature = 0.7;
        Router warm = router(temperature(temperature));
        double[] p = new double[3];
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            p[i] = Math.exp(-0.5 * i / temperature);
            sum += p[i];
        }
        int[] count = new int[3];
        int draws = 30_000;
        for (int i = 0; i < draws; i++) {
            RoutingDecision d = warm.decide(request(workers(3, B), B));
            count[d.chosen().candidate().slot().index()]++;
        }
        double chiSquare = 0;
        for (int i = 0; i < 3; i++) {
            double expected = draws * p[i] / sum;
            chiSquare += Math.pow(count[i] - expected, 2) / expected;
        }
        assertFalse(chiSquare > 13.82, "chi-square " + chiSquare);
    }

    @Test
    void extreme_temperatures_keep_their_meaning() {
        book(1, 0, 5);
        RoutingRequest r = request(workers(2, B), B);
        Router cold = router(temperature(Double.MIN_VALUE));
        Router hot = router(temperature(1e300));
        int dearer = 0;
        for (int i = 0; i < 1000; i++) {
            assertEquals("w0", chosen(cold.decide(r)));
            dearer += chosen(hot.decide(r)).equals("w1") ? 1 : 0;
        }
        assertEquals(500, dearer, 80);
    }

    @Test
    void equal_costs_are_sampled_evenly_at_any_temperature() {
        Router warm = router(temperature(0.5));
        int first = 0;
        for (int i = 0; i < 2000; i++) {
            RoutingDecision d = warm.decide(request(workers(2, B), B));
            first += chosen(d).equals("w0") ? 1 : 0;
        }
        assertEquals(1000, first, 120);
    }

    @Test
    void options_out_of_range_are_refused() {
        for (double bad : new double[] {-0.1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(IllegalArgumentException.class, () -> weight(bad));
            assertThrows(IllegalArgumentException.class, () -> temperature(bad));
            assertThrows(IllegalArgumentException.class, () -> weights(bad, 0.25));
            assertThrows(IllegalArgumentException.class, () -> weights(0.75, bad));
        }
        assertThrows(IllegalArgumentException.class, () -> weights(1.1, 0.25));
    }
}
