package io.warmpath.routing;

import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Several gateways that decide before they hear of each other. */
class UnheardWorkTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();

    private Router router() {
        SplittableRandom random = new SplittableRandom(5);
        RouterOptions options = RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY);
        return Routers.create(options, loads, () -> random, () -> 1_000_000_000_000L);
    }

    /** It has heard of one request of 2,000 tokens on worker 0. */
    private Router one(int place, int gateways) {
        Router router = router();
        router.among(place, gateways);
        router.sentByPeer(new WorkerSlot(0), 2000, 2000, 0, false);
        return router;
    }

    private static double term(RoutingDecision d, int candidate, String name) {
        Scores all = d.compared();
        return all.terms(candidate).get(all.names().indexOf(name));
    }

    private static int slot(RoutingDecision d) {
        return d.chosen().candidate().slot().index();
    }

    @Test
    void each_gateway_begins_at_another_worker() {
        List<Integer> chosen = new ArrayList<>();
        for (int place = 0; place < 3; place++) {
            chosen.add(slot(one(place, 3).decide(request(workers(7, B), 500))));
        }
        assertEquals(List.of(1, 2, 4), chosen, "worker 0, where the first one begins, is busy");
    }

    @Test
    void alone_they_would_all_take_the_same_one() {
        int first = slot(one(0, 1).decide(request(workers(7, B), 500)));
        assertEquals(first, slot(one(0, 1).decide(request(workers(7, B), 500))), "the control");
    }

    @Test
    void what_may_have_been_sent_lies_on_those_with_the_least_to_do() {
        RoutingDecision d = one(0, 2).decide(request(workers(3, B), 500));
        double heard = term(d, 0, "wait_ms");
        assertTrue(heard > 60, "2,000 tokens: " + heard);
        assertEquals(0, term(d, 0, "unheard_ms"), 1e-9);
        assertEquals(heard / 4, term(d, 1, "unheard_ms"), 1e-9);
        assertEquals(heard / 4, term(d, 2, "unheard_ms"), 1e-9);
        assertEquals(d.scores().get(1).cost(), term(d, 1, "cost"));
        assertEquals(
                term(d, 1, "work_price") * term(d, 1, "prefill_ms") + 7.5 + heard / 4,
                term(d, 1, "cost"),
                1e-6);
    }

    @Test
    void a_gateway_that_is_alone_again_counts_none_of_it() {
        Router router = one(1, 2);
        router.among(0, 1);
        RoutingDecision d = router.decide(request(workers(3, B), 500));
        assertEquals(0, term(d, 1, "unheard_ms"));
        router.among(1, 2);
        d = router.decide(request(workers(3, B), 500));
        assertEquals(0, term(d, 1, "unheard_ms"), "nothing was sent since");
    }

    @Test
    void a_cache_is_worth_more_than_the_place() {
        RoutingDecision d =
                one(1, 2).decide(request(workers(4, B), 8000, Fleets.device(B, 500, 0, 0, 0, 400)));
        assertEquals(3, slot(d));
        assertNotEquals(slot(one(1, 2).decide(request(workers(4, B), 8000))), slot(d));
    }

    /** The level under which so much has room, found by halving. */
    @Test
    void the_level_holds_exactly_that_work() {
        SplittableRandom random = new SplittableRandom(11);
        for (int round = 0; round < 2000; round++) {
            int count = 1 + random.nextInt(12);
            UnheardWork work = new UnheardWork(count);
            Facts facts = facts();
            double[] loads = new double[count];
            for (int i = 0; i < count; i++) {
                loads[i] = random.nextInt(4) == 0 ? 7 : random.nextDouble(100);
                facts.loadMillis = loads[i];
                facts.restMillis = i;
                work.read(i, facts);
            }
            double millis = random.nextDouble(200) + 1e-6;
            double low = 0;
            double high = 1000;
            while (high - low > 1e-9) {
                double middle = (low + high) / 2;
                double room = 0;
                for (double l : loads) {
                    room += Math.max(0, middle - l);
                }
                if (room < millis) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            double[] costs = new double[count];
            assertEquals(low, work.addTo(costs, millis), 1e-6, "round " + round);
            for (int i = 0; i < count; i++) {
                assertEquals(Math.max(loads[i], low) + i, costs[i], 1e-6, "round " + round);
            }
        }
    }

    private Facts facts() {
        RoutingRequest request = request(workers(1, B), 16);
        return new Facts(
                request,
                BlockWeights.DEFAULT,
                loads,
                loads.potential(List.of()),
                Roster.of(request.candidates()));
    }
}
