package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Jinja's filters that give a text, or a number out of one. */
final class TextFilters {
    private static final Pattern INTEGER = Pattern.compile("[+-]?\\p{Nd}+(?:_\\p{Nd}+)*");
    private static final Pattern FLOAT =
            Pattern.compile(
                    "[+-]?(?:\\d+(?:_\\d+)*\\.?(?:\\d+(?:_\\d+)*)?|\\.\\d+(?:_\\d+)*)"
                            + "(?:[eE][+-]?\\d+(?:_\\d+)*)?");

    /** Python reads integers of up to 4300 digits. */
    private static final int MAX_NUMBER_CHARS = 1000;

    private TextFilters() {}

    static void addTo(Map<String, Filters.Filter> filters) {
        filters.put("trim", TextFilters::trim);
        filters.put("string", (run, v, args) -> none(args, "string", () -> soft(v)));
        filters.put("upper", (run, v, args) -> kept(run, v, args, "upper", PyText::upper));
        filters.put("lower", (run, v, args) -> kept(run, v, args, "lower", PyText::lower));
        filters.put(
                "capitalize",
                (run, v, args) -> kept(run, v, args, "capitalize", PyText::capitalize));
        filters.put(
                "title",
                (run, v, args) -> none(args, "title", () -> run.made(title(Values.text(v)))));
        filters.put(
                "safe",
                (run, v, args) -> none(args, "safe", () -> new Markup(run.made(Values.text(v)))));
        filters.put("e", TextFilters::escape);
        filters.put("escape", TextFilters::escape);
        filters.put("forceescape", TextFilters::forceEscape);
        filters.put("replace", TextFilters::replace);
        filters.put("join", TextFilters::join);
        filters.put("indent", TextFilters::indent);
        filters.put("center", TextFilters::center);
        filters.put("format", TextFilters::format);
        filters.put("int", TextFilters::toInt);
        filters.put("float", TextFilters::toFloat);
    }

    private interface Result {
        Object get();
    }

    private static Object none(Arguments args, String name, Result result) {
        args.bind(name, 0);
        return result.get();
    }

    /** A text as it is, marked or not; everything else as text. */
    private static Object soft(Object v) {
        return v instanceof Markup ? v : Values.text(v);
    }

    private static Object marked(Object like, String text) {
        return like instanceof Markup ? new Markup(text) : text;
    }

    private static Object kept(
            Run run, Object v, Arguments args, String name, UnaryOperator<String> of) {
        args.bind(name, 0);
        String text = Values.text(v);
        run.make(text.length());
        return marked(v, of.apply(text));
    }

    private static Object trim(Run run, Object v, Arguments args) {
        Object chars = args.bind("trim", 0, "chars").or(0, None.NONE);
        String text = Values.string(chars);
        if (text == null && chars != None.NONE) {
            throw TemplateException.failed("strip arg must be None or str");
        }
        return marked(v, run.made(PyText.strip(Values.text(v), text)));
    }

    /** Words begin after blanks, hyphens and opening brackets; the rest becomes lower case. */
    private static String title(String s) {
        StringBuilder out = new StringBuilder(s.length());
        int start = 0;
        for (int i = 0; i <= s.length(); i++) {
            boolean mark =
                    i == s.length()
                            || PyText.isSpace(s.charAt(i))
                            || "-({[<".indexOf(s.charAt(i)) >= 0;
            if (!mark) {
                continue;
            }
            if (i > start) {
                int first = s.offsetByCodePoints(start, 1);
                out.append(PyText.upper(s.substring(start, first)));
                out.append(PyText.lower(s.substring(first, i)));
            }
            if (i < s.length()) {
                out.append(s.charAt(i));
            }
            start = i + 1;
        }
        return out.toString();
    }

    private static Object escape(Run run, Object v, Arguments args) {
        args.bind("escape", 0);
        Markup escaped = Markup.escaped(v);
        run.make(escaped.text().length());
        return escaped;
    }

    private static Object forceEscape(Run run, Object v, Arguments args) {
        args.bind("forceescape", 0);
        return new Markup(run.made(Markup.escape(Values.text(v))));
    }

    private static Object replace(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("replace", 2, "old", "new", "count");
        Object count = p.or(2, None.NONE);
        Object max = count == None.NONE ? (Object) Long.valueOf(-1) : PyNumbers.integer(count);
        if (!(max instanceof Long n)) {
            throw TemplateException.failed("replace() wants an integer as count");
        }
        return PyText.replace(
                Values.text(v), Values.text(p.or(0, "")), Values.text(p.or(1, "")), n, run);
    }

    private static Object join(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("join", 0, "d", "attribute");
        String between = Values.text(p.or(0, ""));
        Object attribute = p.or(1, None.NONE);
        PyIterator it = Values.iterate(v, run);
        if (attribute != None.NONE) {
            Object mapped =
                    named("map").apply(run, it, Arguments.NONE.with("attribute", attribute));
            it = Values.iterate(mapped, run);
        }
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object item = it.next(); item != null; item = it.next()) {
            String part = Values.text(item);
            run.make(part.length() + (first ? 0 : between.length()));
            out.append(first ? "" : between).append(part);
            first = false;
        }
        return out.toString();
    }

    private static Filters.Filter named(String name) {
        Filters.Filter filter = Filters.named(name);
        if (filter == null) {
            throw new IllegalStateException(name);
        }
        return filter;
    }

    private static Object indent(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("indent", 0, "width", "first", "blank");
        if (v instanceof Undefined u) {
            throw u.fails();
        }
        String text = Values.string(v);
        if (text == null) {
            throw TemplateException.failed("indent wants a text, not " + Values.typeName(v));
        }
        Object width = p.or(0, 4L);
        String by = Values.string(width);
        boolean escapes = v instanceof Markup && by != null && !(width instanceof Markup);
        if (by == null) {
            Object blanks = Ops.binary("*", " ", width, run);
            by = Values.text(blanks);
        } else if (escapes) {
            by = Values.text(width); // Markup(...) of a text marks it and changes nothing
        }
        boolean blank = Values.truth(p.or(2, false));
        List<String> lines = PyText.lines(text + "\n", false);
        run.make(text.length() + (long) lines.size() * by.length());
        List<String> out = new ArrayList<>(lines.size());
        for (int i = 0; i < lines.size(); i++) {
            boolean indented = i > 0 && (blank || !lines.get(i).isEmpty());
            out.add(indented ? by + lines.get(i) : lines.get(i));
        }
        String joined = String.join("\n", out);
        return marked(v, Values.truth(p.or(1, false)) ? by + joined : joined);
    }

    private static Object center(Run run, Object v, Arguments args) {
        Object width = args.bind("center", 0, "width").or(0, 80L);
        Arguments one = new Arguments(List.of(width), Map.of());
        return new BoundMethod(soft(v), "center").call(run, one);
    }

    private static Object format(Run run, Object v, Arguments args) {
        if (!args.positional().isEmpty() && !args.named().isEmpty()) {
            throw TemplateException.failed(
                    "can't handle positional and keyword arguments at the same time");
        }
        Object values = new PyTuple(args.positional());
        if (!args.named().isEmpty()) {
            PyDict dict = new PyDict();
            args.named().forEach(dict::put);
            values = dict;
        }
        return PercentFormat.format(soft(v), values, run);
    }

    private static Object toInt(Run run, Object v, Arguments args) {
        Arguments.Bound p = args.bind("int", 0, "default", "base");
        Object otherwise = p.or(0, 0L);
        if (v instanceof Undefined u) {
            throw u.fails();
        }
        String text = Values.string(v);
        if (text != null) {
            if (!Values.equal(p.or(1, 10L), 10L, run)) {
                throw TemplateException.unsupported("a base other than 10 of int");
            }
            Object parsed = integer(PyText.strip(text, null));
            if (parsed != null) {
                return parsed;
            }
            Double asFloat = floating(PyText.strip(text, null));
            if (asFloat == null || asFloat.isNaN() || asFloat.isInfinite()) {
                return otherwise;
            }
            return PyNumbers.norm(NumberFormat.truncated(asFloat));
        }
        if (!PyNumbers.isNumber(v)) {
            return otherwise;
        }
        if (v instanceof Double d && d.isNaN()) {
            return otherwise;
        }
        return PyNumbers.norm(NumberFormat.truncated(v));
    }

    private static @Nullable Object integer(String text) {
        if (text.length() > MAX_NUMBER_CHARS || !INTEGER.matcher(text).matches()) {
            return null;
        }
        StringBuilder digits = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (c == '-') {
                digits.append('-');
            } else if (c != '_' && c != '+') {
                digits.append(Character.digit(c, 10));
            }
        }
        return PyNumbers.norm(new BigInteger(digits.toString()));
    }

    private static @Nullable Double floating(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        String unsigned =
                lower.startsWith("+") || lower.startsWith("-") ? lower.substring(1) : lower;
        double sign = lower.startsWith("-") ? -1 : 1;
        switch (unsigned) {
            case "inf", "infinity" -> {
                return sign * Double.POSITIVE_INFINITY;
            }
            case "nan" -> {
                return Double.NaN;
            }
            default -> {
                if (text.length() > MAX_NUMBER_CHARS) {
                    // No number is that long, but Python would read one that is.
                    if (!text.isEmpty() && "+-.0123456789".indexOf(text.charAt(0)) < 0) {
                        return null;
                    }
                    throw TemplateException.unsupported("so long a number in a text");
                }
                if (text.codePoints().anyMatch(c -> c > 127 && Character.isDigit(c))) {
                    throw TemplateException.unsupported("a float in digits of another script");
                }
                return FLOAT.matcher(text).matches()
                        ? (Double) Double.parseDouble(text.replace("_", ""))
                        : null;
            }
        }
    }

    private static Object toFloat(Run run, Object v, Arguments args) {
        Object otherwise = args.bind("float", 0, "default").or(0, 0.0);
        if (v instanceof Undefined u) {
            throw u.fails();
        }
        String text = Values.string(v);
        if (text != null) {
            Double parsed = floating(PyText.strip(text, null));
            return parsed == null ? otherwise : parsed;
        }
        return PyNumbers.isNumber(v) ? (Object) PyNumbers.toDouble(v) : otherwise;
    }
}
