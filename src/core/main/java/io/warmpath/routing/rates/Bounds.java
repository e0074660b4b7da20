package io.warmpath.routing.rates;

/** What a number among the router's options may be. */
public final class Bounds {
    private Bounds() {}

    /**
     * @throws IllegalArgumentException that names the option when {@code value} is not in [0,
     *     {@code max}]
     */
    public static void require(String name, double value, double max) {
        if (!(value >= 0 && value <= max)) { // also refuses NaN
            throw new IllegalArgumentException(
                    "%s is %s; it must be a finite number of at least 0%s"
                            .formatted(name, value, max == 1 ? " and at most 1" : ""));
        }
    }
}
