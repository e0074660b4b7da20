package io.warmpath.lab.tune;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * One number that a user can set, and the range it is searched in. Positions on it go from 0 to 1;
 * values have three significant digits, so that what is printed is what was played.
 *
 * @param key of the configuration, below {@code warmpath.router}
 * @param linear equal steps; else equal factors
 * @param mayBeZero the lowest seventh of the positions means 0
 * @param start the value it has when nobody sets it
 */
public record Dial(
        String key, double low, double high, boolean linear, boolean mayBeZero, double start) {
    private static final double ZERO = 0.15;
    private static final MathContext DIGITS = new MathContext(3);

    static Dial factors(String key, double low, double high, double start) {
        return new Dial(key, low, high, false, false, start);
    }

    static Dial orZero(String key, double low, double high, double start) {
        return new Dial(key, low, high, false, true, start);
    }

    static Dial part(String key, double start) {
        return new Dial(key, 0, 1, true, false, start);
    }

    public double value(double position) {
        double u = Math.clamp(position, 0, 1);
        if (mayBeZero) {
            if (u < ZERO) {
                return 0;
            }
            u = (u - ZERO) / (1 - ZERO);
        }
        double value = linear ? low + (high - low) * u : low * Math.pow(high / low, u);
        return new BigDecimal(value).round(DIGITS).doubleValue();
    }

    /** Where the value lies; the nearest end when it is outside. */
    public double position(double value) {
        if (mayBeZero && value == 0) {
            return 0;
        }
        double u =
                linear
                        ? (value - low) / (high - low)
                        : Math.log(value / low) / Math.log(high / low);
        u = Math.clamp(u, 0, 1);
        return mayBeZero ? ZERO + u * (1 - ZERO) : u;
    }
}
