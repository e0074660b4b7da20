package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.routing.Choice;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scores;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Chooses among costs: the lowest, or by chance the better the likelier. Any thread. */
final class Picker {
    private final Supplier<? extends RandomGenerator> random;
    private final LastServed lastServed;
    private final LastTurns lastTurns = new LastTurns();

    Picker(Supplier<? extends RandomGenerator> random, LastServed lastServed) {
        this.random = random;
        this.lastServed = lastServed;
    }

    Choice pick(
            Scores scores, List<Candidate> candidates, RoutingRequest request, double temperature) {
        if (scores.size() == 1) {
            return Choice.only();
        }
        return temperature == 0 ? lowest(scores, candidates, request) : sample(scores, temperature);
    }

    private Choice lowest(Scores scores, List<Candidate> candidates, RoutingRequest request) {
        int best = 0;
        int ties = 0;
        int count = scores.size();
        double lowest = scores.cost(0);
        for (int i = 0; i < count; i++) {
            double cost = scores.cost(i);
            if (cost < lowest) {
                best = i;
                lowest = cost;
                ties = 1;
            } else if (cost == lowest) {
                ties++;
            }
        }
        double cost = lowest;
        if (ties == 1) {
            return new Choice(Choice.Kind.LOWEST_COST, best, count, 1, cost, cost, Double.NaN, 0);
        }
        int last = lastServed.find(request, candidates, i -> scores.cost(i) == cost);
        if (last >= 0) {
            return new Choice(
                    Choice.Kind.SERVED_LAST, last, count, ties, cost, cost, Double.NaN, 0);
        }
        IntPredicate tied = i -> scores.cost(i) == cost;
        double drawn = random.get().nextDouble();
        int chosen = -1;
        if (alike(candidates, tied)) {
            chosen =
                    scores.unheard().gateways() > 1
                            ? firstFrom(scores.unheard().first(count), count, tied)
                            : earliestTurn(candidates, tied, drawn);
        }
        if (chosen < 0) { // also where all of these have had another turn meanwhile
            chosen = WeightedDraw.draw(candidates, tied, drawn);
        }
        return new Choice(Choice.Kind.TIE_DRAWN, chosen, count, ties, cost, cost, drawn, 0);
    }

    /** By chance where several had none; negative when all have had another turn meanwhile. */
    private int earliestTurn(List<Candidate> candidates, IntPredicate tied, double drawn) {
        long earliest = lastTurns.earliest(candidates, tied);
        return WeightedDraw.draw(
                candidates,
                i -> tied.test(i) && lastTurns.of(candidates.get(i)) == earliest,
                drawn);
    }

    /** The next one in the order of the candidates, from this one on. */
    private static int firstFrom(int start, int count, IntPredicate tied) {
        int i = start;
        while (!tied.test(i)) {
            i = (i + 1) % count;
        }
        return i;
    }

    /** The request goes there. */
    void taken(Candidate candidate) {
        lastTurns.taken(candidate);
    }

    /** Turns are equal; workers of different weights are to get more or fewer. */
    private static boolean alike(List<Candidate> candidates, IntPredicate tied) {
        double weight = -1;
        for (int i = 0; i < candidates.size(); i++) {
            if (tied.test(i)) {
                double own = candidates.get(i).worker().weight();
                if (weight >= 0 && own != weight) {
                    return false;
                }
                weight = own;
            }
        }
        return true;
    }

    /** {@code p ~ exp(-(cost - min) / ((max - min) * temperature))}; all equal: uniform. */
    private Choice sample(Scores scores, double temperature) {
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        int ties = 0;
        for (int i = 0; i < scores.size(); i++) {
            double cost = scores.cost(i);
            ties = cost < min ? 1 : cost == min ? ties + 1 : ties;
            min = Math.min(min, cost);
            max = Math.max(max, cost);
        }
        double[] cumulative = new double[scores.size()];
        double sum = 0;
        for (int i = 0; i < cumulative.length; i++) {
            double normalised = max == min ? 0 : (scores.cost(i) - min) / (max - min);
            // 0 / tiny is 0 and 1 / tiny may be infinite, whose exp(-x) is 0: never NaN.
            sum += Math.exp(-normalised / temperature);
            cumulative[i] = sum;
        }
        double drawn = random.get().nextDouble();
        int chosen = 0;
        while (chosen < cumulative.length - 1 && cumulative[chosen] <= drawn * sum) {
            chosen++;
        }
        return new Choice(
                Choice.Kind.SAMPLED,
                chosen,
                scores.size(),
                ties,
                min,
                scores.cost(chosen),
                drawn,
                temperature);
    }
}
