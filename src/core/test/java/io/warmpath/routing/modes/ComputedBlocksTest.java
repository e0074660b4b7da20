package io.warmpath.routing.modes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Fleets;
import io.warmpath.routing.Part;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scores;
import io.warmpath.routing.rates.LatencyPriors;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What is computed again makes work dearer; what somebody still holds, or is new, does not. */
class ComputedBlocksTest {
    private static final int B = 16;
    private static final int BLOCKS = 4000;
    private static final List<Candidate> WORKERS = Fleets.workers(2, B);

    /** No work is booked to speak of, so that the price is that of eviction alone. */
    private static final LatencyPriors NO_TIME =
            new LatencyPriors(0, 0, 0, 1e-9, 0, 150_000, 75_000, 1, 256);

    private long now = 1_000_000_000_000L;
    private final LoadTracker loads = new LoadTracker();
    private final SplittableRandom random = new SplittableRandom(7);
    private final Router router =
            Routers.create(
                    RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY, NO_TIME),
                    loads,
                    () -> random,
                    () -> now);

    private int[] prompt(int seed) {
        return new SplittableRandom(seed).ints(BLOCKS * B, 0, 100_000).toArray();
    }

    private RoutingRequest request(int[] tokens, int heldBy, int blocks) {
        int[] depths = new int[Tier.COUNT];
        Arrays.fill(depths, blocks);
        PrefixMatch match = new PrefixMatch(B, tokens.length / B, new int[] {heldBy}, depths);
        return RoutingRequest.builder(WORKERS, tokens.length, List.of(match))
                .prompts(List.of(loads.name("m", "", tokens, B)))
                .build()
                .with(RoutingRequest.Detail.ALL);
    }

    /** Sends it, and tells the price of work of the decision after it. */
    private double send(RoutingRequest r) {
        router.sent(router.decide(r), true).ended(0);
        now += 1_000_000_000L; // the fleet is summed up anew
        RoutingDecision next = router.decide(r.with(RoutingRequest.Detail.DRY_RUN));
        return next.compared().terms(0).get(next.compared().names().indexOf("work_price"));
    }

    @Test
    void new_prompts_cost_what_they_did() {
        for (int i = 0; i < 20; i++) {
            assertEquals(1, send(request(prompt(i), 0, 0)), 1e-3, "prompt " + i);
        }
    }

    /** Of n prompts that come twice half of the blocks are computed again: e / (1 - e) is 1. */
    @Test
    void prompts_that_nobody_holds_any_more_make_work_dearer() {
        double price = 1;
        for (int i = 0; i < 50; i++) {
            send(request(prompt(i), 0, 0));
            price = send(request(prompt(i), 0, 0));
        }
        assertEquals(2, price, 0.15);
        for (int i = 0; i < 200; i++) {
            price = send(request(prompt(7), 0, 0));
        }
        assertTrue(price > 4 && price <= 5, "never more than four fifths of all: " + price);
        for (int i = 100; i < 400; i++) {
            price = send(request(prompt(i), 0, 0));
        }
        assertTrue(price < 1.1, "forgotten with new prompts: " + price);
    }

    /** As dear as computing the moved blocks again, times e / (1 - e). */
    @Test
    void who_decodes_what_was_computed_elsewhere_pays_for_what_it_evicts() {
        RoutingRequest decode =
                request(prompt(0), 0, BLOCKS / 2).toBuilder().part(Part.DECODE).build();
        assertEquals(0, room(decode, 1), "nothing was evicted yet");
        double price = 1;
        for (int i = 0; i < 50; i++) {
            send(request(prompt(i), 0, 0));
            price = send(request(prompt(i), 0, 0));
        }
        int half = BLOCKS * B / 2;
        double all = (price - 1) * NO_TIME.prefillMillis(BLOCKS * B, 0);
        assertTrue(price > 1.8, "price " + price);
        assertEquals(all, room(decode, 1), all / 1000);
        assertEquals(
                (price - 1) * NO_TIME.prefillMillis(half, half),
                room(decode, 0),
                all / 1000,
                "it holds half, which does not come");
        assertEquals(0, room(decode.toBuilder().part(Part.PREFILL).build(), 1));
    }

    private double room(RoutingRequest r, int worker) {
        Scores all = router.decide(r.with(RoutingRequest.Detail.DRY_RUN)).compared();
        return all.terms(worker).get(all.names().indexOf("room_ms"));
    }

    @Test
    void what_is_cached_where_it_goes_or_anywhere_else_was_not_evicted() {
        for (int i = 0; i < 20; i++) {
            int[] prompt = prompt(i);
            send(request(prompt, 0, 0));
            assertEquals(1, send(request(prompt, 0, BLOCKS)), 1e-3, "on worker 0");
            assertEquals(1, send(request(prompt, 1, BLOCKS)), 1e-3, "on worker 1");
        }
    }

    /** Four requests that start at once are one prefill, however often the prompt is sent. */
    @Test
    void what_runs_is_held() {
        for (int i = 0; i < 20; i++) {
            int[] prompt = prompt(i);
            loads.book(WORKERS.get(1).slot(), 0, loads.name("m", "", prompt, B), 0);
            send(request(prompt, 0, 0));
            assertEquals(1, send(request(prompt, 0, 0)), 1e-3);
        }
    }
}
