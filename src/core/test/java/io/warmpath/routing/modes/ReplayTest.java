package io.warmpath.routing.modes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Fleets;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.rates.Sent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Another policy over kept decisions. */
class ReplayTest {
    private static final long SEED = 11;
    private final LoadTracker loads = new LoadTracker();

    private static RouterOptions blocks() {
        return RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS);
    }

    private List<RoutingDecision> decisions(RouterOptions options, int count) {
        Random random = new Random(SEED);
        Router router = Routers.create(options, loads, () -> random);
        List<Candidate> workers = Fleets.workers(4, 16);
        List<RoutingDecision> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int[] held = random.ints(4, 0, 9).toArray();
            RoutingDecision d =
                    router.decide(Fleets.request(workers, 16 * 8 + 5, Fleets.device(16, 8, held)));
            made.add(d);
            loads.book(d.chosen().candidate().slot(), d.chosen().prefillTokens(), d.blocks());
        }
        return made;
    }

    private static Replay.Outcome replay(
            List<RoutingDecision> made, @Nullable RouterMode mode, RouterOverrides overrides) {
        Random random = new Random(SEED);
        return Replay.run(made, new Replay.Policy(mode, null, overrides), () -> random);
    }

    private static RouterOverrides credit(double credit) {
        return new RouterOverrides(credit, null, null, null, null, null, null);
    }

    @Test
    void the_policy_that_decided_decides_the_same_again() {
        List<RoutingDecision> made = decisions(blocks(), 200);
        // What runs by now is not what was seen then.
        loads.book(new WorkerSlot(0), 100_000, 100_000);
        Replay.Outcome same = replay(made, null, RouterOverrides.NONE);
        assertEquals(200, same.replayed(), "seed " + SEED);
        assertEquals(List.of(), same.changes());
        assertEquals(same.wasCachedTokens(), same.wouldCachedTokens());
        assertEquals(same.wasPrefillTokens(), same.wouldPrefillTokens());
        assertTrue(same.wasCachedTokens() > 0);
    }

    @Test
    void a_policy_blind_to_caches_finds_less_in_them() {
        List<RoutingDecision> made = decisions(blocks(), 200);
        Replay.Outcome blind = replay(made, null, credit(0));
        assertTrue(!blind.changes().isEmpty(), "seed " + SEED);
        assertTrue(blind.wouldCachedTokens() < blind.wasCachedTokens(), "seed " + SEED);
        assertEquals(
                blind.wouldPrefillTokens() - blind.wasPrefillTokens(),
                blind.wasCachedTokens() - blind.wouldCachedTokens(),
                "what is not cached is computed");
    }

    @Test
    void greed_for_caches_finds_more_in_them_than_turns_do() {
        List<RoutingDecision> turns = decisions(RouterOptions.of(RouterMode.ROUND_ROBIN), 200);
        Replay.Outcome kv = replay(turns, RouterMode.KV, credit(8));
        assertTrue(kv.wouldCachedTokens() > kv.wasCachedTokens(), "seed " + SEED);
        Replay.Outcome again = replay(turns, null, RouterOverrides.NONE);
        assertEquals(0, again.changes().size(), "turns go round in a replay as they did");
    }

    @Test
    void a_tie_that_the_lot_decided_is_no_change() {
        Random random = new Random(SEED);
        Router router = Routers.create(blocks(), loads, () -> random);
        List<RoutingDecision> made = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            made.add(router.decide(Fleets.request(Fleets.workers(4, 16), 64)));
        }
        Replay.Outcome other = replay(made, null, RouterOverrides.NONE);
        assertEquals(0, other.changes().size());
        assertEquals(
                made.stream().map(d -> d.chosen().candidate()).distinct().count(), 4L, "all drawn");
    }

    private List<RoutingDecision> observed(RouterOptions options, int count) {
        Random random = new Random(SEED);
        long[] now = {1_000_000_000_000L};
        Router router =
                Routers.create(
                        options,
                        VllmCacheAwareOptions.DEFAULT,
                        Map.of(),
                        loads,
                        () -> random,
                        () -> now[0],
                        true);
        List<Candidate> workers = Fleets.workers(4, 16);
        Deque<Sent> running = new ArrayDeque<>();
        List<RoutingDecision> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int[] held = random.ints(4, 0, 9).toArray();
            RoutingDecision d =
                    router.decide(
                            Fleets.request(workers, 16 * 500 + 5, Fleets.device(16, 500, held)));
            made.add(d);
            running.add(router.sent(d, true));
            now[0] += random.nextInt(400_000_000);
            if (running.size() > 6) {
                Sent oldest = running.remove();
                oldest.firstToken();
                oldest.ended(random.nextInt(300));
            }
        }
        return made;
    }

    private static Replay.Outcome as(List<RoutingDecision> made, CostKind cost) {
        Random random = new Random(SEED);
        return Replay.run(
                made, new Replay.Policy(RouterMode.KV, cost, RouterOverrides.NONE), () -> random);
    }

    @Test
    void decisions_by_milliseconds_are_made_again_from_the_speeds_that_they_saw() {
        RouterOptions latency = RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY);
        List<RoutingDecision> made = observed(latency, 200);
        Replay.Outcome same = replay(made, null, RouterOverrides.NONE);
        assertEquals(200, same.replayed(), "seed " + SEED);
        assertEquals(List.of(), same.changes());
        Replay.Outcome blocks = as(made, CostKind.BLOCKS);
        assertEquals(200, blocks.replayed());
        assertTrue(!blocks.changes().isEmpty(), "the loads of blocks were never booked here");
        assertEquals(200, replay(made, RouterMode.LEAST_LOADED, RouterOverrides.NONE).replayed());
    }

    /** The other way round: what milliseconds would have chosen, whoever decided. */
    @Test
    void decisions_of_every_mode_can_be_weighed_by_milliseconds() {
        for (RouterMode mode : RouterMode.values()) {
            if (mode == RouterMode.DIRECT) {
                continue; // needs a pin, which leaves no choice
            }
            List<RoutingDecision> made =
                    observed(RouterOptions.of(mode).with(CostKind.BLOCKS), 100);
            Replay.Outcome latency = as(made, CostKind.LATENCY);
            assertEquals(100, latency.replayed(), mode + ", seed " + SEED);
            assertEquals(0, latency.skipped(), mode.toString());
            assertTrue(!latency.changes().isEmpty(), mode + ", seed " + SEED);
            for (RouterMode other : RouterMode.values()) {
                int expected = other == RouterMode.DIRECT ? 0 : 100;
                assertEquals(
                        expected,
                        replay(made, other, RouterOverrides.NONE).replayed(),
                        mode + " as " + other);
            }
        }
    }

    /** A request's own weights are of the cost in blocks, and so are a replay's. */
    @Test
    void a_policy_of_weights_is_played_in_blocks_unless_it_names_the_other_cost() {
        List<RoutingDecision> made =
                observed(RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY), 100);
        Replay.Outcome named = as(made, CostKind.BLOCKS);
        Replay.Outcome meant = replay(made, null, credit(1));
        assertTrue(!named.changes().isEmpty(), "seed " + SEED);
        assertEquals(named.changes(), meant.changes(), "1 is what holds");
        Random random = new Random(SEED);
        Replay.Policy latency = new Replay.Policy(null, CostKind.LATENCY, credit(1));
        assertEquals(List.of(), Replay.run(made, latency, () -> random).changes());
    }

    @Test
    void where_no_speeds_were_kept_milliseconds_are_not_made_up() {
        List<RoutingDecision> made = decisions(blocks(), 5);
        assertEquals(5, as(made, CostKind.LATENCY).skipped());
    }
}
