package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.tiers;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The cost in blocks, term by term, with the numbers of the documented examples. */
class BlockCostTest {
    private static final int B = 16;
    private static final BlockWeights D = BlockWeights.DEFAULT;

    private final LoadTracker loads = new LoadTracker();

    private RoutingDecision decide(BlockWeights weights, RoutingRequest request) {
        SplittableRandom random = new SplittableRandom(11);
        RouterOptions options = RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS).with(weights);
        return Routers.create(options, loads, () -> random).decide(request);
    }

    private void book(int slot, int prefillTokens, int blocks) {
        loads.book(new WorkerSlot(slot), prefillTokens, blocks);
    }

    private static double term(RoutingDecision d, int candidate, String name) {
        Scores all = d.compared();
        return all.terms(candidate).get(all.names().indexOf(name));
    }

    private static String chosen(RoutingDecision d) {
        return d.chosen().candidate().worker().name();
    }

    /** Four one-token blocks, all in the pool; two of them on the first worker's device too. */
    private static RoutingRequest poolExample() {
        return request(workers(2, 1), 4, device(1, 4, 2, 0))
                .with(SharedView.of(new SharedHits(1, 0, 4)));
    }

    /** 4 - (2 + 0.5 * 2) = 1 and 4 - 0.5 * 4 = 2. */
    @Test
    void the_pool_example_with_device_credit_costs_1_and_2() {
        RoutingDecision d = decide(D, poolExample());
        assertEquals(1.0, d.scores().get(0).prefillBlocks());
        assertEquals(2.0, d.scores().get(1).prefillBlocks());
        assertEquals("w0", chosen(d));
    }

    /** The guide's table counts the pool only: 4 - 1 = 3 and 4 - 2 = 2, and the second wins. */
    @Test
    void the_pool_example_without_device_credit_costs_3_and_2() {
        RoutingDecision d =
                decide(D.withCredit(0).withShared(0.5, SharedRule.BEYOND_DEVICE), poolExample());
        assertEquals(3.0, d.scores().get(0).prefillBlocks());
        assertEquals(2.0, d.scores().get(1).prefillBlocks());
        assertEquals(2, term(d, 0, "shared_blocks"));
        assertEquals(4, term(d, 1, "shared_blocks"));
        assertEquals("w1", chosen(d));
    }

    /** 10 blocks asked for, 2, 5 and 8 of them cached: 8, 5 and 2 to prefill. */
    @Test
    void the_picture_gives_8_and_5_and_2_blocks_to_prefill() {
        book(0, 0, 10);
        book(1, 0, 5);
        book(2, 0, 9);
        RoutingDecision d = decide(D, request(workers(3, B), 10 * B, device(B, 10, 2, 5, 8)));
        double[] prefill = {8, 5, 2};
        double[] active = {10, 5, 9};
        double[] cost = {18, 10, 11};
        for (int i = 0; i < 3; i++) {
            assertEquals(prefill[i], d.scores().get(i).prefillBlocks());
            assertEquals(active[i], term(d, i, "active_blocks"));
            // The example's decode blocks leave the request's own 10 out, which all have.
            assertEquals(cost[i], d.scores().get(i).cost() - 10);
        }
        assertEquals("w1", chosen(d));
    }

    /** Weight 2: 2 * 8 + 10, 2 * 5 + 5, 2 * 2 + 9. */
    @Test
    void the_older_weight_scales_prefill_and_0_ignores_caches() {
        book(0, 0, 10);
        book(1, 0, 5);
        book(2, 0, 9);
        RoutingRequest r = request(workers(3, B), 10 * B, device(B, 10, 2, 5, 8));
        RoutingDecision twice = decide(D.overlapScoreWeight(2), r);
        assertEquals(
                List.of(26.0, 15.0, 13.0),
                twice.scores().stream().map(s -> s.cost() - 10).toList());
        assertEquals("w2", chosen(twice));
        RoutingDecision none = decide(D.overlapScoreWeight(0), r);
        assertEquals(
                List.of(10.0, 5.0, 9.0), none.scores().stream().map(s -> s.cost() - 10).toList());
        assertEquals(0, term(none, 2, "device_credit"));
        assertEquals(1, D.overlapScoreWeight(2).overlapCredit());
    }

    @Test
    void credit_above_1_is_clamped_where_nothing_is_left_to_prefill() {
        RoutingDecision d =
                decide(D.withCredit(3), request(workers(2, B), 10 * B, device(B, 10, 4, 2)));
        assertEquals(0, d.scores().get(0).prefillBlocks());
        assertEquals(4, d.scores().get(1).prefillBlocks());
    }

    /** Excess of one prompt: decay 1 / (1 + 1 * 1); the least busy one keeps its full credit. */
    @Test
    void device_credit_decays_with_the_prefill_beyond_the_least_busy_one() {
        book(0, 12 * B, 0);
        book(1, 2 * B, 0);
        RoutingDecision d =
                decide(
                        D.withCreditDecay(1),
                        request(
                                workers(2, B),
                                10 * B,
                                tiers(B, 10, new int[] {6, 8, 8, 8}, new int[] {6, 8, 8, 8})));
        assertEquals(0.5, term(d, 0, "credit_decay"));
        assertEquals(3, term(d, 0, "device_credit"));
        assertEquals(1.5, term(d, 0, "host_credit"), "slower tiers do not decay");
        assertEquals(22 - 4.5, d.scores().get(0).prefillBlocks());
        assertEquals(1, term(d, 1, "credit_decay"));
        assertEquals(12 - 7.5, d.scores().get(1).prefillBlocks());
    }

    @Test
    void device_host_disk_and_external_are_credited_by_their_own_extensions() {
        RoutingDecision d =
                decide(D, request(workers(1, B), 20 * B, tiers(B, 20, new int[] {2, 5, 9, 10})));
        assertEquals(2, term(d, 0, "device_credit"));
        assertEquals(0.75 * 3, term(d, 0, "host_credit"));
        assertEquals(0.25 * (4 + 1), term(d, 0, "disk_credit"));
        assertEquals(20 - 5.5, d.scores().get(0).prefillBlocks());
        assertEquals(20 * B - 88, d.chosen().prefillTokens(), "booked: 5.5 blocks less");
        assertEquals(10 * B, d.chosen().cachedTokens());
    }

    @Test
    void a_gap_in_the_pool_ends_the_run_by_default_and_is_stepped_over_by_the_other_rule() {
        RoutingRequest r =
                request(workers(1, B), 12 * B, tiers(B, 12, new int[] {2, 4, 4, 4}))
                        .with(SharedView.of(new SharedHits(B, 0, 6, 8, 11)));
        RoutingDecision run = decide(D, r);
        assertEquals(2, term(run, 0, "shared_blocks"), "4 and 5, behind the host prefix");
        assertEquals(6 * B, run.chosen().cachedTokens(), "the engine fetches what the pool has");
        assertEquals(new TierBlocks(2, 2, 0, 2), run.chosen().tiers());
        assertEquals(
                List.of(2.0, 2.0, 0.0, 2.0),
                run.compared().terms(0).subList(0, 4),
                "what each tier adds");
        RoutingDecision beyond = decide(D.withShared(0.5, SharedRule.BEYOND_DEVICE), r);
        assertEquals(7, term(beyond, 0, "shared_blocks"), "2..5 and 8..10");
        assertEquals(6 * B, beyond.chosen().cachedTokens(), "no engine fetches behind a gap");
        assertEquals(12 - (2 + 1.5 + 1), run.scores().get(0).prefillBlocks());
        assertEquals(12 - (2 + 1.5 + 3.5), beyond.scores().get(0).prefillBlocks());
    }

    @Test
    void of_pairs_of_tokens_those_without_the_last_token_can_be_cached() {
        Candidate plain = workers(1, B).getFirst();
        Candidate pairs =
                new Candidate(
                        plain.worker().toBuilder()
                                .cache(new CacheTraits(true, false, false))
                                .build(),
                        plain.dpRank(),
                        plain.slot());
        for (int more : new int[] {0, 1, 2}) {
            RoutingDecision d = decide(D, request(List.of(pairs), 4 * B + more, device(B, 4, 4)));
            assertEquals((more == 2 ? 4 : 3) * B, d.chosen().cachedTokens());
            d = decide(D, request(List.of(plain), 4 * B + more, device(B, 4, 4)));
            assertEquals((more >= 1 ? 4 : 3) * B, d.chosen().cachedTokens());
        }
    }

    @Test
    void pool_hits_of_another_block_size_do_not_count() {
        RoutingDecision d =
                decide(
                        D,
                        request(workers(1, B), 4 * B)
                                .with(SharedView.of(new SharedHits(2 * B, 0, 2))));
        assertEquals(4, d.scores().get(0).prefillBlocks());
    }

    @Test
    void ranges_that_are_not_ascending_are_refused() {
        assertThrows(IllegalArgumentException.class, () -> new SharedHits(B, 3));
        assertThrows(IllegalArgumentException.class, () -> new SharedHits(B, 4, 2));
        assertThrows(IllegalArgumentException.class, () -> new SharedHits(0, 0, 2));
        SharedHits hits = new SharedHits(B, 2, 4, 6, 7);
        assertEquals(3, hits.hitsBeyond(0));
        assertEquals(0, hits.runFrom(0));
        assertEquals(1, hits.runFrom(3));
        assertEquals(0, hits.runFrom(7));
    }

    @Test
    void running_requests_cost_their_weight() {
        book(0, 0, 1);
        book(0, 0, 1);
        book(1, 0, 2);
        RoutingRequest r = request(workers(2, B), B);
        RoutingDecision d = decide(D.withActiveRequestWeight(64), r);
        assertEquals(128, term(d, 0, "request_cost"));
        assertEquals(64, d.scores().get(0).cost() - d.scores().get(1).cost());
    }

    /** Credit 2, scale 4, 64 per request: 4 * (10 - 2 * 4) + 10 + 64. */
    @Test
    void the_agentic_preset_has_its_documented_weights() {
        book(0, 0, 0);
        RoutingDecision d = decide(D.agentic(), request(workers(1, B), 10 * B, device(B, 10, 4)));
        assertEquals(4 * 2 + 10 + 64, d.scores().get(0).cost());
    }

    @Test
    void the_load_aware_preset_sees_no_cache() {
        RoutingDecision d =
                decide(
                        D.loadAware(),
                        request(workers(2, B), 10 * B, tiers(B, 10, new int[] {2, 4, 6, 8}))
                                .with(SharedView.of(new SharedHits(B, 0, 10))));
        assertEquals(d.scores().get(1).cost(), d.scores().get(0).cost());
        assertEquals(10, d.scores().get(0).prefillBlocks());
    }

    @Test
    void untracked_prefill_costs_and_books_nothing() {
        book(0, 10 * B, 0);
        RoutingDecision d =
                decide(D.withTrackPrefill(false), request(workers(2, B), 10 * B, device(B, 10, 0)));
        assertEquals(d.scores().get(1).cost(), d.scores().get(0).cost());
        assertEquals(0, d.chosen().prefillTokens());
    }
}
