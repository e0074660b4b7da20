package io.warmpath.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Whole or in two: what each way costs is said here, and the plan goes by it. */
class SplittingTest {
    private static final int PROMPT = 1000;

    /** 2 ms, and 10 for each thousand tokens that the decoding worker does not hold. */
    private static final TransferCost TRANSFER = new TransferCost(2, 0.01, 0.1);

    private static final Splitting BY_COST = new Splitting(TRANSFER, OptionalLong.empty());

    private final Candidate prefill = worker(0, EngineKind.SGLANG, Role.PREFILL, false);
    private final Candidate decode = worker(1, EngineKind.SGLANG, Role.DECODE, false);
    private final Candidate plain = worker(2, EngineKind.SGLANG, Role.BOTH, true);
    private final Candidate prefillsAlone = worker(3, EngineKind.VLLM, Role.PREFILL, true);
    private final Candidate decodesAlone = worker(4, EngineKind.VLLM, Role.DECODE, true);

    /** A router that gives the cheapest, by worker and part, and notes what it was asked. */
    private static final class Costs implements Splitting.Asked {
        private final RouterMode mode;
        private final Cost[] costs;
        private final List<Part> asked = new ArrayList<>();

        /**
         * @param costs by worker; how many tokens are computed, too
         */
        Costs(RouterMode mode, Cost... costs) {
            this.mode = mode;
            this.costs = costs;
        }

        @Override
        public RoutingDecision dryRun(List<Candidate> candidates, Part part) {
            asked.add(part);
            Candidate best = candidates.getFirst();
            for (Candidate c : candidates) {
                best = of(c, part) < of(best, part) ? c : best;
            }
            double cost = of(best, part);
            return new RoutingDecision(
                    RoutingRequest.builder(candidates, PROMPT, List.of()).part(part).build(),
                    RouterOptions.of(mode),
                    new Choice(Choice.Kind.LOWEST_COST, 0, 1, 1, cost, cost, Double.NaN, 0),
                    new Score(best, 0, 0, 0, 0, 0, 0, (int) cost, 0, 0, cost),
                    1,
                    Scores.NONE);
        }

        private double of(Candidate c, Part part) {
            Cost cost = costs[(int) c.worker().id()];
            return switch (part) {
                case WHOLE -> cost.whole;
                case PREFILL -> cost.prefill;
                case DECODE -> cost.decode;
            };
        }
    }

    private static Candidate worker(int id, EngineKind kind, Role role, boolean alone) {
        return worker(id, kind, role, alone, "");
    }

    private static Candidate worker(
            int id, EngineKind kind, Role role, boolean alone, String transfer) {
        Candidate c = Fleets.worker(id, 16);
        Worker worker =
                c.worker().toBuilder()
                        .kind(kind)
                        .disaggregation(new Disaggregation(role, alone, 0, transfer))
                        .build();
        return new Candidate(worker, 0, c.slot());
    }

    private record Cost(double whole, double prefill, double decode) {}

    private static Cost costs(double whole, double prefill, double decode) {
        return new Cost(whole, prefill, decode);
    }

    private static final Cost NEVER = costs(1e9, 1e9, 1e9);

    @Test
    void without_workers_that_prefill_nobody_is_asked() {
        Costs none = new Costs(RouterMode.KV);
        List<Candidate> all = List.of(plain);
        Splitting.Plan plan = BY_COST.plan(none, all, List.of(), PROMPT);
        assertSame(all, plan.candidates());
        assertEquals(Part.WHOLE, plan.part());
        assertEquals(List.of(), none.asked);
    }

    @Test
    void there_is_no_question_where_nobody_does_whole_requests() {
        Costs none = new Costs(RouterMode.KV);
        Splitting.Plan plan = BY_COST.plan(none, List.of(decode), List.of(prefill), PROMPT);
        assertEquals(new Splitting.Plan(List.of(decode), List.of(prefill), Part.DECODE), plan);
        assertEquals(List.of(), none.asked);
    }

    /** 30 + 2 to set it up + 10 = 42; what moves is in the 10. */
    @Test
    void the_transfer_counts() {
        for (double whole : new double[] {41.9, 42, 42.1}) {
            Costs costs =
                    new Costs(
                            RouterMode.KV,
                            costs(1e9, 30, 1e9),
                            costs(1e9, 1e9, 10),
                            costs(whole, 1e9, 1e9));
            Splitting.Plan plan =
                    BY_COST.plan(costs, List.of(decode, plain), List.of(prefill), PROMPT);
            assertEquals(
                    whole > 42
                            ? new Splitting.Plan(List.of(decode), List.of(prefill), Part.DECODE)
                            : Splitting.Plan.whole(List.of(plain)),
                    plan,
                    "whole costs " + whole);
        }
    }

    @Test
    void engines_are_paired_with_their_own_kind() {
        Costs costs =
                new Costs(
                        RouterMode.KV,
                        costs(1e9, 1, 1e9),
                        costs(1e9, 1e9, 90),
                        NEVER,
                        costs(1e9, 40, 1e9),
                        costs(1e9, 1e9, 2));
        Splitting.Plan plan =
                BY_COST.plan(
                        costs,
                        List.of(decode, decodesAlone),
                        List.of(prefill, prefillsAlone),
                        PROMPT);
        assertEquals(
                new Splitting.Plan(List.of(decodesAlone), List.of(prefillsAlone), Part.DECODE),
                plan,
                "40 and 2, and not 1 and 2");
    }

    @Test
    void engines_are_paired_with_those_that_move_the_cache_in_the_same_way() {
        Candidate nixl = worker(0, EngineKind.SGLANG, Role.PREFILL, false, "nixl");
        Candidate mooncake = worker(1, EngineKind.SGLANG, Role.PREFILL, false, "mooncake");
        Candidate toNixl = worker(2, EngineKind.SGLANG, Role.DECODE, false, "nixl");
        Candidate unsaid = worker(3, EngineKind.SGLANG, Role.DECODE, false, "");
        Costs none = new Costs(RouterMode.KV);
        assertEquals(
                new Splitting.Plan(List.of(toNixl), List.of(nixl), Part.DECODE),
                BY_COST.plan(none, List.of(toNixl), List.of(nixl, mooncake), PROMPT));
        Costs costs =
                new Costs(
                        RouterMode.KV,
                        costs(1e9, 9, 1e9),
                        costs(1e9, 1, 1e9),
                        costs(1e9, 1e9, 1),
                        costs(1e9, 1e9, 5));
        assertEquals(
                new Splitting.Plan(List.of(unsaid), List.of(mooncake), Part.DECODE),
                BY_COST.plan(costs, List.of(toNixl, unsaid), List.of(nixl, mooncake), PROMPT),
                "1 and 5, not 9 and 1, and not 1 and 1");
    }

    @Test
    void who_prefills_does_all_of_it_where_that_is_cheapest() {
        Costs costs =
                new Costs(
                        RouterMode.KV, NEVER, NEVER, NEVER, costs(35, 30, 1e9), costs(80, 1e9, 10));
        List<Candidate> all = List.of(decodesAlone, prefillsAlone);
        assertEquals(
                Splitting.Plan.whole(all),
                BY_COST.plan(costs, all, List.of(prefillsAlone), PROMPT));
    }

    /** 30 + 2 to set it up + 10 = 42, and half as much for the memory of two. */
    @Test
    void a_split_between_workers_that_do_all_of_it_has_to_be_much_cheaper() {
        List<Candidate> all = List.of(decodesAlone, prefillsAlone);
        for (double whole : new double[] {62.9, 63.1}) {
            Costs costs =
                    new Costs(
                            RouterMode.KV,
                            NEVER,
                            NEVER,
                            NEVER,
                            costs(90, 30, 1e9),
                            costs(whole, 1e9, 10));
            assertEquals(
                    whole < 63 ? Part.WHOLE : Part.DECODE,
                    BY_COST.plan(costs, all, List.of(prefillsAlone), PROMPT).part(),
                    "whole costs " + whole);
        }
    }

    @Test
    void a_threshold_goes_before_the_cost() {
        Costs costs = new Costs(RouterMode.KV, NEVER, NEVER, NEVER, NEVER, costs(500, 1e9, 1e9));
        List<Candidate> all = List.of(decodesAlone);
        List<Candidate> prefills = List.of(prefillsAlone);
        Splitting above = new Splitting(TRANSFER, OptionalLong.of(500));
        Splitting below = new Splitting(TRANSFER, OptionalLong.of(501));
        assertEquals(Part.DECODE, above.plan(costs, all, prefills, PROMPT).part());
        assertEquals(Part.WHOLE, below.plan(costs, all, prefills, PROMPT).part());
    }

    /** Peers' rule: without costs the prompt of whoever decodes is always computed elsewhere. */
    @Test
    void modes_without_costs_split_what_goes_to_a_worker_that_decodes() {
        List<Candidate> all = List.of(decodesAlone, plain);
        List<Candidate> prefills = List.of(prefillsAlone);
        Cost first = costs(1, 5, 5);
        Cost last = costs(2, 5, 5);
        assertEquals(
                new Splitting.Plan(List.of(decodesAlone), prefills, Part.DECODE),
                BY_COST.plan(
                        new Costs(RouterMode.ROUND_ROBIN, NEVER, NEVER, last, NEVER, first),
                        all,
                        prefills,
                        PROMPT));
        assertEquals(
                Splitting.Plan.whole(List.of(plain)),
                BY_COST.plan(
                        new Costs(RouterMode.ROUND_ROBIN, NEVER, NEVER, first, NEVER, last),
                        all,
                        prefills,
                        PROMPT));
    }
}
