package io.warmpath.lab;

import java.util.Arrays;

/** Mean and percentiles of one quantity, in milliseconds. */
public record Spread(double mean, double p50, double p90, double p99) {
    public static Spread of(double[] values, int count) {
        if (count == 0) {
            return new Spread(0, 0, 0, 0);
        }
        double[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        double sum = 0;
        for (double v : sorted) {
            sum += v;
        }
        return new Spread(sum / count, at(sorted, 0.5), at(sorted, 0.9), at(sorted, 0.99));
    }

    private static double at(double[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1L, Math.round(part * sorted.length))];
    }
}
