package io.warmpath.tokens.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/**
 * Python's numbers: integers of any size (Long, or BigInteger where a long is too small), floats
 * (Double), and booleans as 0 and 1.
 */
final class PyNumbers {
    /** Longer integers have no text in Python either (4300 digits). */
    private static final BigInteger TEXT_LIMIT = BigInteger.TEN.pow(4300);

    private static final int MAX_BITS = 1 << 16;

    private PyNumbers() {}

    static Object norm(BigInteger n) {
        return n.bitLength() < 64 ? (Object) n.longValue() : n;
    }

    /** A float that is a whole number as that integer, because both are the same dict key. */
    static Object integral(Double d) {
        if (d.isNaN() || d.isInfinite() || d != Math.rint(d)) {
            return d;
        }
        return norm(new BigDecimal(d).toBigInteger());
    }

    static boolean isNumber(Object v) {
        return v instanceof Long
                || v instanceof Double
                || v instanceof Boolean
                || v instanceof BigInteger;
    }

    /** Booleans as integers; null when it is no integer. */
    static @Nullable Object integer(Object v) {
        return switch (v) {
            case Long n -> n;
            case BigInteger n -> n;
            case Boolean b -> b ? 1L : 0L;
            default -> null;
        };
    }

    static BigInteger big(Object v) {
        return v instanceof BigInteger n ? n : BigInteger.valueOf(asLong(v));
    }

    private static long asLong(Object v) {
        return v instanceof Boolean b ? (b ? 1 : 0) : (Long) v;
    }

    static double toDouble(Object v) {
        double d =
                switch (v) {
                    case Double x -> x;
                    case BigInteger n -> n.doubleValue();
                    default -> asLong(v);
                };
        if (Double.isInfinite(d) && !(v instanceof Double)) {
            throw TemplateException.failed("int too large to convert to float");
        }
        return d;
    }

    /** The result, or null when the operands are no numbers. */
    static @Nullable Object binary(String op, Object a, Object b) {
        if (!isNumber(a) || !isNumber(b)) {
            return null;
        }
        return a instanceof Double || b instanceof Double
                ? floats(op, toDouble(a), toDouble(b))
                : integers(op, a, b);
    }

    private static Object integers(String op, Object a, Object b) {
        if (!(a instanceof BigInteger) && !(b instanceof BigInteger)) {
            long x = asLong(a);
            long y = asLong(b);
            long r;
            switch (op) {
                case "+" -> {
                    r = x + y;
                    if (((x ^ r) & (y ^ r)) >= 0) {
                        return r;
                    }
                }
                case "-" -> {
                    r = x - y;
                    if (((x ^ y) & (x ^ r)) >= 0) {
                        return r;
                    }
                }
                case "%" -> {
                    if (y != 0) {
                        return Math.floorMod(x, y);
                    }
                }
                default -> {}
            }
        }
        BigInteger x = big(a);
        BigInteger y = big(b);
        return switch (op) {
            case "+" -> norm(x.add(y));
            case "-" -> norm(x.subtract(y));
            case "*" -> {
                limit((long) x.bitLength() + y.bitLength());
                yield norm(x.multiply(y));
            }
            case "/" -> trueDivision(x, y);
            case "//" -> norm(floorDivision(x, y));
            case "%" -> norm(x.subtract(floorDivision(x, y).multiply(y)));
            case "**" -> power(x, y);
            default -> throw new IllegalStateException(op);
        };
    }

    private static void limit(long bits) {
        if (bits > MAX_BITS) {
            throw TemplateException.unsupported("an integer of over " + MAX_BITS + " bits");
        }
    }

    private static BigInteger floorDivision(BigInteger x, BigInteger y) {
        if (y.signum() == 0) {
            throw TemplateException.failed("integer division or modulo by zero");
        }
        BigInteger[] qr = x.divideAndRemainder(y);
        boolean down = qr[1].signum() != 0 && qr[1].signum() != y.signum();
        return down ? qr[0].subtract(BigInteger.ONE) : qr[0];
    }

    private static Object trueDivision(BigInteger x, BigInteger y) {
        if (y.signum() == 0) {
            throw TemplateException.failed("division by zero");
        }
        if (x.bitLength() <= 53 && y.bitLength() <= 53) {
            return x.doubleValue() / y.doubleValue();
        }
        // Enough digits, and a sticky one, that rounding once more to a double is exact.
        MathContext digits = new MathContext(800, RoundingMode.DOWN);
        BigDecimal q = new BigDecimal(x).divide(new BigDecimal(y), digits);
        if (q.multiply(new BigDecimal(y)).compareTo(new BigDecimal(x)) != 0) {
            BigDecimal sticky = BigDecimal.valueOf(q.signum()).movePointLeft(q.scale() + 1);
            q = q.add(sticky);
        }
        double d = q.doubleValue();
        if (Double.isInfinite(d)) {
            throw TemplateException.failed("integer division result too large for a float");
        }
        return d;
    }

    private static Object power(BigInteger x, BigInteger y) {
        if (y.signum() < 0) {
            return floatPower(toDouble(norm(x)), toDouble(norm(y)));
        }
        if (x.bitLength() <= 1 && x.abs().compareTo(BigInteger.ONE) <= 0) { // -1, 0, 1
            boolean odd = y.testBit(0);
            return norm(y.signum() == 0 ? BigInteger.ONE : odd ? x : x.multiply(x));
        }
        limit(y.bitLength() > 30 ? Long.MAX_VALUE : x.bitLength() * y.longValue());
        return norm(x.pow(y.intValue()));
    }

    private static Object floats(String op, double x, double y) {
        return switch (op) {
            case "+" -> x + y;
            case "-" -> x - y;
            case "*" -> x * y;
            case "/" -> {
                if (y == 0) {
                    throw TemplateException.failed("float division by zero");
                }
                yield x / y;
            }
            case "//" -> floorDivided(x, y);
            case "%" -> modulo(x, y);
            case "**" -> floatPower(x, y);
            default -> throw new IllegalStateException(op);
        };
    }

    private static double modulo(double x, double y) {
        if (y == 0) {
            throw TemplateException.failed("float modulo");
        }
        double mod = x % y;
        if (mod == 0) {
            return Math.copySign(0.0, y);
        }
        return (y < 0) != (mod < 0) ? mod + y : mod;
    }

    private static double floorDivided(double x, double y) {
        if (y == 0) {
            throw TemplateException.failed("float divmod()");
        }
        double mod = x % y;
        double div = (x - mod) / y;
        if (mod != 0 && (y < 0) != (mod < 0)) {
            div -= 1.0;
        }
        if (div == 0) {
            return Math.copySign(0.0, x / y);
        }
        double floor = Math.floor(div);
        return div - floor > 0.5 ? floor + 1.0 : floor;
    }

    private static Object floatPower(double x, double y) {
        if (x == 0 && y < 0) {
            throw TemplateException.failed("0.0 cannot be raised to a negative power");
        }
        if (x == 1 || y == 0) {
            return 1.0;
        }
        if (x == -1 && Double.isInfinite(y)) {
            return 1.0;
        }
        if (x < 0 && !Double.isInfinite(x) && !Double.isInfinite(y) && y != Math.rint(y)) {
            throw TemplateException.unsupported("a complex number");
        }
        double r = Math.pow(x, y);
        if (Double.isInfinite(r) && !Double.isInfinite(x) && !Double.isInfinite(y)) {
            throw TemplateException.failed("Numerical result out of range");
        }
        return r;
    }

    static Object negated(Object v) {
        return switch (v) {
            case Double d -> -d;
            case Long n when n != Long.MIN_VALUE -> -n;
            default -> norm(big(v).negate());
        };
    }

    /** Exact, also between integers and floats. NaN is neither less nor greater nor equal: 2. */
    static int compare(Object a, Object b) {
        if (a instanceof Long x && b instanceof Long y) {
            return Long.compare(x, y);
        }
        if (a instanceof Double x && b instanceof Double y) {
            return x.isNaN() || y.isNaN() ? 2 : x < y ? -1 : x > y ? 1 : 0;
        }
        if (a instanceof Double x) {
            return mixed(x, big(b));
        }
        if (b instanceof Double y) {
            int reversed = mixed(y, big(a));
            return reversed == 2 ? 2 : -reversed;
        }
        return big(a).compareTo(big(b));
    }

    private static int mixed(Double d, BigInteger n) {
        if (d.isNaN()) {
            return 2;
        }
        if (d.isInfinite()) {
            return d > 0 ? 1 : -1;
        }
        return new BigDecimal(d).compareTo(new BigDecimal(n));
    }

    static String integerText(Object integer) {
        if (integer instanceof BigInteger n && n.abs().compareTo(TEXT_LIMIT) >= 0) {
            throw TemplateException.failed(
                    "Exceeds the limit (4300 digits) for integer string conversion");
        }
        return integer.toString();
    }

    /** As Python's repr: the shortest digits that give the same float. */
    static String floatText(double d) {
        if (Double.isNaN(d)) {
            return "nan";
        }
        if (Double.isInfinite(d)) {
            return d > 0 ? "inf" : "-inf";
        }
        if (d == 0) {
            return 1 / d < 0 ? "-0.0" : "0.0";
        }
        BigDecimal shortest = new BigDecimal(Double.toString(Math.abs(d))).stripTrailingZeros();
        if (shortest.precision() == 2) { // Java gives two digits where one would do
            BigDecimal one = shortest.round(new MathContext(1, RoundingMode.HALF_EVEN));
            if (one.doubleValue() == Math.abs(d)) {
                shortest = one.stripTrailingZeros();
            }
        }
        String digits = shortest.unscaledValue().toString();
        int exponent = digits.length() - shortest.scale() - 1;
        StringBuilder out = new StringBuilder(d < 0 ? "-" : "");
        if (exponent < -4 || exponent >= 16) {
            out.append(digits.charAt(0));
            if (digits.length() > 1) {
                out.append('.').append(digits, 1, digits.length());
            }
            out.append(exponent < 0 ? "e-" : "e+");
            String e = Integer.toString(Math.abs(exponent));
            return out.append(e.length() < 2 ? "0" : "").append(e).toString();
        }
        String plain = shortest.toPlainString();
        return out.append(plain).append(plain.indexOf('.') < 0 ? ".0" : "").toString();
    }

    /** Python's round(): half to even on the exact value. */
    static Object round(Object value, int digits) {
        if (value instanceof Double d) {
            if (d.isNaN() || d.isInfinite() || digits > 323) {
                return d;
            }
            if (digits < -308) {
                return d * 0.0;
            }
            double r = new BigDecimal(d).setScale(digits, RoundingMode.HALF_EVEN).doubleValue();
            if (Double.isInfinite(r)) {
                throw TemplateException.failed("rounded value too large to represent");
            }
            return r == 0 ? Math.copySign(0.0, d) : r;
        }
        BigInteger n = big(value);
        if (digits >= 0) {
            return norm(n);
        }
        if (digits < -5000) {
            return 0L;
        }
        return norm(new BigDecimal(n).setScale(digits, RoundingMode.HALF_EVEN).toBigIntegerExact());
    }
}
