package io.warmpath.routing.scenario;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * What became of the requests of a run. Immutable.
 *
 * @param requests in the order in which they were sent to workers
 * @param workers at the end
 * @param idle nothing ran any more, and nothing was booked
 */
record Outcome(List<Lab.Request> requests, int workers, boolean idle) {
    Outcome only(Predicate<Lab.Request> which) {
        return new Outcome(requests.stream().filter(which).toList(), workers, idle);
    }

    Outcome sentSince(double millis) {
        return only(r -> r.sentMillis() >= millis);
    }

    /** Requests by worker. */
    int[] spread() {
        int[] count = new int[workers];
        requests.forEach(r -> count[r.worker()]++);
        return count;
    }

    int total() {
        return requests.size();
    }

    /** Part of the requests that went to this worker. */
    double share(int worker) {
        return spread()[worker] / (double) total();
    }

    /** Mean time to the first token, milliseconds, of those that came. */
    double meanFirst() {
        return Arrays.stream(firsts()).average().orElse(Double.NaN);
    }

    double p99First() {
        double[] firsts = firsts();
        Arrays.sort(firsts);
        return firsts.length == 0 ? Double.NaN : firsts[(int) (0.99 * (firsts.length - 1))];
    }

    /** Mean time to the whole answer, milliseconds, of those that came. */
    double meanAnswer() {
        return requests.stream()
                .mapToDouble(Lab.Request::answerMillis)
                .filter(Double::isFinite)
                .average()
                .orElse(Double.NaN);
    }

    /** Requests without a first token. */
    int unanswered() {
        return total() - firsts().length;
    }

    /** Prompt tokens that engines found in their caches. */
    double hitRate() {
        long cached = requests.stream().mapToLong(Lab.Request::cachedTokens).sum();
        return cached / (double) requests.stream().mapToLong(Lab.Request::promptTokens).sum();
    }

    private double[] firsts() {
        return requests.stream()
                .mapToDouble(Lab.Request::firstTokenMillis)
                .filter(Double::isFinite)
                .toArray();
    }

    /** Requests before the first one that this worker got; all of them when it got none. */
    int before(int worker) {
        return IntStream.range(0, requests.size())
                .filter(i -> requests.get(i).worker() == worker)
                .findFirst()
                .orElse(requests.size());
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s, first token %.0f ms (p99 %.0f), hits %.0f %%%s",
                Arrays.toString(spread()),
                meanFirst(),
                p99First(),
                100 * hitRate(),
                unanswered() == 0 ? "" : ", " + unanswered() + " unanswered");
    }
}
