package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Python's operators. */
final class Ops {
    private Ops() {}

    static Object binary(String op, Object a, Object b, Run run) {
        if (op.equals("+")) {
            return add(a, b, run);
        }
        bigNumbers(a, b, run);
        Object number = PyNumbers.binary(op, a, b);
        if (number != null) {
            return number;
        }
        if (op.equals("%") && Values.string(a) != null) {
            return PercentFormat.format(a, b, run);
        }
        undefined(a, b);
        if (op.equals("*")) {
            Object repeated = repeat(a, b, run);
            repeated = repeated == null ? repeat(b, a, run) : repeated;
            if (repeated != null) {
                return repeated;
            }
        }
        throw noOperator(op, a, b);
    }

    static Object add(Object a, Object b, Run run) {
        if (a instanceof String x && b instanceof String y) {
            run.make((long) x.length() + y.length());
            return x.concat(y);
        }
        Object number = PyNumbers.binary("+", a, b);
        if (number != null) {
            return number;
        }
        undefined(a, b);
        if (Values.string(a) != null && Values.string(b) != null) {
            // One of them is marked as safe, and the other is escaped.
            String joined = Markup.escaped(a).text() + Markup.escaped(b).text();
            return new Markup(run.made(joined));
        }
        if (a instanceof List<?> x && b instanceof List<?> y) {
            return joined(x, y, run);
        }
        if (a instanceof PyTuple x && b instanceof PyTuple y) {
            return new PyTuple(joined(x.items(), y.items(), run));
        }
        if (Values.string(a) != null) {
            throw TemplateException.failed(
                    "can only concatenate str (not \"" + Values.typeName(b) + "\") to str");
        }
        throw noOperator("+", a, b);
    }

    private static List<Object> joined(List<?> x, List<?> y, Run run) {
        run.make(8L * (x.size() + y.size()));
        List<Object> all = new ArrayList<>(x.size() + y.size());
        all.addAll(x);
        all.addAll(y);
        return all;
    }

    /** Arithmetic on long integers costs more than a step. */
    private static void bigNumbers(Object a, Object b, Run run) {
        long bits = a instanceof BigInteger n ? n.bitLength() : 0;
        bits += b instanceof BigInteger n ? n.bitLength() : 0;
        if (bits > 0) {
            run.scan(bits * 8);
        }
    }

    private static void undefined(Object a, Object b) {
        if (a instanceof Undefined u) {
            throw u.fails();
        }
        if (b instanceof Undefined u) {
            throw u.fails();
        }
    }

    private static @Nullable Object repeat(Object sequence, Object times, Run run) {
        Object count = PyNumbers.integer(times);
        if (count == null) {
            return null;
        }
        // More than an int is too much, whatever it is.
        long n =
                count instanceof Long l
                        ? Math.clamp(l, 0, Integer.MAX_VALUE)
                        : PyNumbers.big(count).signum() > 0 ? Integer.MAX_VALUE : 0;
        return switch (sequence) {
            case String s -> repeated(s, n, run);
            case Markup m -> new Markup(repeated(m.text(), n, run));
            case List<?> list -> repeated(list, n, run);
            case PyTuple t -> new PyTuple(repeated(t.items(), n, run));
            default -> null;
        };
    }

    private static String repeated(String s, long n, Run run) {
        run.make(s.length() * n);
        return s.repeat((int) n);
    }

    private static List<Object> repeated(List<?> list, long n, Run run) {
        run.make(8L * list.size() * n);
        List<Object> all = new ArrayList<>();
        for (long i = 0; i < n && !list.isEmpty(); i++) {
            all.addAll(list);
        }
        return all;
    }

    static Object sign(String op, Object v) {
        if (v instanceof Undefined u) {
            throw u.fails();
        }
        if (!PyNumbers.isNumber(v)) {
            throw TemplateException.failed(
                    "bad operand type for unary " + op + ": '" + Values.typeName(v) + "'");
        }
        if (op.equals("-")) {
            return PyNumbers.negated(v);
        }
        Object integer = PyNumbers.integer(v);
        return integer == null ? v : integer;
    }

    static boolean compare(String op, Object a, Object b, Run run) {
        return switch (op) {
            case "==" -> Values.equal(a, b, run);
            case "!=" -> !Values.equal(a, b, run);
            case "in" -> Values.contains(b, a, run);
            case "not in" -> !Values.contains(b, a, run);
            default -> Values.ordered(op, a, b, run);
        };
    }

    private static TemplateException noOperator(String op, Object a, Object b) {
        return TemplateException.failed(
                "unsupported operand type(s) for %s: '%s' and '%s'"
                        .formatted(op, Values.typeName(a), Values.typeName(b)));
    }

    /** {@code of[key]} as Python does it, without Jinja's ways round a failure. */
    static @Nullable Object item(Object of, Object key, Run run) {
        switch (of) {
            case PyDict dict -> {
                boolean hashable = !(key instanceof List<?>) && !(key instanceof PyDict);
                return hashable ? dict.get(key) : null;
            }
            case Undefined u -> throw u.fails();
            case List<?> list -> {
                int i = place(key, list.size());
                return i < 0 ? null : list.get(i);
            }
            case PyTuple t -> {
                int i = place(key, t.items().size());
                return i < 0 ? null : t.items().get(i);
            }
            case PyRange r -> {
                int i = place(key, r.length());
                return i < 0 ? null : r.at(i);
            }
            case String s -> {
                return PyNumbers.integer(key) instanceof Long i ? charAt(s, i, run) : null;
            }
            case Markup m -> {
                String c =
                        PyNumbers.integer(key) instanceof Long i ? charAt(m.text(), i, run) : null;
                return c == null ? null : new Markup(c);
            }
            default -> {
                return null;
            }
        }
    }

    private static @Nullable String charAt(String s, long i, Run run) {
        run.scan(Math.min(Math.abs(i), s.length()));
        return PyText.at(s, i);
    }

    private static int place(Object key, int size) {
        if (!(PyNumbers.integer(key) instanceof Long i)) {
            return -1;
        }
        long at = i < 0 ? i + size : i;
        return at >= 0 && at < size ? (int) at : -1;
    }

    static Object slice(Object of, PySlice slice, Run run) {
        return switch (of) {
            case String s -> run.made(PyText.slice(s, slice));
            case Markup m -> new Markup(run.made(PyText.slice(m.text(), slice)));
            case List<?> list -> sliced(list, slice, run);
            case PyTuple t -> new PyTuple(sliced(t.items(), slice, run));
            case PyRange r -> r.slice(slice);
            case Undefined u -> throw u.fails();
            default ->
                    throw TemplateException.failed(
                            "'" + Values.typeName(of) + "' object is not subscriptable");
        };
    }

    private static List<Object> sliced(List<?> list, PySlice slice, Run run) {
        PySlice.Bounds b = slice.bounds(list.size());
        run.make(8L * b.count());
        List<Object> out = new ArrayList<>(b.count());
        for (int i = b.start(), left = b.count(); left > 0; left--, i += b.step()) {
            out.add(list.get(i));
        }
        return out;
    }
}
