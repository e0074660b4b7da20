package io.warmpath.lab;

import io.warmpath.lab.workload.Workload;
import io.warmpath.routing.rates.FleetPressure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What became of each request of a run. One thread. */
final class Observed {
    /** The first quarter fills caches and is not counted. */
    private static final double WARM_UP = 0.25;

    private static final double NANOS_PER_MILLI = 1e6;
    private static final int PARTS = 60;
    private static final double LATE_MILLIS = 5000;

    private final Workload workload;
    private final int engines;
    private final double fromNanos;
    private final double toNanos;
    private final int[] engine;
    private final int[] cached;
    private final long[] sent;
    private final long[] first;
    private final long[] end;
    private final List<Pressed> pressed = new ArrayList<>();

    private record Pressed(FleetPressure by, long nanos) {}

    Observed(Workload workload, int engines, double spanMillis) {
        this.workload = workload;
        this.engines = engines;
        fromNanos = WARM_UP * spanMillis * NANOS_PER_MILLI;
        toNanos = spanMillis * NANOS_PER_MILLI;
        int n = workload.size();
        engine = new int[n];
        cached = new int[n];
        sent = new long[n];
        first = new long[n];
        end = new long[n];
    }

    void sent(int number, int to, long nanos) {
        engine[number] = to;
        sent[number] = nanos;
    }

    void firstToken(int number, int cachedTokens, long nanos) {
        first[number] = nanos;
        cached[number] = cachedTokens;
    }

    void ended(int number, long nanos) {
        end[number] = nanos;
    }

    void pressed(FleetPressure by, long nanos) {
        pressed.add(new Pressed(by, nanos));
    }

    /** Means over the second half of the arrivals' time; NaN for a policy that does not know. */
    FleetPressure pressure() {
        return new FleetPressure(
                mean(FleetPressure::prefill),
                mean(FleetPressure::decode),
                mean(FleetPressure::steps),
                mean(FleetPressure::waiting));
    }

    private double mean(ToDoubleFunction<FleetPressure> part) {
        return pressed.stream()
                .filter(p -> p.nanos() >= toNanos / 2 && p.nanos() <= toNanos)
                .mapToDouble(p -> part.applyAsDouble(p.by()))
                .average()
                .orElse(Double.NaN);
    }

    /**
     * By how many more requests waited for their first token in the last quarter of the arrivals'
     * time than in the one before, as a part of those that came in a quarter: about 0 where a fleet
     * keeps up.
     */
    double growth() {
        double half = toNanos / 2;
        double threeQuarters = 1.5 * half;
        int came = 0;
        for (int i = 0; i < workload.size(); i++) {
            came += sent[i] >= half && sent[i] < toNanos ? 1 : 0;
        }
        double more = waiting(threeQuarters, toNanos) - waiting(half, threeQuarters);
        return 2 * more / came;
    }

    /** Mean number of requests without a first token. */
    private double waiting(double from, double to) {
        double sum = 0;
        for (int i = 0; i < workload.size(); i++) {
            double since = Math.max(from, (double) sent[i]);
            double until = Math.min(to, (double) first[i]);
            sum += Math.max(0, until - since);
        }
        return sum / (to - from);
    }

    Result result(Cell cell, Limits limits) {
        int n = workload.size();
        double[] ttft = new double[n];
        double[] itl = new double[n];
        double[] whole = new double[n];
        long[] prompt = new long[engines];
        int[] requests = new int[engines];
        int counted = 0;
        int gaps = 0;
        int late = 0;
        int completed = 0;
        int good = 0;
        long prompts = 0;
        long hits = 0;
        for (int i = 0; i < n; i++) {
            completed += end[i] >= fromNanos && end[i] <= toNanos ? 1 : 0;
            if (!counts(i)) {
                continue;
            }
            ttft[counted] = ttftMillis(i);
            whole[counted] = (end[i] - sent[i]) / NANOS_PER_MILLI;
            late += ttft[counted] > LATE_MILLIS ? 1 : 0;
            double between = 0;
            if (workload.answer()[i] > 1) {
                between = (end[i] - first[i]) / NANOS_PER_MILLI / (workload.answer()[i] - 1);
                itl[gaps++] = between;
            }
            good += limits.areKept(ttft[counted++], between) ? 1 : 0;
            prompts += workload.prompt()[i];
            hits += cached[i];
            prompt[engine[i]] += workload.prompt()[i];
            requests[engine[i]]++;
        }
        double seconds = (toNanos - fromNanos) / 1e9;
        long most = 0;
        for (long p : prompt) {
            most = Math.max(most, p);
        }
        return new Result(
                cell.scenario().name(),
                cell.policy().name(),
                cell.load(),
                cell.seed(),
                counted,
                Spread.of(ttft, counted),
                Spread.of(itl, gaps),
                Spread.of(whole, counted),
                prompts == 0 ? 0 : (double) hits / prompts,
                prompts == 0 ? 1 : (double) most * engines / prompts,
                late,
                counted / seconds,
                good / seconds,
                completed / seconds,
                seconds,
                n,
                running(),
                toNanos / 1e9,
                Arrays.stream(requests).boxed().toList());
    }

    boolean counts(int i) {
        return workload.saysWhatCounts()
                ? workload.counts(i)
                : sent[i] >= fromNanos && sent[i] <= toNanos;
    }

    int engine(int i) {
        return engine[i];
    }

    int cachedTokens(int i) {
        return cached[i];
    }

    double sentMillis(int i) {
        return sent[i] / NANOS_PER_MILLI;
    }

    double ttftMillis(int i) {
        return (first[i] - sent[i]) / NANOS_PER_MILLI;
    }

    /** Mean number of requests on each engine, in equal parts of the arrivals' time. */
    private List<List<Double>> running() {
        double[][] sum = new double[engines][PARTS];
        double part = toNanos / PARTS;
        for (int i = 0; i < workload.size(); i++) {
            double from = sent[i] / part;
            double to = Math.min(PARTS, end[i] / part);
            for (int at = (int) from; at < to; at++) {
                sum[engine[i]][at] += Math.min(to, at + 1) - Math.max(from, at);
            }
        }
        List<List<Double>> all = new ArrayList<>();
        for (double[] of : sum) {
            all.add(Arrays.stream(of).boxed().toList());
        }
        return all;
    }
}
