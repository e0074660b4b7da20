package io.warmpath.lab.workload;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects requests. One thread. */
public final class WorkloadBuilder {
    private static final int[] NOBODY = {};

    private record Entry(
            int session,
            double startMillis,
            int prompt,
            int answer,
            int pauseMillis,
            int[] after,
            int[] blocks,
            int engine) {}

    private final int blockTokens;
    private final List<Entry> entries = new ArrayList<>();
    private int ids;
    private double countedFromMillis = Double.NaN;
    private double countedToMillis;
    private int atOnce;

    public WorkloadBuilder(int blockTokens) {
        this.blockTokens = blockTokens;
    }

    public int blockTokens() {
        return blockTokens;
    }

    /** New text of so many blocks. */
    Segments text(int blocks) {
        return Segments.EMPTY.plus(newIds(blocks), blocks, blockTokens);
    }

    /** A request that is a session of its own and whose beginning others may share. */
    void addAlone(double millis, Segments prefix, int own, int answer) {
        int tokens = prefix.tokens() + own;
        int blocks = (tokens + answer) / blockTokens;
        int first = newIds(Math.max(0, blocks - prefix.tokens() / blockTokens));
        add(size() + 1, millis, tokens, answer, 0, NOBODY, prefix.ids(blocks, first));
    }

    /** First of this many new ids. */
    public int newIds(int count) {
        int first = ids;
        ids = Math.addExact(ids, count);
        return first;
    }

    /** Ids up to this one are in use. */
    void usesIdsBelow(int count) {
        ids = Math.max(ids, count);
    }

    /** {@code after}: numbers of the requests that it waits for. Returns its number. */
    public int add(
            int session,
            double startMillis,
            int prompt,
            int answer,
            int pauseMillis,
            int[] after,
            int[] blocks) {
        entries.add(
                new Entry(session, startMillis, prompt, answer, pauseMillis, after, blocks, -1));
        return entries.size() - 1;
    }

    /** A request that goes where its client says. */
    void addFor(int engine, double startMillis, int prompt, int answer, int[] blocks) {
        entries.add(new Entry(size() + 1, startMillis, prompt, answer, 0, NOBODY, blocks, engine));
    }

    /**
     * Those count that the router decides on and that begin, or whose session does, in this time.
     */
    void countOnly(double fromMillis, double toMillis) {
        countedFromMillis = fromMillis;
        countedToMillis = toMillis;
    }

    void atMostAtOnce(int requests) {
        atOnce = requests;
    }

    public int size() {
        return entries.size();
    }

    public Workload build() {
        int n = entries.size();
        // Requests in the order of their start, so that arrivals are one walk.
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingDouble(i -> entries.get(i).startMillis));
        int[] place = new int[n];
        for (int i = 0; i < n; i++) {
            place[order.get(i)] = i;
        }
        double[] start = new double[n];
        int[] prompt = new int[n];
        int[] answer = new int[n];
        int[] pause = new int[n];
        int[] session = new int[n];
        int[] dependencies = new int[n];
        int[][] blocks = new int[n][];
        int[] engines = new int[n];
        boolean[] counted = new boolean[Double.isNaN(countedFromMillis) ? 0 : n];
        List<List<Integer>> waiters = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            waiters.add(List.of());
        }
        for (int i = 0; i < n; i++) {
            Entry e = entries.get(order.get(i));
            start[i] = e.startMillis;
            prompt[i] = e.prompt;
            answer[i] = e.answer;
            pause[i] = e.pauseMillis;
            session[i] = e.session;
            blocks[i] = e.blocks;
            engines[i] = e.engine;
            if (counted.length > 0) {
                counted[i] =
                        e.engine < 0
                                && e.startMillis >= countedFromMillis
                                && e.startMillis < countedToMillis;
            }
            dependencies[i] = e.after.length;
            for (int before : e.after) {
                int at = place[before];
                if (waiters.get(at).isEmpty()) {
                    waiters.set(at, new ArrayList<>(1));
                }
                waiters.get(at).add(i);
            }
        }
        int[][] dependents = new int[n][];
        for (int i = 0; i < n; i++) {
            List<Integer> list = waiters.get(i);
            dependents[i] =
                    list.isEmpty() ? NOBODY : list.stream().mapToInt(Integer::intValue).toArray();
        }
        return new Workload(
                blockTokens,
                ids,
                start,
                prompt,
                answer,
                pause,
                dependencies,
                dependents,
                blocks,
                session,
                new Workload.Special(engines, counted, atOnce));
    }
}
