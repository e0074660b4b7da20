package io.warmpath.tokens.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Locale;

/** Numbers with a fixed number of digits or in another base, as Python's formats write them. */
final class NumberFormat {
    private NumberFormat() {}

    /** {@code %.Nf}. */
    static String fixed(double d, int digits) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return PyNumbers.floatText(d);
        }
        String text =
                new BigDecimal(Math.abs(d))
                        .setScale(digits, RoundingMode.HALF_EVEN)
                        .toPlainString();
        return d < 0 || 1 / d < 0 ? "-" + text : text;
    }

    /** Without prefix. */
    static String integer(BigInteger n, char type) {
        return switch (type) {
            case 'x' -> n.toString(16);
            case 'X' -> n.toString(16).toUpperCase(Locale.ROOT);
            case 'o' -> n.toString(8);
            case 'b' -> n.toString(2);
            default -> PyNumbers.integerText(PyNumbers.norm(n));
        };
    }

    /** The integer that {@code %d} prints: floats are cut off. */
    static BigInteger truncated(Object v) {
        if (v instanceof Double d) {
            if (d.isNaN() || d.isInfinite()) {
                throw TemplateException.failed("cannot convert float to integer");
            }
            return new BigDecimal(d).toBigInteger();
        }
        return PyNumbers.big(v);
    }
}
