package io.warmpath.lab.report;

/**
 * What pairs of plays with equal seeds say of a ratio: the mean of its logarithms, and half the
 * interval that holds the true one in 95 of 100 cases, by Student's t.
 *
 * @param half NaN: one pair, no spread known
 */
public record Paired(double mean, double half) {
    /** Two-sided 95 % quantiles for 1, 2, ... degrees of freedom; beyond them 2. */
    private static final double[] STUDENT = {
        12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23
    };

    /** {@code logs}: of the ratios, at least one. */
    public static Paired of(double[] logs) {
        int n = logs.length;
        double mean = 0;
        for (double l : logs) {
            mean += l / n;
        }
        double squares = 0;
        for (double l : logs) {
            squares += (l - mean) * (l - mean);
        }
        double quantile = n - 2 < STUDENT.length ? STUDENT[Math.max(0, n - 2)] : 2;
        return new Paired(mean, n < 2 ? Double.NaN : quantile * Math.sqrt(squares / (n - 1) / n));
    }

    /** It is as likely chance; also when no spread is known. */
    public boolean isWithinSpread() {
        return !(Math.abs(mean) > half);
    }

    /** Change in percent. */
    public double percent() {
        return 100 * Math.expm1(mean);
    }
}
