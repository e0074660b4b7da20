package io.warmpath.tokens.jinja;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code format % values}: %s, %r, %d, %i, %u, %f, %x, %X, %o, %c and %%, with width and flags. */
final class PercentFormat {
    private final String format;
    private final boolean safe;
    private final Object values;
    private final List<Object> positional;
    private final Run run;
    private final StringBuilder out = new StringBuilder();
    private int at;
    private int used;
    private boolean byName;

    private PercentFormat(String format, boolean safe, Object values, Run run) {
        this.format = format;
        this.safe = safe;
        this.values = values;
        this.positional = values instanceof PyTuple t ? t.items() : List.of(values);
        this.run = run;
    }

    static Object format(Object format, Object values, Run run) {
        boolean safe = format instanceof Markup;
        PercentFormat f = new PercentFormat(Values.text(format), safe, values, run);
        f.write();
        String text = f.out.toString();
        return safe ? new Markup(text) : text;
    }

    private void write() {
        while (at < format.length()) {
            char c = format.charAt(at++);
            if (c == '%') {
                conversion();
            } else {
                out.append(c);
            }
        }
        run.make(out.length());
        boolean mapping =
                values instanceof PyDict
                        || values instanceof List<?>
                        || values instanceof PyRange
                        || values instanceof Undefined
                        || byName;
        if (used < positional.size() && !mapping) {
            throw TemplateException.failed("not all arguments converted during string formatting");
        }
    }

    private char peek() {
        if (at >= format.length()) {
            throw TemplateException.failed("incomplete format");
        }
        return format.charAt(at);
    }

    private void conversion() {
        Object named = peek() == '(' ? named() : null;
        String flags = "";
        while ("#0- +".indexOf(peek()) >= 0) {
            flags += format.charAt(at++);
        }
        int width = digits("width");
        int precision = -1;
        if (peek() == '.') {
            at++;
            precision = Math.max(0, digits("precision"));
        }
        while ("hlL".indexOf(peek()) >= 0) {
            at++;
        }
        char type = peek();
        at++;
        if (type == '%') {
            out.append('%');
            return;
        }
        Object value = named != null ? named : next();
        String text = text(value, type, flags, precision);
        boolean number = "diufFxXo".indexOf(type) >= 0;
        pad(text, flags, width, number);
    }

    private @Nullable Object named() {
        int depth = 0;
        int start = at + 1;
        do {
            char c = peek();
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            at++;
        } while (depth > 0);
        if (!(values instanceof PyDict dict)) {
            throw TemplateException.failed("format requires a mapping");
        }
        byName = true;
        String key = format.substring(start, at - 1);
        Object value = dict.get(key);
        if (value == null) {
            throw TemplateException.failed(Repr.of(key));
        }
        return value;
    }

    private int digits(String what) {
        if (peek() == '*') {
            throw TemplateException.unsupported("* as the " + what + " of a format");
        }
        int n = -1;
        while (peek() >= '0' && peek() <= '9') {
            n = Math.max(n, 0) * 10 + format.charAt(at++) - '0';
            if (n > 1000) {
                throw TemplateException.unsupported("a " + what + " of over 1000 in a format");
            }
        }
        return n;
    }

    private Object next() {
        if (byName && values instanceof PyDict) {
            throw TemplateException.failed("not enough arguments for format string");
        }
        if (used >= positional.size()) {
            throw TemplateException.failed("not enough arguments for format string");
        }
        return positional.get(used++);
    }

    private String text(Object value, char type, String flags, int precision) {
        switch (type) {
            case 's', 'r' -> {
                String s = type == 's' ? Values.text(value) : Repr.of(value);
                if (safe) {
                    s = value instanceof Markup && type == 's' ? s : Markup.escape(s);
                }
                return precision < 0
                        ? s
                        : PyText.slice(s, new PySlice(null, (long) precision, null));
            }
            case 'c' -> {
                String s = Values.string(value);
                if (s != null && PyText.length(s) == 1 && !safe) {
                    return s;
                }
                throw TemplateException.unsupported("%c of anything but one character");
            }
            case 'd', 'i', 'u' -> {
                number(value, type);
                String digits = NumberFormat.integer(NumberFormat.truncated(value), 'd');
                return signed(least(digits, precision), flags);
            }
            case 'x', 'X', 'o' -> {
                number(value, type);
                if (value instanceof Double) {
                    throw TemplateException.failed(
                            "%" + type + " format: an integer is required, not float");
                }
                if (flags.contains("#")) {
                    throw TemplateException.unsupported("the flag # of a format");
                }
                String digits = NumberFormat.integer(PyNumbers.big(value), type);
                return signed(least(digits, precision), flags);
            }
            case 'f', 'F' -> {
                number(value, type);
                double d = PyNumbers.toDouble(value);
                if (flags.contains("#") || Double.isNaN(d) || Double.isInfinite(d)) {
                    throw TemplateException.unsupported("this use of %f");
                }
                return signed(NumberFormat.fixed(d, precision < 0 ? 6 : precision), flags);
            }
            case 'e', 'E', 'g', 'G', 'a' ->
                    throw TemplateException.unsupported("%" + type + " in a format");
            default ->
                    throw TemplateException.failed("unsupported format character '" + type + "'");
        }
    }

    private static void number(Object value, char type) {
        if (!PyNumbers.isNumber(value)) {
            throw TemplateException.failed(
                    "%" + type + " format: a number is required, not " + Values.typeName(value));
        }
    }

    /** At least so many digits. */
    private static String least(String number, int digits) {
        String sign = number.startsWith("-") ? "-" : "";
        String plain = number.substring(sign.length());
        return sign + "0".repeat(Math.max(0, digits - plain.length())) + plain;
    }

    private static String signed(String number, String flags) {
        if (number.startsWith("-")) {
            return number;
        }
        return flags.contains("+") ? "+" + number : flags.contains(" ") ? " " + number : number;
    }

    private void pad(String text, String flags, int width, boolean number) {
        int missing = Math.max(0, width - PyText.length(text));
        if (flags.contains("-")) {
            out.append(text).append(" ".repeat(missing));
        } else if (flags.contains("0") && number) {
            int sign = !text.isEmpty() && "+- ".indexOf(text.charAt(0)) >= 0 ? 1 : 0;
            out.append(text, 0, sign).append("0".repeat(missing)).append(text.substring(sign));
        } else {
            out.append(" ".repeat(missing)).append(text);
        }
    }
}
