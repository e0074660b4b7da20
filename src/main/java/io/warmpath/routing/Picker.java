package io.warmpath.routing;

import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Chooses among costs: the lowest, or by chance the better the likelier. Any thread. */
final class Picker {
    private final double temperature;
    private final Supplier<? extends RandomGenerator> random;

    Picker(double temperature, Supplier<? extends RandomGenerator> random) {
        this.temperature = temperature;
        this.random = random;
    }

    /** What was picked, and in words why. */
    record Pick(Score score, String why) {}

    Pick pick(List<Score> scores) {
        if (scores.size() == 1) {
            return new Pick(scores.getFirst(), "only candidate");
        }
        return temperature == 0 ? lowest(scores) : sample(scores);
    }

    /** Exact ties are decided by lot, each with the same chance, in one pass. */
    private Pick lowest(List<Score> scores) {
        Score best = scores.getFirst();
        int ties = 1;
        for (int i = 1; i < scores.size(); i++) {
            Score score = scores.get(i);
            if (score.cost() < best.cost()) {
                best = score;
                ties = 1;
            } else if (score.cost() == best.cost()
                    && random.get().nextInt(++ties) == 0) { // reservoir of one
                best = score;
            }
        }
        String lead = ties == 1 ? "lowest cost " : "one of " + ties + " with the lowest cost ";
        return new Pick(best, lead + oneDecimal(best.cost()) + " of " + scores.size());
    }

    /** {@code p ~ exp(-(cost - min) / ((max - min) * temperature))}; all equal: uniform. */
    private Pick sample(List<Score> scores) {
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (Score score : scores) {
            min = Math.min(min, score.cost());
            max = Math.max(max, score.cost());
        }
        double[] cumulative = new double[scores.size()];
        double sum = 0;
        for (int i = 0; i < cumulative.length; i++) {
            double normalised = max == min ? 0 : (scores.get(i).cost() - min) / (max - min);
            // 0 / tiny is 0 and 1 / tiny may be infinite, whose exp(-x) is 0: never NaN.
            sum += Math.exp(-normalised / temperature);
            cumulative[i] = sum;
        }
        double drawn = random.get().nextDouble() * sum;
        int chosen = 0;
        while (chosen < cumulative.length - 1 && cumulative[chosen] <= drawn) {
            chosen++;
        }
        Score score = scores.get(chosen);
        return new Pick(
                score,
                "sampled at temperature "
                        + temperature
                        + ", cost "
                        + oneDecimal(score.cost())
                        + " where the lowest of "
                        + scores.size()
                        + " is "
                        + oneDecimal(min));
    }

    static double oneDecimal(double value) {
        return Math.abs(value) < 1e15 ? Math.round(value * 10) / 10.0 : value;
    }
}
