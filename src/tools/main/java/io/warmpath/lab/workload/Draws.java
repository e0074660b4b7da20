package io.warmpath.lab.workload;

import java.util.SplittableRandom;

/**
 * Random lengths and choices of the drawn scenarios. One thread; equal seeds, equal draws, on every
 * machine.
 */
final class Draws {
    final SplittableRandom random;

    Draws(long seed) {
        random = new SplittableRandom(seed * 7919 + 17);
    }

    double exponential(double mean) {
        return random.nextExponential() * mean;
    }

    /** Log-normal with this mean and coefficient of variation, cut to {@code least..most}. */
    int length(double mean, double variation, int least, int most) {
        if (mean <= 0) {
            return least;
        }
        double s2 = StrictMath.log(1 + variation * variation);
        double x =
                StrictMath.exp(
                        StrictMath.log(mean) - s2 / 2 + Math.sqrt(s2) * random.nextGaussian());
        return (int) Math.min(most, Math.max(least, x));
    }

    /** Chooses among {@code n}, the i-th with weight {@code 1 / (i + 1)^exponent}. */
    static final class Zipf {
        private final double[] cumulative;

        Zipf(int n, double exponent) {
            cumulative = new double[n];
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += StrictMath.pow(i + 1.0, -exponent);
                cumulative[i] = sum;
            }
        }

        int draw(SplittableRandom random) {
            double x = random.nextDouble() * cumulative[cumulative.length - 1];
            int at = java.util.Arrays.binarySearch(cumulative, x);
            return Math.min(cumulative.length - 1, at < 0 ? -at - 1 : at + 1);
        }
    }
}
