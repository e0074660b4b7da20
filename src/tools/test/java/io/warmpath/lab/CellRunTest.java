package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Fault;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import io.warmpath.lab.workload.Workload;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fleets and routers that are not as in the standing table. */
@Tag("slow")
class CellRunTest {
    private static final Scenario SYNTH = Scenarios.find("synth").orElseThrow();
    private static final Workload TRACE = SYNTH.draw().apply(1);

    private static Result play(Scenario scenario, String policy, Replicas replicas) {
        return CellRun.play(
                new Cell(
                        scenario,
                        PolicyCatalog.find(policy).orElseThrow(),
                        0.7,
                        1,
                        Cell.LAG_MILLIS,
                        replicas),
                TRACE,
                LabMainTest.NATIVE);
    }

    private static Result play(Scenario scenario, String policy) {
        return play(scenario, policy, Replicas.apart(1));
    }

    private static Scenario with(String... faults) {
        return SYNTH.withFaults(List.of(faults).stream().map(Fault::parse).toList());
    }

    /** Mean requests on the engine between these parts of the time. */
    private static double running(Result r, int engine, double from, double to) {
        List<Double> parts = r.running().get(engine);
        return parts.subList((int) (from * parts.size()), (int) (to * parts.size())).stream()
                .mapToDouble(d -> d)
                .average()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "latency",
                "lmetric",
                "smg",
                "llm-d",
                "llm-d-guide",
                "preble",
                "seed-002",
                "round-robin",
                "pooled"
            })
    void an_engine_that_leaves_gets_nothing_new_and_one_that_joins_gets_its_share(String policy) {
        Result r = play(with("leave@40%:2", "join@50%"), policy);
        assertTrue(running(r, 2, 0.2, 0.4) > 0.1, "before: " + r.running().get(2));
        assertEquals(0, running(r, 2, 0.7, 1), "after it left");
        assertEquals(0, running(r, 7, 0, 0.45), "before it joined");
        assertTrue(running(r, 7, 0.6, 1) > 0.1, "after it joined: " + r.running().get(7));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"pair-apart=3", "smg-pd=3", "dynamo-pd=3", "dynamo-cond=3", "llm-d-pd=3@25"})
    void prompts_are_computed_by_some_engines_and_answers_decoded_by_the_others(String policy) {
        Result r = play(SYNTH, policy);
        assertEquals(r, play(SYNTH, policy), "the same again");
        assertEquals(TRACE.size(), r.played());
        assertTrue(r.hitRate() > 0, "who computes finds prefixes");
        for (int engine = 0; engine < 8; engine++) {
            assertEquals(engine >= 3, r.sent().get(engine) > 0, engine + " of " + r.sent());
        }
    }

    @Test
    void a_slow_network_is_paid_for() {
        double fast = play(SYNTH, "smg-pd=3@400").ttft().mean();
        double slow = play(SYNTH, "smg-pd=3@5").ttft().mean();
        assertTrue(slow > 1.2 * fast, slow + " " + fast);
    }

    @Test
    void slow_and_frozen_engines_cost_time_and_fast_ones_save_it() {
        double plain = play(SYNTH, "least-loaded").ttft().mean();
        double slow = play(with("speed@0s:0:0.5"), "least-loaded").ttft().mean();
        double fast = play(with("speed@0%:0:2", "speed@0%:1:2"), "least-loaded").ttft().mean();
        double frozen = play(with("freeze@50%:0:30s"), "least-loaded").ttft().mean();
        assertTrue(slow > 1.05 * plain, slow + " " + plain);
        assertTrue(fast < 0.95 * plain, fast + " " + plain);
        assertTrue(frozen > 1.02 * plain, frozen + " " + plain);
    }

    @Test
    void faults_that_cannot_be_are_named_with_the_forms_there_are() {
        for (String wrong :
                List.of("melt@3s:1", "freeze@3s:1", "speed@3s:1:2s", "leave@3:1", "join@1.2.3s")) {
            IllegalArgumentException e =
                    assertThrows(IllegalArgumentException.class, () -> Fault.parse(wrong), wrong);
            assertTrue(e.getMessage().startsWith(wrong + ": "), e.getMessage());
        }
        String nobody =
                assertThrows(IllegalArgumentException.class, () -> with("leave@3s:8")).getMessage();
        assertEquals("synth: no engine 8 at the beginning, of 8", nobody);
        assertThrows(IllegalArgumentException.class, () -> with("leave@3s:7", "join@1s"));
    }

    @Test
    void a_pool_is_worth_what_it_costs_to_fetch_from_it() {
        Result without = play(SYNTH, "latency");
        Result with = play(SYNTH.withPool(2, SYNTH.model()), "latency");
        Result small = play(SYNTH.withPool(0.02, SYNTH.model()), "latency");
        Result dear = play(SYNTH.withPool(2, SYNTH.model().withPoolRate(5_000)), "latency");
        assertTrue(with.hitRate() > without.hitRate() + 0.15, with + " " + without);
        assertTrue(with.ttft().mean() < 0.7 * without.ttft().mean(), with + " " + without);
        assertTrue(small.hitRate() < without.hitRate() + 0.1, small + " " + without);
        assertTrue(dear.ttft().mean() > 2 * with.ttft().mean(), dear + " " + with);
    }

    @Test
    void routers_that_tell_each_other_soon_are_nearly_one() {
        double one = play(SYNTH, "latency").ttft().mean();
        double apart = play(SYNTH, "latency", Replicas.apart(4)).ttft().mean();
        double soon = play(SYNTH, "latency", new Replicas(4, 0, 100)).ttft().mean();
        assertTrue(apart > 1.2 * one, apart + " " + one);
        assertTrue(soon < 1.1 * one, soon + " " + one);
    }

    @ParameterizedTest
    @ValueSource(strings = {"latency", "lmetric", "smg", "preble", "llm-d-guide", "seed-002"})
    void news_beyond_the_limit_are_as_no_news(String policy) {
        Result apart = play(SYNTH, policy, Replicas.apart(4));
        assertEquals(apart, play(SYNTH, policy, new Replicas(4, 500, 100)), policy);
        Result stale = play(SYNTH, policy, new Replicas(4, 500, 1000));
        assertTrue(!apart.equals(stale), policy + " does not hear of its peers");
    }

    @Test
    void routers_that_are_cut_off_do_no_worse_than_those_that_never_talked() {
        Scenario cut = with("cut@10%:300s", "cut@70%:0.05s");
        double apart = play(cut, "latency", Replicas.apart(4)).ttft().mean();
        double synced = play(cut, "latency", new Replicas(4, 5, 100)).ttft().mean();
        double never = play(SYNTH, "latency", new Replicas(4, 5, 100)).ttft().mean();
        assertTrue(synced < apart, synced + " " + apart);
        assertTrue(synced > never, synced + " " + never);
    }
}
