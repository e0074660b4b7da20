package io.warmpath.tokens.jinja;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code text.format(...)}: fields by place and name with attributes and items, {@code !s} and
 * {@code !r}, and of the format specifications fill, alignment, width, precision, d, f, x and s.
 */
final class BraceFormat {
    private static final Pattern NAME = Pattern.compile("\\.([^.\\[]+)|\\[([^\\]]+)\\]");
    private static final Pattern SPEC =
            Pattern.compile("(?:(.)?([<>^]))?(0)?(\\d{1,3})?(?:\\.(\\d{1,3}))?([sdfxX])?");

    private final Arguments args;
    private final Run run;

    /** The next field without a name; -1 when fields are numbered by hand. */
    private int next;

    private BraceFormat(Arguments args, Run run) {
        this.args = args;
        this.run = run;
    }

    static Object format(String format, boolean safe, Arguments args, Run run) {
        if (safe) {
            throw TemplateException.unsupported("format() of a text marked as safe");
        }
        return run.made(new BraceFormat(args, run).write(format));
    }

    private String write(String format) {
        StringBuilder out = new StringBuilder();
        int i = 0;
        while (i < format.length()) {
            char c = format.charAt(i++);
            if (c != '{' && c != '}') {
                out.append(c);
            } else if (i < format.length() && format.charAt(i) == c) {
                out.append(c);
                i++;
            } else if (c == '}') {
                throw TemplateException.failed("Single '}' encountered in format string");
            } else {
                int end = format.indexOf('}', i);
                if (end < 0) {
                    throw TemplateException.failed("expected '}' before end of string");
                }
                String field = format.substring(i, end);
                if (field.indexOf('{') >= 0) {
                    throw TemplateException.unsupported("a field within a field of a format");
                }
                out.append(field(field));
                i = end + 1;
            }
            run.step();
        }
        return out.toString();
    }

    private String field(String field) {
        int colon = field.indexOf(':');
        String name = colon < 0 ? field : field.substring(0, colon);
        String spec = colon < 0 ? "" : field.substring(colon + 1);
        int mark = name.indexOf('!');
        String conversion = mark < 0 ? "" : name.substring(mark + 1);
        Object value = value(mark < 0 ? name : name.substring(0, mark));
        value =
                switch (conversion) {
                    case "" -> value;
                    case "s" -> Values.text(value);
                    case "r" -> Repr.of(value);
                    default -> throw TemplateException.unsupported("the conversion !" + conversion);
                };
        return spec.isEmpty() ? plain(value) : padded(value, spec);
    }

    private static String plain(Object value) {
        if (value instanceof Undefined) {
            return ""; // object.__format__ of an empty specification is str()
        }
        return Values.text(value);
    }

    private Object value(String path) {
        int end = 0;
        while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') {
            end++;
        }
        if (end == 0 && !path.isEmpty()) {
            throw TemplateException.failed("a field with members needs a name or number");
        }
        Object value = first(path.substring(0, end));
        Matcher parts = NAME.matcher(path);
        int at = end;
        while (at < path.length()) {
            if (!parts.find(at) || parts.start() != at) {
                throw TemplateException.failed("Empty attribute in format string");
            }
            @Nullable String attribute = parts.group(1);
            String key = parts.group(2);
            if (attribute != null) {
                value = Attributes.get(value, attribute, run);
            } else if (key != null) {
                boolean number = key.chars().allMatch(c -> c >= '0' && c <= '9');
                Object k = number && key.length() < 10 ? (Object) Long.parseLong(key) : key;
                value = Attributes.item(value, k, run);
            }
            at = parts.end();
        }
        return value;
    }

    private Object first(String name) {
        boolean number = !name.isEmpty() && name.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!name.isEmpty() && !number) {
            Object value = args.named().get(name);
            if (value == null) {
                throw TemplateException.failed(Repr.of(name));
            }
            return value;
        }
        if (number ? next > 0 : next < 0) {
            throw TemplateException.failed(
                    "cannot switch between manual field specification and automatic field"
                            + " numbering");
        }
        long index = number ? Long.parseLong(name.substring(Math.max(0, name.length() - 9))) : next;
        next = number ? -1 : next + 1;
        if (index >= args.positional().size()) {
            throw TemplateException.failed(
                    "Replacement index " + index + " out of range for positional args tuple");
        }
        return args.positional().get((int) index);
    }

    private static String padded(Object value, String spec) {
        Matcher m = SPEC.matcher(spec);
        String s = Values.string(value);
        boolean number = PyNumbers.isNumber(value) && !(value instanceof Boolean);
        if (!m.matches() || (s == null && !number)) {
            throw TemplateException.unsupported("the format specification " + spec);
        }
        String fill = m.group(1) == null ? " " : m.group(1);
        String align = m.group(2) == null ? (number ? ">" : "<") : m.group(2);
        boolean zeros = m.group(3) != null;
        int width = m.group(4) == null ? 0 : Integer.parseInt(m.group(4));
        int precision = m.group(5) == null ? -1 : Integer.parseInt(m.group(5));
        String type = m.group(6) == null ? "" : m.group(6);
        if (zeros && (!number || m.group(2) != null)) {
            throw TemplateException.unsupported("the format specification " + spec);
        }
        String text = text(value, s, precision, type, spec);
        int pad = Math.max(0, width - PyText.length(text));
        if (zeros) {
            int sign = text.startsWith("-") ? 1 : 0;
            return text.substring(0, sign) + "0".repeat(pad) + text.substring(sign);
        }
        int left = align.equals("<") ? 0 : align.equals(">") ? pad : pad / 2;
        return fill.repeat(left) + text + fill.repeat(pad - left);
    }

    private static String text(
            Object value, @Nullable String s, int precision, String type, String spec) {
        if (s != null && (type.isEmpty() || type.equals("s"))) {
            return precision < 0 ? s : PyText.slice(s, new PySlice(null, (long) precision, null));
        }
        if (s == null && type.equals("f")) {
            return NumberFormat.fixed(PyNumbers.toDouble(value), precision < 0 ? 6 : precision);
        }
        boolean integer = s == null && !(value instanceof Double) && precision < 0;
        if (integer && !type.equals("s")) {
            return NumberFormat.integer(
                    PyNumbers.big(value), type.isEmpty() ? 'd' : type.charAt(0));
        }
        throw TemplateException.unsupported("the format specification " + spec);
    }
}
