package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who keeps a pin is preferred, says why, and is left when it is busy. */
class PinnedBlocksTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();

    private Router router(CostKind cost) {
        SplittableRandom random = new SplittableRandom(5);
        return Routers.create(
                RouterOptions.of(RouterMode.KV).with(cost, LatencyPriors.DEFAULT),
                loads,
                () -> random,
                () -> 1_000_000_000L);
    }

    private static PinView pin(double weight, long worker, int blocks) {
        return new PinView(weight, List.of(new PinView.Held(worker, 0, B, blocks)));
    }

    private static double term(RoutingDecision d, int candidate, String name) {
        Scores all = d.compared();
        return all.terms(candidate).get(all.names().indexOf(name));
    }

    private static long chosen(RoutingDecision d) {
        return d.chosen().candidate().worker().id();
    }

    @ParameterizedTest
    @EnumSource(CostKind.class)
    void of_two_that_hold_the_same_the_one_that_keeps_it_wins(CostKind cost) {
        Router router = router(cost);
        for (long holder = 0; holder < 3; holder++) {
            RoutingRequest r = request(workers(3, B), 40 * B, device(B, 40, 40, 40, 40));
            for (int i = 0; i < 5; i++) {
                assertEquals(holder, chosen(router.decide(r.with(pin(0.25, holder, 30)))));
            }
        }
    }

    @Test
    void the_credit_is_a_term_of_its_own() {
        RoutingDecision d =
                router(CostKind.BLOCKS)
                        .decide(
                                request(workers(2, B), 40 * B, device(B, 40, 20, 20))
                                        .with(pin(0.25, 1, 12)));
        assertEquals(0, term(d, 0, "pinned_blocks"));
        assertEquals(0, term(d, 0, "pin_credit"));
        assertEquals(12, term(d, 1, "pinned_blocks"));
        assertEquals(3, term(d, 1, "pin_credit"));
        assertEquals(3, term(d, 0, "cost") - term(d, 1, "cost"), 1e-9);
        RoutingDecision ms =
                router(CostKind.LATENCY)
                        .decide(request(workers(2, B), 40 * B).with(pin(0.25, 1, 12)));
        assertEquals(
                0.25 * LatencyPriors.DEFAULT.prefillMillis(12 * B, 0), term(ms, 1, "pin_ms"), 1e-9);
        assertEquals(term(ms, 1, "pin_ms"), term(ms, 0, "cost") - term(ms, 1, "cost"), 1e-9);
    }

    @ParameterizedTest
    @EnumSource(CostKind.class)
    void a_busy_one_is_left(CostKind cost) {
        Router router = router(cost);
        RoutingRequest r =
                request(workers(2, B), 40 * B, device(B, 40, 40, 40)).with(pin(0.25, 0, 40));
        int sent = 0;
        while (chosen(router.decide(r)) == 0) {
            loads.book(new WorkerSlot(0), B * 8, 40);
            router.sent(router.decide(r), true);
            assertTrue(++sent < 100, "a herd of " + sent);
        }
        assertTrue(sent >= 1, "it was preferred while it had time");
    }

    @Test
    void a_pin_weighs_no_more_than_the_whole_cost_and_none_means_none() {
        RoutingRequest r = request(workers(1, B), 4 * B, device(B, 4, 4));
        RoutingDecision d = router(CostKind.BLOCKS).decide(r.with(pin(1, 0, 4)));
        assertTrue(d.chosen().cost() >= 0, d::toString);
        RoutingDecision off =
                router(CostKind.BLOCKS)
                        .decide(
                                request(workers(2, B), 4 * B, device(B, 4, 0, 0))
                                        .with(pin(0, 0, 4)));
        assertEquals(term(off, 0, "cost"), term(off, 1, "cost"));
        assertThrows(IllegalArgumentException.class, () -> pin(1.5, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> pin(Double.NaN, 0, 1));
    }

    @Test
    void blocks_beyond_the_prompt_or_of_another_size_do_not_count() {
        RoutingDecision d =
                router(CostKind.BLOCKS)
                        .decide(request(workers(1, B), 3 * B).with(pin(0.25, 0, 12)));
        assertEquals(3, term(d, 0, "pinned_blocks"));
        PinView other = new PinView(0.25, List.of(new PinView.Held(0, 0, 32, 2)));
        assertEquals(
                0,
                term(
                        router(CostKind.BLOCKS).decide(request(workers(1, B), 3 * B).with(other)),
                        0,
                        "pinned_blocks"));
    }
}
