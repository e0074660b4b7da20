package io.warmpath.lab;

import java.util.Arrays;
import java.util.List;

/** Mean and percentiles of one quantity, in milliseconds. */
public record Spread(double mean, double p50, double p90, double p95, double p99) {
    /** Those that {@link #percentile} knows. */
    public static final List<Integer> PERCENTILES = List.of(50, 90, 95, 99);

    public static Spread of(double[] values, int count) {
        if (count == 0) {
            return new Spread(0, 0, 0, 0, 0);
        }
        double[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        double sum = 0;
        for (double v : sorted) {
            sum += v;
        }
        return new Spread(
                sum / count, at(sorted, 0.5), at(sorted, 0.9), at(sorted, 0.95), at(sorted, 0.99));
    }

    /** Throws {@link IllegalArgumentException} when it is none of {@link #PERCENTILES}. */
    public double percentile(int of) {
        return switch (of) {
            case 50 -> p50;
            case 90 -> p90;
            case 95 -> p95;
            case 99 -> p99;
            default -> throw new IllegalArgumentException("percentile " + of + " is not kept");
        };
    }

    private static double at(double[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1L, Math.round(part * sorted.length))];
    }
}
