package io.warmpath.lab.tune;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Looks for the best point of a cube within a number of plays. One thread, used once; equal seeds
 * find equal points.
 *
 * <p>First successive halving over a Latin hypercube: every point plays the first cells, the best
 * third of them more, the best third of these all. More cells, not shorter plays: a shorter
 * workload fills less memory, and prefers other weights. Then from the best of them one dial at a
 * time, with steps that halve; costs are smooth in each weight, and what a step gains is seen in
 * pairs on the same cells, where plays differ little by chance.
 */
public final class Search {
    /** Part of the budget for the first half of the search. */
    private static final double SAMPLING = 0.6;

    private static final int KEPT = 3;
    private static final double FIRST_STEP = 0.16;
    private static final double LAST_STEP = 0.02;

    /** A step that is so much worse on the first cells is not played on the others. */
    private static final double HOPELESS = 0.02;

    /** Plays a point on a cell; what it cost, as the logarithm of a ratio to the start's. */
    public interface Game {
        double play(double[] point, int cell);
    }

    /** {@code score}: mean over all cells; the start has 0. */
    public record Found(double[] point, double score, int plays) {}

    private final int[] rungs;
    private final int budget;
    private final SplittableRandom random;
    private final Game game;
    private int plays;

    /** {@code rungs}: how many of the cells are played at each stage, ascending; the last: all. */
    public Search(int[] rungs, int budget, SplittableRandom random, Game game) {
        this.rungs = rungs.clone();
        this.budget = budget;
        this.random = random;
        this.game = game;
        if (budget < all()) {
            throw new IllegalArgumentException(
                    "a budget of " + budget + " plays is not enough for " + all() + " cells");
        }
    }

    /** A point, and what its plays have cost so far. */
    private static final class Tried {
        final double[] point;
        private final double[] scores;
        private int cells;

        Tried(double[] point, int cells) {
            this.point = point;
            this.scores = new double[cells];
        }

        /** Of the first ones. */
        double mean(int of) {
            double sum = 0;
            for (int i = 0; i < of; i++) {
                sum += scores[i];
            }
            return sum / of;
        }

        /** Of those played so far. */
        double mean() {
            return mean(cells);
        }
    }

    private int all() {
        return rungs[rungs.length - 1];
    }

    public Found run(double[] start) {
        Tried best = new Tried(start, all()); // 0 on every cell, by definition
        best.cells = all();
        for (Tried t : halving(start.length)) {
            best = t.cells == all() && t.mean() < best.mean() ? t : best;
        }
        best = refine(best);
        return new Found(best.point, best.mean(), plays);
    }

    private void play(Tried t, int cells) {
        while (t.cells < cells) {
            t.scores[t.cells] = game.play(t.point, t.cells);
            t.cells++;
            plays++;
        }
    }

    private List<Tried> halving(int dials) {
        int n = 0;
        while (cost(n + 1) <= SAMPLING * budget) {
            n++;
        }
        List<Tried> left = sample(n, dials);
        for (int rung : rungs) {
            left.forEach(t -> play(t, rung));
            left.sort(Comparator.comparingDouble(Tried::mean));
            left = rung == all() ? left : left.subList(0, kept(left.size()));
        }
        return left;
    }

    private static int kept(int of) {
        return Math.ceilDiv(of, KEPT);
    }

    /** Plays that halving takes with so many points. */
    private int cost(int points) {
        int sum = 0;
        int left = points;
        int played = 0;
        for (int rung : rungs) {
            sum += left * (rung - played);
            played = rung;
            left = kept(left);
        }
        return sum;
    }

    /** One point in each of n layers of every dial. */
    private List<Tried> sample(int n, int dials) {
        List<Tried> points = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            points.add(new Tried(new double[dials], all()));
        }
        for (int d = 0; d < dials; d++) {
            int[] layer = new int[n];
            for (int i = 0; i < n; i++) {
                int at = random.nextInt(i + 1);
                layer[i] = layer[at];
                layer[at] = i;
            }
            for (int i = 0; i < n; i++) {
                points.get(i).point[d] = (layer[i] + random.nextDouble()) / n;
            }
        }
        return points;
    }

    private Tried refine(Tried from) {
        Tried best = from;
        Set<String> known = new HashSet<>();
        known.add(Arrays.toString(best.point));
        for (double step = FIRST_STEP; step >= LAST_STEP; ) {
            boolean better = false;
            for (int d = 0; d < best.point.length; d++) {
                for (int way = -1; way <= 1; way += 2) {
                    double[] point = best.point.clone();
                    point[d] = Math.clamp(point[d] + way * step, 0, 1);
                    if (!known.add(Arrays.toString(point))) {
                        continue;
                    }
                    if (plays + all() > budget) {
                        return best;
                    }
                    Tried next = new Tried(point, all());
                    play(next, rungs[0]);
                    if (next.mean() < best.mean(rungs[0]) + HOPELESS) {
                        play(next, all());
                        better |= next.mean() < best.mean();
                        best = next.mean() < best.mean() ? next : best;
                    }
                }
            }
            step = better ? step : step / 2;
        }
        return best;
    }
}
