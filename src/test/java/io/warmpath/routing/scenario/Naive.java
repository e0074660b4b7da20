package io.warmpath.routing.scenario;

import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Score;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/** The rules that the complaints are about, as controls. Of equals all of them take the first. */
final class Naive {
    /** Our costs, but no lot. */
    static final Setting FIRST_OF_EQUALS =
            Setting.naive(
                    "first of equal costs",
                    (request, lab) -> {
                        List<Score> scores = lab.explained(request).scores();
                        return lowest(request, i -> scores.get(i).cost());
                    });

    /** Load is what has begun to answer. */
    static final Setting COUNTED_AT_FIRST_TOKEN =
            Setting.naive(
                    "least loaded, counted from the first token",
                    (request, lab) -> lowest(request, lab::answering));

    /** Whoever holds most, however busy. */
    static final Setting LONGEST_PREFIX =
            Setting.naive(
                    "longest prefix", (request, lab) -> lowest(request, i -> -depth(request, i)));

    /** The prefix, unless loads differ: then the shortest queue, whatever it holds. */
    static final Setting DROPS_AFFINITY =
            Setting.naive(
                    "longest prefix, when imbalanced shortest queue",
                    (request, lab) -> {
                        int most = 0;
                        int least = Integer.MAX_VALUE;
                        for (int i = 0; i < request.candidates().size(); i++) {
                            most = Math.max(most, lab.running(i));
                            least = Math.min(least, lab.running(i));
                        }
                        boolean imbalanced = most - least > 32 && most > 1.1 * least;
                        Rule.Pick longest = lowest(request, i -> -depth(request, i));
                        boolean hit =
                                2 * depth(request, longest.worker()) * Prompt.BLOCK
                                        > request.promptTokens();
                        return !imbalanced && hit ? longest : lowest(request, lab::running);
                    });

    /** Whoever was given least text so far gets what nobody holds. */
    static final Setting SMALLEST_TREE =
            Setting.naive(
                    "longest prefix, misses to the smallest cache",
                    (request, lab) -> {
                        Rule.Pick longest = lowest(request, i -> -depth(request, i));
                        boolean hit =
                                2 * depth(request, longest.worker()) * Prompt.BLOCK
                                        > request.promptTokens();
                        return hit ? longest : lowest(request, i -> lab.engine(i).blocksHeld());
                    });

    private Naive() {}

    private static int depth(RoutingRequest request, int worker) {
        return Lab.depth(request.matches(), request.candidates().get(worker));
    }

    private static Rule.Pick lowest(RoutingRequest request, IntToDoubleFunction cost) {
        int best = 0;
        for (int i = 1; i < request.candidates().size(); i++) {
            best = cost.applyAsDouble(i) < cost.applyAsDouble(best) ? i : best;
        }
        return new Rule.Pick(best);
    }
}
