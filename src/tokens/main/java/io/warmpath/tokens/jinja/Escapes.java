package io.warmpath.tokens.jinja;

/** The escapes of a string literal, as Python's {@code unicode_escape} codec reads them. */
final class Escapes {
    private Escapes() {}

    static String decoded(String body, int line) {
        StringBuilder out = new StringBuilder(body.length());
        int i = 0;
        while (i < body.length()) {
            char c = body.charAt(i++);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            int next = body.codePointAt(i);
            i += Character.charCount(next);
            switch (next) {
                case '\n' -> {}
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case 'a' -> out.append('\u0007');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'v' -> out.append('\u000b');
                case '\\', '\'', '"' -> out.append((char) next);
                case 'x' -> i = hex(body, i, 2, out, line);
                case 'u' -> i = hex(body, i, 4, out, line);
                case 'U' -> i = hex(body, i, 8, out, line);
                case 'N' -> throw TemplateException.unsupported(line, "\\N{...} in a string");
                case '0', '1', '2', '3', '4', '5', '6', '7' -> i = octal(body, i - 1, out);
                default -> other(next, out);
            }
        }
        return out.toString();
    }

    /**
     * Jinja turns letters beyond ASCII into escapes before it decodes, so that a backslash before
     * one makes that escape's text visible.
     */
    private static void other(int next, StringBuilder out) {
        out.append('\\');
        if (next < 128) {
            out.append((char) next);
        } else if (next < 0x100) {
            out.append(String.format("x%02x", next));
        } else if (next < 0x10000) {
            out.append(String.format("u%04x", next));
        } else {
            out.append(String.format("U%08x", next));
        }
    }

    private static int hex(String body, int from, int digits, StringBuilder out, int line) {
        int value = 0;
        for (int i = from; i < from + digits; i++) {
            int digit = i < body.length() ? Character.digit(body.charAt(i), 16) : -1;
            if (digit < 0 || body.charAt(i) > 127) {
                throw TemplateException.syntax(line, "escape in a string is cut off");
            }
            value = value * 16 + digit;
        }
        if (value < 0 || value > Character.MAX_CODE_POINT) {
            throw TemplateException.syntax(line, "escape in a string is no character");
        }
        if (value >= Character.MIN_SURROGATE && value <= Character.MAX_SURROGATE) {
            throw TemplateException.unsupported(line, "half a surrogate pair in a string");
        }
        out.appendCodePoint(value);
        return from + digits;
    }

    private static int octal(String body, int from, StringBuilder out) {
        int value = 0;
        int i = from;
        while (i < body.length()
                && i < from + 3
                && body.charAt(i) >= '0'
                && body.charAt(i) <= '7') {
            value = value * 8 + body.charAt(i++) - '0';
        }
        out.append((char) value);
        return i;
    }
}
