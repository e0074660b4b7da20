package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.modes.VllmCacheAwareOptions;
import io.warmpath.routing.rates.LatencyPriors;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What an explained decision says of the cost that did not decide, and which cost decides a request
 * that brings weights. In the fleet of these tests blocks in decode are booked where the prompt is
 * cached: they weigh more in blocks than in time.
 */
class OtherCostsTest {
    private static final int B = 16;
    private static final LatencyPriors P = LatencyPriors.DEFAULT;

    private final LoadTracker loads = new LoadTracker();

    private Router router(RouterOptions options, boolean keepsSpeeds) {
        SplittableRandom random = new SplittableRandom(3);
        return Routers.create(
                options,
                VllmCacheAwareOptions.DEFAULT,
                Map.of(),
                loads,
                () -> random,
                () -> 1_000_000_000L,
                keepsSpeeds);
    }

    private static RouterOptions kv(CostKind cost) {
        return RouterOptions.of(RouterMode.KV).with(cost);
    }

    /** 100 blocks, 60 of them cached by w0, where 80 are in decode. */
    private RoutingRequest cachedWhereBusy() {
        loads.book(new WorkerSlot(0), 0, 80);
        return request(workers(2, B), 100 * B, device(B, 100, 60, 0));
    }

    @Test
    void only_a_cost_that_is_a_time_says_how_long_it_takes() {
        RoutingRequest request = cachedWhereBusy();
        RoutingDecision timed = router(kv(CostKind.LATENCY), true).decide(request);
        assertTrue(timed.expectedMillis() > 0, timed.toString());
        assertEquals(timed.chosen().cost(), timed.expectedMillis());
        assertEquals(0, router(kv(CostKind.BLOCKS), true).decide(request).expectedMillis());
        RouterOptions inTurn = RouterOptions.of(RouterMode.ROUND_ROBIN);
        assertEquals(0, router(inTurn, true).decide(request).expectedMillis());
    }

    private static OtherCosts other(RoutingDecision d) {
        OtherCosts other = d.compared().other();
        assertNotNull(other);
        return other;
    }

    private static String chosen(RoutingDecision d) {
        return d.chosen().candidate().worker().name();
    }

    /** In blocks 40 + 180 against 100 + 100; in time 640 tokens against 1,600. */
    @Test
    void each_cost_tells_what_the_other_would_have_taken() {
        RoutingRequest r = cachedWhereBusy();
        double[] blocks = {220, 200};
        // The request that is booked on w0 slows the answer, and is slowed by the prompt.
        double beside =
                P.growthMillis(1, 128) + 38.4 * (P.growthMillis(1, 128) + P.growthMillis(1, 1728));
        double[] millis = {
            P.prefillMillis(640, 960) + 7.5 + beside, P.prefillMillis(1600, 0) + 7.5
        };
        RoutingDecision byTime = router(kv(CostKind.LATENCY), false).decide(r);
        RoutingDecision byBlocks = router(kv(CostKind.BLOCKS), true).decide(r);
        assertEquals("w0", chosen(byTime));
        assertEquals("w1", chosen(byBlocks));
        assertEquals(CostKind.BLOCKS, other(byTime).kind());
        assertEquals(CostKind.LATENCY, other(byBlocks).kind());
        for (int i = 0; i < 2; i++) {
            assertEquals(millis[i], byTime.compared().cost(i), 1e-9);
            assertEquals(blocks[i], other(byTime).cost(i));
            assertEquals(blocks[i], byBlocks.compared().cost(i));
            assertEquals(millis[i], other(byBlocks).cost(i), 1e-9);
        }
        assertEquals(1, other(byTime).lowest());
        assertFalse(other(byTime).agrees(0));
        assertTrue(byTime.reason().endsWith(" of 2; blocks would have taken w1"), byTime.reason());
        assertEquals("lowest cost 200.0 of 2; latency would have taken w0", byBlocks.reason());
    }

    @Test
    void nothing_is_said_where_both_take_the_same() {
        RoutingDecision d =
                router(kv(CostKind.BLOCKS), true)
                        .decide(request(workers(2, B), 4 * B, device(B, 4, 0, 2)));
        assertTrue(other(d).agrees(1));
        assertEquals("lowest cost 6.0 of 2", d.reason());
    }

    @Test
    void of_equals_the_one_that_was_taken_agrees_and_another_one_is_named_with_their_number() {
        loads.book(new WorkerSlot(0), 0, 80);
        List<Candidate> three = workers(3, B);
        // w1 and w2 are idle, of both costs; one of them is drawn.
        RoutingDecision even = router(kv(CostKind.BLOCKS), true).decide(request(three, B));
        assertEquals(2, other(even).ties());
        assertTrue(other(even).agrees(even.choice().index()));
        assertFalse(even.reason().contains(";"), even.reason());
        RoutingDecision cached =
                router(kv(CostKind.LATENCY), false)
                        .decide(request(three, 100 * B, device(B, 100, 60, 0, 0)));
        assertEquals("w0", chosen(cached));
        assertTrue(
                cached.reason().endsWith("; blocks would have taken w1 (2 cost the same)"),
                cached.reason());
    }

    @Test
    void a_sample_is_compared_with_the_lowest_cost_of_the_other() {
        RoutingRequest r = cachedWhereBusy();
        RoutingDecision d =
                router(kv(CostKind.LATENCY).withTemperature(Double.MIN_VALUE), false).decide(r);
        assertEquals(Choice.Kind.SAMPLED, d.choice().kind());
        assertTrue(d.reason().endsWith("; by blocks the lowest cost is that of w1"), d.reason());
    }

    @Test
    void there_is_none_for_who_does_not_ask_nor_without_speeds() {
        RoutingRequest r = cachedWhereBusy();
        for (CostKind cost : CostKind.values()) {
            RoutingRequest chosen = r.with(RoutingRequest.Detail.CHOSEN);
            RoutingDecision quiet = router(kv(cost), true).decide(chosen);
            assertNull(quiet.compared().other());
            assertFalse(quiet.reason().contains(";"), quiet.reason());
            RoutingDecision dry =
                    router(kv(cost), true).decide(r.with(RoutingRequest.Detail.DRY_RUN));
            assertEquals(cost.other(), other(dry).kind());
        }
        assertNull(router(kv(CostKind.BLOCKS), false).decide(r).compared().other());
        assertNotNull(router(kv(CostKind.LATENCY), false).decide(r).compared().other());
    }

    @ParameterizedTest
    @EnumSource(
            value = RouterMode.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"KV", "DIRECT"})
    void modes_that_compare_no_costs_show_blocks_and_no_other_cost(RouterMode mode) {
        RoutingDecision d =
                router(RouterOptions.of(mode).with(CostKind.LATENCY), true)
                        .decide(cachedWhereBusy());
        assertEquals(CostKind.BLOCKS, d.options().shownCost());
        assertEquals(220, d.compared().cost(0));
        assertNull(d.compared().other());
    }

    /** What a client says of blocks holds for its request: they decide it. */
    @Test
    void a_request_that_brings_weights_is_decided_in_blocks() {
        RoutingRequest r = cachedWhereBusy();
        Router router = router(kv(CostKind.LATENCY), false);
        List<RouterOverrides> blocks =
                List.of(
                        new RouterOverrides(1.0, null, null, null, null, null, null),
                        new RouterOverrides(null, 1.0, null, null, null, null, null),
                        new RouterOverrides(null, null, 1.0, null, null, null, null),
                        new RouterOverrides(null, null, null, 0.5, null, null, null),
                        new RouterOverrides(null, null, null, null, null, false, null));
        for (RouterOverrides o : blocks) {
            RoutingDecision d = router.decide(r.with(o));
            assertEquals(CostKind.BLOCKS, d.options().cost(), o.toString());
            assertEquals("w1", chosen(d), o.toString());
            assertEquals(200, d.chosen().cost(), o.toString());
            assertEquals("latency", other(d).kind().flag());
        }
        // Without prefill the cache is worth nothing: 180 against 100.
        RouterOverrides untracked = new RouterOverrides(null, null, null, null, null, null, false);
        assertEquals(100, router.decide(r.with(untracked)).chosen().cost());
        // A credit of 3 is as much as 180 blocks: all of the prefill.
        RouterOverrides credit = new RouterOverrides(3.0, null, null, null, null, null, null);
        assertEquals("w0", chosen(router.decide(r.with(credit))));
        assertEquals(180, router.decide(r.with(credit)).chosen().cost());
        assertEquals(CostKind.LATENCY, router.decide(r).options().cost(), "the next request");
    }

    @Test
    void a_temperature_and_switches_that_are_on_leave_the_cost_as_it_is() {
        RoutingRequest r = cachedWhereBusy();
        RouterOverrides o = new RouterOverrides(null, null, null, null, 0.5, true, true);
        RoutingDecision d = router(kv(CostKind.LATENCY), false).decide(r.with(o));
        assertEquals(CostKind.LATENCY, d.options().cost());
        assertEquals(0.5, d.options().temperature());
    }
}
