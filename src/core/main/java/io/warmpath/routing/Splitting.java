package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.routing.rates.TransferRates;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request is done whole by one worker, or its prompt by one and its answer by another.
 * Where both can be, the cheaper way is taken: the least cost of a worker that does all of it
 * against the least cost of prefill, the transfer, and the least cost of decoding. Modes that
 * compare no costs choose who answers, and a worker that decodes gets its prompt computed. Any
 * thread.
 *
 * <p>A split between workers that could do all of it has to cost {@value #ADVANTAGE} times less: it
 * keeps the prompt's blocks on both, which evicts what somebody else comes back for, and takes time
 * of two. Workers that do one part only have no other use for it.
 *
 * @param transfer from the one to the other, as it is set
 * @param rates what engines have shown of it
 * @param fromTokens prompts are split of which the best worker for the whole would have to compute
 *     so many tokens, whatever the costs; empty: by cost
 */
public record Splitting(TransferCost transfer, TransferRates rates, OptionalLong fromTokens) {
    /** Measured: {@code ./warmpath lab run conv agent chat --policies latency,pair=4}. */
    public static final double ADVANTAGE = 1.5;

    /**
     * @param candidates for {@code part}, not empty
     * @param prefills who computes the prompt; empty with {@link Part#WHOLE}
     * @param part {@link Part#WHOLE} or {@link Part#DECODE}
     * @param transfer between the two
     */
    public record Plan(
            List<Candidate> candidates,
            List<Candidate> prefills,
            Part part,
            TransferCost transfer) {
        /** By one worker. */
        public static Plan whole(List<Candidate> candidates) {
            return new Plan(candidates, List.of(), Part.WHOLE, TransferCost.NONE);
        }

        /**
         * Once it is decided who computes the prompt.
         *
         * @param prefill null: nobody beside the one that answers
         */
        public TransferCost transferFrom(@Nullable RoutingDecision prefill) {
            return prefill == null
                    ? transfer
                    : transfer.from(prefill.chosen().candidate().worker().place());
        }
    }

    /** {@code prefills}: of those of the split, who belong to a pair of least cost. */
    private record Pairs(double cost, List<Candidate> prefills) {}

    /** What a worker would cost; leaves no trace. */
    @FunctionalInterface
    public interface Asked {
        RoutingDecision dryRun(List<Candidate> candidates, Part part, TransferCost transfer);
    }

    /** The same where somebody has said already that requests are split. */
    public Splitting always() {
        return new Splitting(transfer, rates, OptionalLong.of(0));
    }

    /** The cost says who does the whole of a request, those that prefill not left out. */
    public boolean byCost() {
        return fromTokens.isEmpty();
    }

    /**
     * @param candidates not empty; who only decodes has a {@link #pair} among prefills
     * @param prefills who can compute a prompt for another worker
     * @param promptTokens 0 where they are not known
     */
    public Plan plan(
            Asked router, List<Candidate> candidates, List<Candidate> prefills, int promptTokens) {
        List<Plan> splits = splits(candidates, prefills);
        if (splits.isEmpty()) {
            return Plan.whole(candidates);
        }
        List<Candidate> alone =
                candidates.stream().filter(c -> c.worker().disaggregation().alone()).toList();
        if (alone.isEmpty() && splits.size() == 1 && splits.getFirst().transfer.isEven()) {
            return splits.getFirst();
        }
        RoutingDecision whole =
                alone.isEmpty() ? null : router.dryRun(alone, Part.WHOLE, TransferCost.NONE);
        boolean byTokens = fromTokens.isPresent();
        if (byTokens
                && whole != null
                && Math.max(0, whole.chosen().prefillTokens()) < fromTokens.getAsLong()) {
            return Plan.whole(alone);
        }
        if (!byTokens && whole != null && !whole.mode().comparesCosts()) {
            return planOf(router.dryRun(candidates, Part.WHOLE, TransferCost.NONE), splits, alone);
        }
        Plan best = splits.getFirst();
        double least = Double.POSITIVE_INFINITY;
        for (Plan split : splits) {
            Pairs pairs = pairs(router, split, promptTokens);
            double cost = pairs.cost;
            boolean otherUse = split.prefills.getFirst().worker().disaggregation().alone();
            if (whole != null && !byTokens && otherUse) {
                cost *= ADVANTAGE;
            }
            if (cost < least) {
                least = cost;
                best = new Plan(split.candidates, pairs.prefills, split.part, split.transfer);
            }
        }
        return whole != null && !byTokens && whole.chosen().cost() <= least
                ? Plan.whole(alone)
                : best;
    }

    /** Who was chosen decides, and its like. */
    private static Plan planOf(RoutingDecision chosen, List<Plan> splits, List<Candidate> alone) {
        Candidate answering = chosen.chosen().candidate();
        for (Plan split : splits) {
            if (split.candidates.contains(answering)) {
                return split;
            }
        }
        return Plan.whole(
                alone.stream()
                        .filter(c -> splits.stream().noneMatch(s -> s.candidates.contains(c)))
                        .toList());
    }

    /** One for each kind of engine, and of transfer: they understand their own kind. */
    private List<Plan> splits(List<Candidate> candidates, List<Candidate> prefills) {
        List<Plan> splits = new ArrayList<>(1);
        List<Candidate> left = prefills;
        while (!left.isEmpty()) {
            Worker first = left.getFirst().worker();
            List<Candidate> alike = left.stream().filter(c -> isLike(first, c)).toList();
            List<Candidate> to =
                    candidates.stream()
                            .filter(c -> c.worker().disaggregation().role() == Role.DECODE)
                            .filter(c -> pair(first, c.worker()))
                            .toList();
            if (!to.isEmpty()) {
                TransferCost cost = transfer.learnt(rates.together(to));
                splits.add(new Plan(to, alike, Part.DECODE, cost));
            }
            left = left.stream().filter(c -> !isLike(first, c)).toList();
        }
        return splits;
    }

    private static boolean isLike(Worker one, Candidate other) {
        Worker w = other.worker();
        return w.kind() == one.kind()
                && w.disaggregation().transfer().equals(one.disaggregation().transfer());
    }

    /** What the one computes, the other can fetch. */
    public static boolean pair(Worker one, Worker other) {
        return one.kind() == other.kind()
                && one.disaggregation().understands(other.disaggregation());
    }

    private Pairs pairs(Asked router, Plan split, int promptTokens) {
        TransferCost moving = split.transfer;
        RoutingDecision prefill = router.dryRun(split.prefills, Part.PREFILL, moving);
        RoutingDecision decode = router.dryRun(split.candidates, Part.DECODE, moving);
        CostKind kind = prefill.options().shownCost();
        double both =
                moving.ofPair(
                        kind, promptTokens, prefill.chosen().candidate().worker().blockSize());
        if (moving.isEven() || kind != CostKind.LATENCY || !prefill.mode().comparesCosts()) {
            double cost = prefill.chosen().cost() + both + decode.chosen().cost();
            return new Pairs(cost, split.prefills);
        }
        Map<Place, Double> places = new HashMap<>();
        for (Score p : prefill.scores()) {
            places.merge(p.candidate().worker().place(), p.cost(), Math::min);
        }
        Map<Place, Double> costs = new HashMap<>();
        places.forEach(
                (place, cost) -> costs.put(place, cost + both + decoding(decode, moving, place)));
        double least = costs.values().stream().min(Double::compare).orElse(0.0);
        return new Pairs(
                least,
                split.prefills.stream()
                        .filter(p -> costs.getOrDefault(p.worker().place(), least) == least)
                        .toList());
    }

    /**
     * The least cost of decoding what was computed there.
     *
     * @param decode of what was computed somewhere
     */
    private static double decoding(RoutingDecision decode, TransferCost moving, Place from) {
        TransferCost there = moving.from(from);
        double least = Double.POSITIVE_INFINITY;
        for (Score d : decode.scores()) {
            Worker to = d.candidate().worker();
            double more = there.millisPerToken(to.place()) - moving.millisPerToken(to.place());
            least = Math.min(least, d.cost() + more * moved(decode, d) / to.weight());
        }
        return least;
    }

    private static int moved(RoutingDecision decode, Score to) {
        return Math.max(0, decode.request().promptTokens() - to.cachedTokens());
    }

    /** Such a decision of who decodes is acted on. */
    public void sent(RoutingDecision decode) {
        Worker to = decode.chosen().candidate().worker();
        rates.sent(
                to.id(),
                decode.request().transfer().from().shared(to.place()),
                moved(decode, decode.chosen()));
    }
}
