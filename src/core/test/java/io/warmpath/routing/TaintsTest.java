package io.warmpath.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers that are set apart, in every mode. */
class TaintsTest {
    private static final int B = 16;
    private static final long SEED = 23;
    private final Random random = new Random(SEED);
    private final LoadTracker loads = new LoadTracker();

    private Router router(RouterOptions options) {
        return Routers.create(options, loads, () -> random, () -> 0);
    }

    private static Candidate worker(int id, String... taints) {
        Worker w = Fleets.worker(id, B).worker();
        Worker tainted =
                w.toBuilder().taints(Arrays.stream(taints).map(Taint::parse).toList()).build();
        return new Candidate(tainted, 0, w.ranks().getFirst().slot());
    }

    private static TaintRules tolerating(String text) {
        return new TaintRules(List.of(TaintMatch.parse(text)), List.of(), Map.of());
    }

    private static TaintRules preferring(String text, double weight) {
        return new TaintRules(List.of(), List.of(), Map.of(TaintMatch.parse(text), weight));
    }

    /** Who is chosen in many decisions; equal workers, held apart by taints alone. */
    private Set<String> chosen(Router router, RoutingRequest request) {
        Set<String> names = new TreeSet<>();
        for (int i = 0; i < 200; i++) {
            names.add(router.decide(request).chosen().candidate().worker().name());
        }
        return names;
    }

    @ParameterizedTest
    @EnumSource(RouterMode.class)
    void every_mode_keeps_to_taints_and_tolerations(RouterMode mode) {
        Router router = router(RouterOptions.of(mode));
        List<Candidate> fleet =
                List.of(worker(0), worker(1, "dedicated=batch:NoSchedule", "gpu=a"), worker(2));
        RoutingRequest plain = Fleets.request(fleet, 4 * B, Fleets.device(B, 4, 0, 4, 0));
        if (mode == RouterMode.DIRECT) {
            RoutingRequest pinned = Fleets.pin(plain, OptionalLong.of(1), OptionalInt.empty());
            GatewayException refused =
                    assertThrows(GatewayException.class, () -> router.decide(pinned));
            assertEquals("taints_not_tolerated", refused.error().code());
            assertEquals(Set.of("w1"), chosen(router, pinned.with(tolerating("dedicated"))));
            return;
        }
        assertEquals(Set.of("w0", "w2"), chosen(router, plain), "seed " + SEED);
        assertEquals(Set.of("w0", "w2"), chosen(router, plain.with(tolerating("dedicated=x"))));
        for (String toleration : List.of("dedicated", "dedicated=batch", "*")) {
            assertTrue(
                    chosen(router, plain.with(tolerating(toleration))).contains("w1"),
                    mode + " " + toleration);
        }
        RoutingDecision d = router.decide(plain);
        assertEquals(
                List.of("", "taint dedicated=batch:NoSchedule is not tolerated", ""),
                d.ineligible());
        assertEquals(2, d.compared().size());
        TaintRules gpu = new TaintRules(List.of(), List.of(TaintMatch.parse("gpu=a")), Map.of());
        // What is asked for is tolerated only if it is that taint.
        assertThrows(GatewayException.class, () -> router.decide(plain.with(gpu)));
        TaintRules both = gpu.tolerating(List.of(TaintMatch.parse("dedicated")));
        assertEquals(Set.of("w1"), chosen(router, plain.with(both)));
        assertEquals(
                List.of("taint gpu=a is missing", "", "taint gpu=a is missing"),
                router.decide(plain.with(both)).ineligible());
    }

    @ParameterizedTest
    @EnumSource(value = RouterMode.class, mode = EnumSource.Mode.EXCLUDE, names = "DIRECT")
    void every_mode_would_rather_not_go_where_a_taint_says_so(RouterMode mode) {
        Router router = router(RouterOptions.of(mode));
        List<Candidate> fleet = List.of(worker(0), worker(1, "spot:PreferNoSchedule"), worker(2));
        RoutingRequest plain = Fleets.request(fleet, 4 * B);
        assertEquals(Set.of("w0", "w2"), chosen(router, plain), "seed " + SEED);
        assertEquals(
                Set.of("w0", "w1", "w2"),
                chosen(router, plain.with(tolerating("spot"))),
                "seed " + SEED);
        assertEquals(Set.of("w1"), chosen(router, plain.with(preferring("spot", 1))));
        RoutingRequest alone = Fleets.request(fleet.subList(1, 2), 4 * B);
        assertEquals(Set.of("w1"), chosen(router, alone), "better than nobody");
    }

    @ParameterizedTest
    @EnumSource(CostKind.class)
    void a_taint_that_would_rather_not_makes_its_worker_dearer_but_does_not_forbid_it(
            CostKind cost) {
        Router router = router(RouterOptions.of(RouterMode.KV).with(cost, LatencyPriors.DEFAULT));
        List<Candidate> fleet = List.of(worker(0), worker(1, "spot:PreferNoSchedule"));
        RoutingDecision even = router.decide(Fleets.request(fleet, 100 * B));
        double factor = Math.exp(Math.tanh(1));
        assertEquals(factor * even.compared().cost(0), even.compared().cost(1), 1e-9);
        int at = even.compared().names().indexOf("taint_factor");
        assertEquals(1.0, even.compared().terms(0).get(at));
        assertEquals(factor, even.compared().terms(1).get(at));
        assertEquals("w0", even.chosen().candidate().worker().name());
        loads.book(fleet.get(0).slot(), 100 * B, 100);
        RoutingDecision cached =
                router.decide(Fleets.request(fleet, 100 * B, Fleets.device(B, 100, 0, 90)));
        assertEquals("w1", cached.chosen().candidate().worker().name(), "its cache is worth more");
        assertEquals(List.of("", ""), cached.ineligible());
    }

    /** exp(-tanh(sum of the weights of preferred taints that it has)), as documented. */
    @ParameterizedTest
    @ValueSource(doubles = {0.25, 1, 50, -2})
    void preferred_taints_are_weighed(double weight) {
        TaintRules rules =
                new TaintRules(
                        List.of(),
                        List.of(),
                        Map.of(TaintMatch.parse("zone=a"), weight, TaintMatch.parse("gpu"), 0.5));
        assertEquals(1, rules.costFactor(worker(0, "zone=b").worker()));
        assertEquals(
                Math.exp(-Math.tanh(weight + 0.5)),
                rules.costFactor(worker(0, "zone=a", "gpu=x").worker()),
                1e-12);
    }

    @Test
    void what_cannot_be_met_says_which_taint() {
        Router router = router(RouterOptions.of(RouterMode.KV));
        List<Candidate> fleet = List.of(worker(0, "a:NoSchedule"), worker(1, "b=1:NoSchedule"));
        RoutingRequest plain = Fleets.request(fleet, B);
        GatewayError away =
                assertThrows(GatewayException.class, () -> router.decide(plain)).error();
        assertEquals(503, away.httpStatus());
        assertTrue(away.message().contains("taint b=1:NoSchedule is not tolerated"));
        TaintRules missing = new TaintRules(List.of(), List.of(TaintMatch.parse("c")), Map.of());
        GatewayError never =
                assertThrows(GatewayException.class, () -> router.decide(plain.with(missing)))
                        .error();
        assertEquals(400, never.httpStatus());
        assertTrue(never.message().contains("[c]"), never.message());
    }

    @Test
    void taints_are_written_as_they_are_read() {
        for (String text : List.of("a", "a=b", "a:NoSchedule", "x.y/z=b-1:PreferNoSchedule")) {
            assertEquals(text, Taint.parse(text).toString());
        }
        for (String wrong : List.of("", "=b", "a=", "a b", "a:NoExecute", "a:", "-a", "a=b=c")) {
            assertThrows(IllegalArgumentException.class, () -> Taint.parse(wrong), wrong);
        }
        assertThrows(IllegalArgumentException.class, () -> TaintMatch.parse("a:NoSchedule"));
        assertFalse(TaintMatch.parse("a=b").covers(Taint.parse("a=c")));
        assertTrue(TaintMatch.parse("a").covers(Taint.parse("a=c:NoSchedule")));
    }
}
