package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.routing.Choice;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The candidate with the fewest running requests for its weight, this one counted: of all ({@code
 * least-loaded}), or of two that are drawn by their weights ({@code power-of-two}), which needs no
 * look at the others' load and does not make every gateway pick the same one. Equals are decided at
 * random. Any thread.
 */
final class RequestCountRouter implements Router {
    private final RouterMode mode;
    private final Scorer scorer;
    private final Supplier<? extends RandomGenerator> random;

    RequestCountRouter(RouterMode mode, Scorer scorer, Supplier<? extends RandomGenerator> random) {
        this.mode = mode;
        this.scorer = scorer;
        this.random = random;
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = scorer.eligible(request);
        Choice choice =
                candidates.size() == 1
                        ? Choice.only()
                        : mode == RouterMode.POWER_OF_TWO
                                ? ofTwo(candidates, scorer.weighted(request))
                                : ofAll(candidates);
        return scorer.decision(request, candidates, scorer.effective(request), choice, null);
    }

    private Choice ofTwo(List<Candidate> candidates, boolean weighted) {
        RandomGenerator r = random.get();
        int count = candidates.size();
        int first;
        int second;
        if (weighted) {
            first = WeightedDraw.draw(candidates, r.nextDouble());
            int without = first;
            second = WeightedDraw.draw(candidates, i -> i != without, r.nextDouble());
        } else {
            first = r.nextInt(count);
            second = (first + 1 + r.nextInt(count - 1)) % count;
        }
        double a = share(candidates.get(first));
        double b = share(candidates.get(second));
        // The first is any of the two already, so that equals are decided at random.
        int chosen = a <= b ? first : second;
        int requests = scorer.requests(candidates.get(chosen));
        return new Choice(
                Choice.Kind.FEWER_OF_TWO,
                chosen,
                count,
                a == b ? 2 : 1,
                requests,
                requests,
                (double) first / count,
                0,
                forItsWeight(candidates.get(chosen)));
    }

    /** With this request, how much of what the candidate can carry: the larger, the busier. */
    private double share(Candidate candidate) {
        return (scorer.requests(candidate) + 1) / candidate.worker().weight();
    }

    private static String forItsWeight(Candidate candidate) {
        double weight = candidate.worker().weight();
        return weight == 1 ? "" : " for its weight " + weight;
    }

    private Choice ofAll(List<Candidate> candidates) {
        RandomGenerator r = random.get();
        int chosen = 0;
        double best = share(candidates.getFirst());
        int ties = 1;
        for (int i = 1; i < candidates.size(); i++) {
            double share = share(candidates.get(i));
            if (share < best) {
                chosen = i;
                best = share;
                ties = 1;
            } else if (share == best && r.nextInt(++ties) == 0) { // reservoir of one
                chosen = i;
            }
        }
        int requests = scorer.requests(candidates.get(chosen));
        return new Choice(
                Choice.Kind.FEWEST_REQUESTS,
                chosen,
                candidates.size(),
                ties,
                requests,
                requests,
                Double.NaN,
                0,
                forItsWeight(candidates.get(chosen)));
    }

    @Override
    public RouterMode mode() {
        return mode;
    }
}
