package io.warmpath.gateway.flow;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Worker;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.Scores;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Who is to get a request that its worker fails, where the retry is somebody else's: those of the
 * next lowest costs, as they were when it was decided. The request is sent to them as it was
 * written for the first, so that only workers of its kind, with as many ranks, are among them.
 * Stateless.
 */
final class Fallbacks {
    private Fallbacks() {}

    /**
     * @param most how many, at most; from 1
     * @return without the chosen one; in the order of the candidates where costs were not compared
     */
    static List<URI> of(RoutingDecision decision, int most) {
        Worker chosen = decision.chosen().candidate().worker();
        Set<URI> others = new LinkedHashSet<>();
        for (Candidate c : byCost(decision)) {
            Worker w = c.worker();
            if (others.size() < most
                    && w.id() != chosen.id()
                    && w.kind() == chosen.kind()
                    && w.ranks().size() == chosen.ranks().size()) {
                others.add(w.url());
            }
        }
        return List.copyOf(others);
    }

    private static List<Candidate> byCost(RoutingDecision decision) {
        Scores costs = decision.compared();
        if (costs.size() == 0) {
            return decision.request().candidates();
        }
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < costs.size(); i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingDouble(costs::cost));
        return order.stream().map(costs::candidate).toList();
    }
}
