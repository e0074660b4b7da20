package io.warmpath.tokens.jinja;

import java.math.BigInteger;
import java.util.List;

/** Python's repr of a value: how it looks inside a printed list. */
final class Repr {
    private static final int MAX_DEPTH = 200;

    /** Lists that share their elements can be far larger as text than in memory. */
    private static final int MAX_CHARS = 1 << 26;

    private Repr() {}

    static String of(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out, 0);
        return out.toString();
    }

    static void write(Object value, StringBuilder out, int depth) {
        if (depth > MAX_DEPTH) {
            throw TemplateException.failed("a value is nested over " + MAX_DEPTH + " levels");
        }
        if (out.length() > MAX_CHARS) {
            throw new TemplateException(
                    TemplateException.Kind.BUDGET, "the template writes too much");
        }
        switch (value) {
            case String s -> quoted(s, out);
            case Markup m -> {
                out.append("Markup(");
                quoted(m.text(), out);
                out.append(')');
            }
            case Boolean b -> out.append(b ? "True" : "False");
            case Long n -> out.append(n.longValue());
            case BigInteger n -> out.append(PyNumbers.integerText(n));
            case Double d -> out.append(PyNumbers.floatText(d));
            case None none -> out.append("None");
            case Undefined u -> out.append("Undefined");
            case PyTuple t -> {
                items(t.items(), "(", t.items().size() == 1 ? ",)" : ")", out, depth);
            }
            case List<?> list -> items(list, "[", "]", out, depth);
            case PyDict dict -> dict(dict, out, depth);
            case PyRange r -> {
                out.append("range(").append(r.start()).append(", ").append(r.stop());
                out.append(r.step() == 1 ? ")" : ", " + r.step() + ")");
            }
            case DictView view -> {
                String kind = view.kind().toString().toLowerCase(java.util.Locale.ROOT);
                items(view.list(), "dict_" + kind + "([", "])", out, depth);
            }
            case Namespace ns -> {
                out.append("<Namespace ");
                dict(ns.attributes(), out, depth);
                out.append('>');
            }
            case LoopContext loop ->
                    out.append("<LoopContext ")
                            .append(loop.index())
                            .append('/')
                            .append(loop.length())
                            .append('>');
            case MacroValue macro -> out.append(macro.repr());
            default ->
                    // Python would print an address.
                    throw TemplateException.unsupported(
                            "printing a value of the type " + Values.typeName(value));
        }
    }

    private static void items(
            List<?> items, String open, String close, StringBuilder out, int depth) {
        out.append(open);
        for (int i = 0; i < items.size(); i++) {
            if (i > 0) {
                out.append(", ");
            }
            write(items.get(i), out, depth + 1);
        }
        out.append(close);
    }

    private static void dict(PyDict dict, StringBuilder out, int depth) {
        out.append('{');
        for (int i = 0; i < dict.size(); i++) {
            if (i > 0) {
                out.append(", ");
            }
            write(dict.key(i), out, depth + 1);
            out.append(": ");
            write(dict.value(i), out, depth + 1);
        }
        out.append('}');
    }

    private static void quoted(String s, StringBuilder out) {
        char quote = s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            i += Character.charCount(c);
            switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\\' -> out.append("\\\\");
                default -> {
                    if (c == quote) {
                        out.append('\\').append(quote);
                    } else if (isPrintable(c)) {
                        out.appendCodePoint(c);
                    } else if (c < 0x100) {
                        out.append(String.format("\\x%02x", c));
                    } else if (c < 0x10000) {
                        out.append(String.format("\\u%04x", c));
                    } else {
                        out.append(String.format("\\U%08x", c));
                    }
                }
            }
        }
        out.append(quote);
    }

    private static boolean isPrintable(int c) {
        if (c < 0x7f) {
            return c >= ' ';
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SPACE_SEPARATOR ->
                    false;
            default -> true;
        };
    }
}
