package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The candidate with the fewest running requests: of all ({@code least-loaded}), or of two that are
 * drawn ({@code power-of-two}), which needs no look at the others and does not make every gateway
 * pick the same one. Equals are decided by lot. Any thread.
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
                        : mode == RouterMode.POWER_OF_TWO ? ofTwo(candidates) : ofAll(candidates);
        return scorer.decision(request, candidates, scorer.effective(request), choice, null);
    }

    private Choice ofTwo(List<Candidate> candidates) {
        RandomGenerator r = random.get();
        int count = candidates.size();
        int first = r.nextInt(count);
        int second = (first + 1 + r.nextInt(count - 1)) % count;
        int a = scorer.requests(candidates.get(first));
        int b = scorer.requests(candidates.get(second));
        // The first is any of the two already, so that equals are decided by lot.
        int chosen = a <= b ? first : second;
        return new Choice(
                Choice.Kind.FEWER_OF_TWO,
                chosen,
                count,
                a == b ? 2 : 1,
                Math.min(a, b),
                Math.min(a, b),
                (double) first / count,
                0);
    }

    private Choice ofAll(List<Candidate> candidates) {
        RandomGenerator r = random.get();
        int chosen = 0;
        int best = scorer.requests(candidates.getFirst());
        int ties = 1;
        for (int i = 1; i < candidates.size(); i++) {
            int requests = scorer.requests(candidates.get(i));
            if (requests < best) {
                chosen = i;
                best = requests;
                ties = 1;
            } else if (requests == best && r.nextInt(++ties) == 0) { // reservoir of one
                chosen = i;
            }
        }
        return new Choice(
                Choice.Kind.FEWEST_REQUESTS,
                chosen,
                candidates.size(),
                ties,
                best,
                best,
                Double.NaN,
                0);
    }

    @Override
    public RouterMode mode() {
        return mode;
    }
}
