package io.warmpath.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.routing.rates.TransferRatesTest;
import io.warmpath.routing.rates.Unheard;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Whole or in two: what each way costs is said here, and the plan goes by it. */
class SplittingTest {
    private static final int PROMPT = 1000;

    /** 2 ms, and 10 for each thousand tokens that the decoding worker does not hold. */
    private static final TransferCost TRANSFER = TransferCost.of(2, 1250, 1, 0.1);

    private static final Splitting BY_COST =
            new Splitting(TRANSFER, new TransferRates(), OptionalLong.empty());

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
        public RoutingDecision dryRun(
                List<Candidate> candidates, Part part, TransferCost transfer) {
            asked.add(part);
            Candidate best = candidates.getFirst();
            for (Candidate c : candidates) {
                best = of(c, part) < of(best, part) ? c : best;
            }
            double cost = of(best, part);
            List<Score> scores = candidates.stream().map(c -> score(c, of(c, part))).toList();
            return new RoutingDecision(
                    RoutingRequest.builder(candidates, PROMPT, List.of()).part(part).build(),
                    RouterOptions.of(mode),
                    new Choice(Choice.Kind.LOWEST_COST, 0, 1, 1, cost, cost, Double.NaN, 0),
                    score(best, cost),
                    1,
                    new Scores(
                            candidates,
                            List.of(),
                            scores.stream().mapToDouble(Score::cost).toArray(),
                            null,
                            scores,
                            PotentialBlocks.ALL_NEW,
                            null,
                            null,
                            Unheard.NONE));
        }

        private static Score score(Candidate c, double cost) {
            return new Score(c, 0, 0, 0, 0, 0, 0, (int) cost, 0, 0, cost);
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

    private static Splitting.Plan split(List<Candidate> to, List<Candidate> prefills) {
        return new Splitting.Plan(to, prefills, Part.DECODE, TRANSFER);
    }

    private static Candidate in(String zone, Candidate c) {
        Worker there = c.worker().toBuilder().place(new Place("", "", zone)).build();
        return new Candidate(there, c.dpRank(), c.slot());
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
        assertEquals(split(List.of(decode), List.of(prefill)), plan);
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
                            ? split(List.of(decode), List.of(prefill))
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
                split(List.of(decodesAlone), List.of(prefillsAlone)),
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
                split(List.of(toNixl), List.of(nixl)),
                BY_COST.plan(none, List.of(toNixl), List.of(nixl, mooncake), PROMPT));
        Costs costs =
                new Costs(
                        RouterMode.KV,
                        costs(1e9, 9, 1e9),
                        costs(1e9, 1, 1e9),
                        costs(1e9, 1e9, 1),
                        costs(1e9, 1e9, 5));
        assertEquals(
                split(List.of(unsaid), List.of(mooncake)),
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
        Splitting above = new Splitting(TRANSFER, BY_COST.rates(), OptionalLong.of(500));
        Splitting below = new Splitting(TRANSFER, BY_COST.rates(), OptionalLong.of(501));
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
                split(List.of(decodesAlone), prefills),
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

    /**
     * Each thousand tokens take 10 ms from zone to zone, which the cost of who decodes has in it,
     * and 1 ms within one: 30 and 10 of the zone b are 33 in all, 25 and 10 are 37.
     */
    @Test
    void who_prefills_and_who_decodes_are_chosen_together() {
        Candidate near = in("b", worker(0, EngineKind.SGLANG, Role.PREFILL, false));
        Candidate far = in("a", worker(1, EngineKind.SGLANG, Role.PREFILL, false));
        Candidate cheap = in("b", worker(2, EngineKind.SGLANG, Role.DECODE, false));
        Candidate dear = in("a", worker(3, EngineKind.SGLANG, Role.DECODE, false));
        List<Candidate> all = List.of(cheap, dear);
        List<Candidate> prefills = List.of(near, far);
        Splitting zones =
                new Splitting(
                        TRANSFER.within(Place.Shared.ZONE, 10),
                        new TransferRates(),
                        OptionalLong.empty());
        Costs costs =
                new Costs(
                        RouterMode.KV,
                        costs(1e9, 30, 1e9),
                        costs(1e9, 25, 1e9),
                        costs(1e9, 1e9, 10),
                        costs(1e9, 1e9, 40));
        assertEquals(List.of(near), zones.plan(costs, all, prefills, PROMPT).prefills());
        assertEquals(List.of(Part.PREFILL, Part.DECODE), costs.asked, "once each");
        assertEquals(prefills, BY_COST.plan(costs, all, prefills, PROMPT).prefills());
        assertEquals(
                prefills,
                zones.plan(new Costs(RouterMode.ROUND_ROBIN, costs.costs), all, prefills, PROMPT)
                        .prefills(),
                "no costs are compared");

        Costs equal =
                new Costs(
                        RouterMode.KV,
                        costs(1e9, 30, 1e9),
                        costs(1e9, 30, 1e9),
                        costs(1e9, 1e9, 10),
                        costs(1e9, 1e9, 10));
        assertEquals(
                prefills,
                zones.plan(equal, all, prefills, PROMPT).prefills(),
                "the router's turns decide between pairs of equal cost");
    }

    /** Of another request that costs 34 whole: 33 in one zone, 42 between any two. */
    @Test
    void a_near_pair_is_worth_a_split_that_a_far_one_is_not() {
        List<Candidate> prefills = List.of(in("b", prefill));
        Splitting zones =
                new Splitting(
                        TRANSFER.within(Place.Shared.ZONE, 10),
                        BY_COST.rates(),
                        OptionalLong.empty());
        Costs costs =
                new Costs(
                        RouterMode.KV,
                        costs(1e9, 30, 1e9),
                        costs(1e9, 1e9, 10),
                        costs(34, 1e9, 1e9));
        for (String zone : List.of("a", "b", "")) {
            assertEquals(
                    zone.equals("b") ? Part.DECODE : Part.WHOLE,
                    zones.plan(costs, List.of(in(zone, decode), plain), prefills, PROMPT).part(),
                    "decodes in zone " + zone);
        }
    }

    /** Set are 1,250 bytes and 1 Gbit/s; the engines have shown 2,500 bytes and 4. */
    @Test
    void what_engines_have_shown_counts_more_than_what_is_set() {
        TransferRates rates = TransferRatesTest.shown(decode.worker().id(), 2500, 4);
        Splitting learning = new Splitting(TRANSFER, rates, OptionalLong.empty());
        TransferCost shown =
                learning.plan(new Costs(RouterMode.KV), List.of(decode), List.of(prefill), PROMPT)
                        .transfer();
        assertEquals(2500, shown.bytesPerToken(), 50);
        assertEquals(4, shown.gigabitsPerSecond(Place.UNKNOWN), 0.4);
        assertEquals(2500 * 8 / 4e6, shown.millisPerToken(Place.UNKNOWN), 0.0005);
        assertTrue(shown.isEven(), "nothing else is set for workers that are near");
        assertEquals(2, shown.setupMillis());
    }
}
