package io.warmpath.lab;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * The highest throughput at which a fleet keeps its limits with one policy and one seed. Numbers
 * are rounded to six digits, as files have them.
 *
 * @param perSecond answers completed a second of the measured window; 0: the limits are broken at a
 *     hundredth of load 1, too
 * @param rate starts at rate 1 come this many times as fast
 * @param binds the limit that is broken at a rate 1.5 % higher
 * @param ttft of the percentile that the limits are about, in milliseconds
 * @param itl the same of the requests' mean time between tokens
 * @param windowSeconds the measured window
 */
public record Capacity(
        String scenario,
        String policy,
        long seed,
        Limits limits,
        double perSecond,
        double rate,
        Bound binds,
        double ttft,
        double itl,
        double windowSeconds) {
    private static final MathContext DIGITS = new MathContext(6);

    /** Which limit a little more load breaks. */
    public enum Bound {
        TTFT,
        ITL,
        BOTH
    }

    public Capacity {
        perSecond = rounded(perSecond);
        rate = rounded(rate);
        ttft = rounded(ttft);
        itl = rounded(itl);
        windowSeconds = rounded(windowSeconds);
    }

    private static double rounded(double value) {
        return new BigDecimal(value).round(DIGITS).doubleValue();
    }
}
