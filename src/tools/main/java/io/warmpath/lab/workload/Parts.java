package io.warmpath.lab.workload;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Cuts workloads into conversations, whole ones: requests that wait for each other, directly or
 * not, stay together. Stateless; O(n log n).
 */
public final class Parts {
    /** Of the conversations, in {@link #thinned}. */
    public static final double KEPT = 0.8;

    private Parts() {}

    /** The first part of the conversations by the time of their start. */
    public static Workload first(Workload w, double part) {
        return cut(w, part, true);
    }

    /** Those that {@link #first} leaves, from the moment when the first of them starts. */
    public static Workload rest(Workload w, double part) {
        return cut(w, part, false);
    }

    /**
     * A draw of {@link #KEPT} of the conversations, so that recorded workloads have a spread too.
     */
    public static Workload thinned(Workload w, long seed) {
        int[] group = groups(w);
        SplittableRandom random = new SplittableRandom(seed);
        boolean[] drawn = new boolean[w.size()];
        for (int i = 0; i < w.size(); i++) {
            drawn[i] = random.nextDouble() < KEPT;
        }
        boolean[] keep = new boolean[w.size()];
        for (int i = 0; i < w.size(); i++) {
            keep[i] = drawn[group[i]];
        }
        return only(w, keep);
    }

    private static Workload cut(Workload w, double part, boolean first) {
        int[] group = groups(w);
        double[] start = new double[w.size()];
        Arrays.fill(start, Double.POSITIVE_INFINITY);
        for (int i = 0; i < w.size(); i++) {
            if (w.dependencies()[i] == 0) {
                start[group[i]] = Math.min(start[group[i]], w.startMillis()[i]);
            }
        }
        List<Integer> roots = new ArrayList<>();
        for (int i = 0; i < w.size(); i++) {
            if (group[i] == i) {
                roots.add(i);
            }
        }
        roots.sort(Comparator.comparingDouble(i -> start[i]));
        boolean[] early = new boolean[w.size()];
        for (Integer root : roots.subList(0, (int) (part * roots.size()))) {
            early[root] = true;
        }
        boolean[] keep = new boolean[w.size()];
        for (int i = 0; i < w.size(); i++) {
            keep[i] = early[group[i]] == first;
        }
        return only(w, keep);
    }

    /** For each request one of its conversation, the same for all of these. */
    private static int[] groups(Workload w) {
        int[] parent = new int[w.size()];
        Arrays.setAll(parent, i -> i);
        for (int i = 0; i < w.size(); i++) {
            for (int next : w.dependents()[i]) {
                parent[root(parent, next)] = root(parent, i);
            }
        }
        for (int i = 0; i < w.size(); i++) {
            parent[i] = root(parent, i);
        }
        return parent;
    }

    private static int root(int[] parent, int of) {
        int at = of;
        while (parent[at] != at) {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        return at;
    }

    /** {@code keep}: whole conversations. */
    private static Workload only(Workload w, boolean[] keep) {
        WorkloadBuilder to = new WorkloadBuilder(w.blockTokens());
        to.usesIdsBelow(w.ids());
        int[] number = new int[w.size()];
        List<List<Integer>> after = new ArrayList<>();
        double first = Double.POSITIVE_INFINITY;
        int kept = 0;
        for (int i = 0; i < w.size(); i++) {
            after.add(List.of());
            number[i] = keep[i] ? kept++ : -1;
            if (keep[i] && w.dependencies()[i] == 0) {
                first = Math.min(first, w.startMillis()[i]);
            }
        }
        if (kept == 0) {
            throw new IllegalArgumentException(
                    "a workload of " + w.size() + " requests is too small to be divided");
        }
        for (int i = 0; i < w.size(); i++) {
            for (int next : w.dependents()[i]) {
                if (after.get(next).isEmpty()) {
                    after.set(next, new ArrayList<>(1));
                }
                after.get(next).add(number[i]);
            }
        }
        for (int i = 0; i < w.size(); i++) {
            if (keep[i]) {
                to.add(
                        w.session()[i],
                        Math.max(0, w.startMillis()[i] - first),
                        w.prompt()[i],
                        w.answer()[i],
                        w.pauseMillis()[i],
                        after.get(i).stream().mapToInt(Integer::intValue).toArray(),
                        w.blocks()[i]);
            }
        }
        return to.build();
    }
}
