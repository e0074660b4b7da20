package io.warmpath.routing;

import static io.warmpath.routing.Fleets.device;
import static io.warmpath.routing.Fleets.request;
import static io.warmpath.routing.Fleets.workers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.warmpath.load.ActiveAdapters;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who runs the request's adapter already is preferred, and who has no place for it is left. */
class AdapterPlacesTest {
    private static final int B = 16;

    private final LoadTracker loads = new LoadTracker();

    private RoutingDecision decide(CostKind cost, RoutingRequest request, AdapterView adapter) {
        SplittableRandom random = new SplittableRandom(5);
        return Routers.create(
                        RouterOptions.of(RouterMode.KV).with(cost, LatencyPriors.DEFAULT),
                        loads,
                        () -> random,
                        () -> 1_000_000_000L)
                .decide(request.toBuilder().adapter(adapter).build());
    }

    private static AdapterView toLoad(Map<Integer, Double> turns) {
        Map<WorkerSlot, Double> bySlot = new HashMap<>();
        turns.forEach((slot, t) -> bySlot.put(new WorkerSlot(slot), t));
        return new AdapterView(bySlot);
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
    void of_equals_the_one_where_it_is_active_wins(CostKind cost) {
        for (int active = 0; active < 3; active++) {
            Map<Integer, Double> turns = new HashMap<>(Map.of(0, 0.0, 1, 0.0, 2, 0.0));
            turns.remove(active);
            RoutingRequest r = request(workers(3, B), 40 * B, device(B, 40, 0, 0, 0));
            assertEquals(active, chosen(decide(cost, r, toLoad(turns))));
        }
    }

    @ParameterizedTest
    @EnumSource(CostKind.class)
    void one_whose_places_are_taken_is_left_although_it_holds_some_of_the_prompt(CostKind cost) {
        RoutingRequest r = request(workers(2, B), 40 * B, device(B, 40, 4, 0));
        loads.book(new WorkerSlot(0), 0, 20);
        loads.book(new WorkerSlot(1), 0, 20);
        assertEquals(0, chosen(decide(cost, r, null)));
        assertEquals(0, chosen(decide(cost, r, toLoad(Map.of(0, 0.0, 1, 0.0)))));
        assertEquals(1, chosen(decide(cost, r, toLoad(Map.of(0, 1.0, 1, 0.0)))));
    }

    @Test
    void loading_and_waiting_are_one_term() {
        RoutingRequest r = request(workers(2, B), 40 * B);
        loads.book(new WorkerSlot(0), 0, 20);
        RoutingDecision blocks = decide(CostKind.BLOCKS, r, toLoad(Map.of(0, 0.5)));
        assertEquals(1 + 0.5 * 20, term(blocks, 0, "adapter_cost"), 1e-9);
        assertEquals(0, term(blocks, 1, "adapter_cost"));
        RoutingDecision ms = decide(CostKind.LATENCY, r, toLoad(Map.of(0, 0.0, 1, 2.0)));
        assertEquals(10, term(ms, 0, "adapter_ms"), 1e-9);
        double without = term(decide(CostKind.LATENCY, r, null), 1, "cost");
        assertEquals(term(ms, 1, "adapter_ms"), term(ms, 1, "cost") - without, 1e-6);
    }

    @Test
    void a_request_without_an_adapter_has_no_view() {
        assertNull(AdapterView.of(new ActiveAdapters(), "", List.of()));
        ActiveAdapters active = new ActiveAdapters();
        active.began(new WorkerSlot(1), "law");
        assertEquals(toLoad(Map.of(0, 0.0)), AdapterView.of(active, "law", workers(2, B)));
    }
}
