package io.warmpath.tokens.jinja;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Jinja's tests: {@code value is name(args)}. */
final class Tests {
    /** One test. */
    interface Test {
        boolean holds(Run run, Object value, Arguments args);
    }

    private interface Simple {
        boolean holds(Object value);
    }

    private static final Map<String, Test> BY_NAME = new HashMap<>();

    static {
        simple("defined", v -> !(v instanceof Undefined));
        simple("undefined", v -> v instanceof Undefined);
        simple("none", v -> v == None.NONE);
        simple("boolean", v -> v instanceof Boolean);
        simple("true", v -> v instanceof Boolean b && b);
        simple("false", v -> v instanceof Boolean b && !b);
        simple("integer", v -> !(v instanceof Boolean) && PyNumbers.integer(v) != null);
        simple("float", v -> v instanceof Double);
        simple("number", PyNumbers::isNumber);
        simple("string", v -> v instanceof String || v instanceof Markup);
        simple("mapping", v -> v instanceof PyDict);
        simple("iterable", Values::iterable);
        simple("sequence", Tests::isSequence);
        simple("callable", v -> v instanceof Callable || v instanceof Undefined);
        simple("escaped", v -> v instanceof Markup);
        simple("lower", v -> PyText.isLower(Values.text(v)));
        simple("upper", v -> PyText.isUpper(Values.text(v)));
        simple("filter", v -> isKnown(v, true));
        simple("test", v -> isKnown(v, false));
        BY_NAME.put("odd", (run, v, args) -> remainder(run, v, args, "odd", 1L));
        BY_NAME.put("even", (run, v, args) -> remainder(run, v, args, "even", 0L));
        BY_NAME.put("divisibleby", Tests::divisible);
        BY_NAME.put("sameas", Tests::same);
        BY_NAME.put(
                "in",
                (run, v, args) ->
                        Values.contains(args.bind("in", 1, "seq").or(0, None.NONE), v, run));
        for (String name : List.of("eq", "equalto", "==")) {
            comparison(name, "==");
        }
        for (String name : List.of("ne", "!=")) {
            comparison(name, "!=");
        }
        for (String name : List.of("gt", "greaterthan", ">")) {
            comparison(name, ">");
        }
        for (String name : List.of("ge", ">=")) {
            comparison(name, ">=");
        }
        for (String name : List.of("lt", "lessthan", "<")) {
            comparison(name, "<");
        }
        for (String name : List.of("le", "<=")) {
            comparison(name, "<=");
        }
    }

    private Tests() {}

    /** Null when Jinja has no such test. */
    static @Nullable Test named(String name) {
        return BY_NAME.get(name);
    }

    static Test called(Object name) {
        String text = Values.string(name);
        Test test = text == null ? null : named(text);
        if (test == null) {
            throw TemplateException.failed("No test named " + Repr.of(name) + ".");
        }
        return test;
    }

    private static void simple(String name, Simple test) {
        BY_NAME.put(
                name,
                (run, v, args) -> {
                    args.bind(name, 0);
                    return test.holds(v);
                });
    }

    private static void comparison(String name, String op) {
        BY_NAME.put(
                name,
                (run, v, args) ->
                        Ops.compare(op, v, args.bind(name, 1, "/other").or(0, None.NONE), run));
    }

    private static boolean isSequence(Object v) {
        return v instanceof String
                || v instanceof Markup
                || v instanceof List<?>
                || v instanceof PyTuple
                || v instanceof PyDict
                || v instanceof PyRange
                || v instanceof Undefined;
    }

    private static boolean isKnown(Object name, boolean filter) {
        String text = Values.string(name);
        if (text == null) {
            PyDict.hashed(name);
            return false;
        }
        return filter
                ? Filters.named(text) != null || Filters.REFUSED.contains(text)
                : named(text) != null;
    }

    private static boolean remainder(
            Run run, Object v, Arguments args, String name, Object wanted) {
        args.bind(name, 0);
        return Values.equal(Ops.binary("%", v, 2L, run), wanted, run);
    }

    private static boolean divisible(Run run, Object v, Arguments args) {
        Object by = args.bind("divisibleby", 1, "num").or(0, None.NONE);
        return Values.equal(Ops.binary("%", v, by, run), 0L, run);
    }

    /** Python's {@code is}; which equal numbers and texts are one object is its own affair. */
    private static boolean same(Run run, Object v, Arguments args) {
        Object other = args.bind("sameas", 1, "other").or(0, None.NONE);
        if (v instanceof Boolean || other instanceof Boolean || v == None.NONE) {
            return v.equals(other);
        }
        boolean shared = PyNumbers.isNumber(v) || Values.string(v) != null || v instanceof PyTuple;
        if (shared && other.getClass() == v.getClass()) {
            throw TemplateException.unsupported("sameas of two numbers or texts");
        }
        return v == other;
    }
}
