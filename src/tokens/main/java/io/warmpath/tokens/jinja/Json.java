package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Python's json.dumps, as the filter {@code tojson} of chat templates calls it. */
final class Json {
    private static final int MAX_DEPTH = 200;

    private final StringBuilder out = new StringBuilder();
    private final boolean ascii;

    /** One level of indentation; null: all on one line. */
    private final @Nullable String indent;

    private final String itemSeparator;
    private final String keySeparator;
    private final boolean sorted;
    private final Run run;

    private Json(
            boolean ascii,
            @Nullable String indent,
            String itemSeparator,
            String keySeparator,
            boolean sorted,
            Run run) {
        this.ascii = ascii;
        this.indent = indent;
        this.itemSeparator = itemSeparator;
        this.keySeparator = keySeparator;
        this.sorted = sorted;
        this.run = run;
    }

    /** The filter; parameters in the order that transformers gives them. */
    static Object filter(Run run, Object value, Arguments args) {
        Arguments.Bound p =
                args.bind("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys");
        String indent = indent(p.or(1, None.NONE));
        String items = indent == null ? ", " : ",";
        String keys = ": ";
        Object separators = p.or(2, None.NONE);
        if (separators != None.NONE) {
            List<Object> two = Values.list(separators, run);
            if (two.size() != 2) {
                throw TemplateException.failed("separators must be two texts");
            }
            items = separator(two.get(0));
            keys = separator(two.get(1));
        }
        Json json =
                new Json(
                        Values.truth(p.or(0, false)),
                        indent,
                        items,
                        keys,
                        Values.truth(p.or(3, false)),
                        run);
        json.write(value, 0);
        return run.made(json.out.toString());
    }

    private static String separator(Object value) {
        String text = Values.string(value);
        if (text == null) {
            throw TemplateException.failed("separators must be texts");
        }
        return text;
    }

    private static @Nullable String indent(Object value) {
        if (value == None.NONE) {
            return null;
        }
        String text = Values.string(value);
        if (text != null) {
            return text;
        }
        if (PyNumbers.integer(value) instanceof Long n) {
            if (n > 100) {
                throw TemplateException.unsupported("an indent of over 100");
            }
            return " ".repeat((int) Math.max(0, n));
        }
        throw TemplateException.failed("indent must be a number or a text");
    }

    private void write(Object value, int depth) {
        if (depth > MAX_DEPTH) {
            throw TemplateException.failed("a value is nested over " + MAX_DEPTH + " levels");
        }
        run.scan(out.length() > 1 << 20 ? 64 : 1);
        switch (value) {
            case String s -> string(s);
            case Markup m -> string(m.text());
            case None none -> out.append("null");
            case Boolean b -> out.append(b.booleanValue());
            case Long n -> out.append(n.longValue());
            case BigInteger n -> out.append(PyNumbers.integerText(n));
            case Double d -> out.append(number(d));
            case List<?> list -> list(list, depth);
            case PyTuple t -> list(t.items(), depth);
            case PyDict dict -> dict(dict, depth);
            default ->
                    throw TemplateException.failed(
                            "Object of type "
                                    + Values.typeName(value)
                                    + " is not JSON serializable");
        }
    }

    private static String number(double d) {
        if (Double.isNaN(d)) {
            return "NaN";
        }
        if (Double.isInfinite(d)) {
            return d > 0 ? "Infinity" : "-Infinity";
        }
        return PyNumbers.floatText(d);
    }

    private void list(List<?> list, int depth) {
        if (list.isEmpty()) {
            out.append("[]");
            return;
        }
        out.append('[');
        for (int i = 0; i < list.size(); i++) {
            if (i > 0) {
                out.append(itemSeparator);
            }
            line(depth + 1);
            write(list.get(i), depth + 1);
        }
        line(depth);
        out.append(']');
    }

    private void dict(PyDict dict, int depth) {
        if (dict.size() == 0) {
            out.append("{}");
            return;
        }
        List<Object> keys = new ArrayList<>(dict.keys());
        if (sorted) {
            keys = Sorting.sorted(keys, false, run);
        }
        out.append('{');
        for (int i = 0; i < keys.size(); i++) {
            if (i > 0) {
                out.append(itemSeparator);
            }
            line(depth + 1);
            string(key(keys.get(i)));
            out.append(keySeparator);
            Object value = sorted ? dict.get(keys.get(i)) : dict.value(i);
            write(value == null ? None.NONE : value, depth + 1);
        }
        line(depth);
        out.append('}');
    }

    private static String key(Object key) {
        return switch (key) {
            case String s -> s;
            case Markup m -> m.text();
            case None none -> "null";
            case Boolean b -> b.toString();
            case Long n -> n.toString();
            case BigInteger n -> PyNumbers.integerText(n);
            case Double d -> number(d);
            default ->
                    throw TemplateException.failed(
                            "keys must be str, int, float, bool or None, not "
                                    + Values.typeName(key));
        };
    }

    private void line(int depth) {
        if (indent != null) {
            out.append('\n');
            for (int i = 0; i < depth; i++) {
                out.append(indent);
            }
        }
    }

    private void string(String s) {
        run.scan(s.length());
        out.append('"');
        int plain = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c >= ' ' && c != '"' && c != '\\' && (!ascii || c < 0x7f)) {
                continue;
            }
            out.append(s, plain, i);
            plain = i + 1;
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> out.append(String.format("\\u%04x", (int) c));
            }
        }
        out.append(s, plain, s.length()).append('"');
    }
}
