package io.warmpath.api.request;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Steps over JSON in place: strings, scalars, whole values, and text out of strings. Stricter than
 * any JSON parser, never laxer: what it steps over is JSON in well-formed UTF-8, no deeper than
 * {@value #MAX_DEPTH} containers. All else is {@link #ODD}, which says nothing about the bytes but
 * that somebody else should read them. Offsets are those of the array. No allocation but for texts;
 * reads eight bytes at a step inside strings. One thread.
 */
final class JsonBytes {
    /** Not for us: not JSON, or JSON of an uncommon kind. */
    static final int ODD = -1;

    private static final int MAX_DEPTH = 60;
    private static final int MAX_NUMBER = 100;
    private static final int KEPT_SCRATCH = 1 << 18;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH = 0x8080808080808080L;
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] b = {};
    private int end;
    private byte[] scratch = {};

    void set(byte[] bytes, int to) {
        b = bytes;
        end = to;
    }

    /** Forgets the bytes, which are a whole request. */
    void clear() {
        b = new byte[0];
        end = 0;
        if (scratch.length > KEPT_SCRATCH) {
            scratch = new byte[0];
        }
    }

    /** The next byte that is no white space; {@code end} when there is none. */
    int space(int p) {
        while (p < end && isSpace(b[p])) {
            p++;
        }
        return p;
    }

    /** 0, which is no JSON, at the end. */
    byte at(int p) {
        return p < end ? b[p] : 0;
    }

    /** {@code p}: just behind the opening quote. Returns the closing quote, or ODD. */
    int string(int p) {
        while (true) {
            p = plain(p);
            if (p >= end) {
                return ODD;
            }
            byte c = b[p];
            if (c == '"') {
                return p;
            }
            p = c == '\\' ? escape(p) : c < 0 ? utf8(p) : ODD;
            if (p < 0) {
                return ODD;
            }
        }
    }

    /** The first quote, backslash, control character or byte above 127. */
    private int plain(int p) {
        byte[] bytes = b;
        for (int last = end - Long.BYTES; p <= last; p += Long.BYTES) {
            long marks = marks((long) LONGS.get(bytes, p));
            if (marks != 0) {
                return p + (Long.numberOfTrailingZeros(marks) >>> 3);
            }
        }
        while (p < end && bytes[p] >= 0x20 && bytes[p] != '"' && bytes[p] != '\\') {
            p++;
        }
        return p;
    }

    /**
     * The high bit of each byte that is not plain. With one bit turned, the quote (0x22) comes
     * right below the printable characters and one comparison finds it and the control characters;
     * in a byte above 127 the high bit is its own. Borrows make false marks above a true one only:
     * the lowest is true.
     */
    private static long marks(long w) {
        long low = (w ^ (ONES * 0x02)) - ONES * 0x21;
        long slash = (w ^ (ONES * '\\')) - ONES;
        return (w | low | slash) & HIGH;
    }

    private int escape(int p) {
        switch (at(p + 1)) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> {
                return p + 2;
            }
            case 'u' -> {
                return hex(p + 2) < 0 ? ODD : p + 6;
            }
            default -> {
                return ODD;
            }
        }
    }

    /** Four hexadecimal digits, or ODD. */
    private int hex(int p) {
        if (p + 4 > end) {
            return ODD;
        }
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = b[p + i] < 0 ? -1 : Character.digit(b[p + i], 16);
            if (digit < 0) {
                return ODD;
            }
            value = value << 4 | digit;
        }
        return value;
    }

    /** Behind the one character that starts here, in its only right form. */
    private int utf8(int p) {
        int c = b[p] & 0xff;
        if (c >= 0xc2 && c < 0xe0) {
            return isTail(p + 1) ? p + 2 : ODD;
        }
        if (c >= 0xe0 && c < 0xf0) {
            if (!isTail(p + 1) || !isTail(p + 2)) {
                return ODD;
            }
            int code = (c & 0xf) << 12 | (b[p + 1] & 0x3f) << 6 | (b[p + 2] & 0x3f);
            return code < 0x800 || (code >= 0xd800 && code < 0xe000) ? ODD : p + 3;
        }
        if (c >= 0xf0 && c < 0xf5) {
            if (!isTail(p + 1) || !isTail(p + 2) || !isTail(p + 3)) {
                return ODD;
            }
            int code = (c & 0x7) << 18 | (b[p + 1] & 0x3f) << 12;
            return code < 0x10000 || code > 0x10ffff ? ODD : p + 4;
        }
        return ODD;
    }

    private boolean isTail(int p) {
        return p < end && (b[p] & 0xc0) == 0x80;
    }

    /** {@code p}: the value's first byte. Returns just behind it, or ODD. */
    int value(int p) {
        byte c = at(p);
        return c == '{' || c == '[' ? container(p) : scalar(p);
    }

    private int scalar(int p) {
        switch (at(p)) {
            case '"' -> {
                int close = string(p + 1);
                return close < 0 ? ODD : close + 1;
            }
            case 't' -> {
                return literal(p, "true");
            }
            case 'f' -> {
                return literal(p, "false");
            }
            case 'n' -> {
                return literal(p, "null");
            }
            default -> {
                return number(p);
            }
        }
    }

    private int literal(int p, String word) {
        for (int i = 0; i < word.length(); i++) {
            if (at(p + i) != word.charAt(i)) {
                return ODD;
            }
        }
        return p + word.length();
    }

    private int number(int p) {
        int start = p;
        if (at(p) == '-') {
            p++;
        }
        int whole = digits(p);
        if (whole == p || (at(p) == '0' && whole > p + 1)) {
            return ODD;
        }
        p = whole;
        if (at(p) == '.') {
            int fraction = digits(p + 1);
            if (fraction == p + 1) {
                return ODD;
            }
            p = fraction;
        }
        if (at(p) == 'e' || at(p) == 'E') {
            p++;
            if (at(p) == '+' || at(p) == '-') {
                p++;
            }
            int exponent = digits(p);
            if (exponent == p) {
                return ODD;
            }
            p = exponent;
        }
        return p - start > MAX_NUMBER ? ODD : p;
    }

    private int digits(int p) {
        while (at(p) >= '0' && at(p) <= '9') {
            p++;
        }
        return p;
    }

    private int container(int p) {
        long objects = 0; // one bit for each open container, the innermost lowest: 1 is an object
        int depth = 0;
        while (true) {
            byte c = at(p);
            if (c == '{' || c == '[') {
                if (++depth > MAX_DEPTH) {
                    return ODD;
                }
                objects = objects << 1 | (c == '{' ? 1 : 0);
                p = space(p + 1);
                if (at(p) != (c == '{' ? '}' : ']')) {
                    p = c == '{' ? key(p) : p;
                    if (p < 0) {
                        return ODD;
                    }
                    continue;
                }
            } else {
                p = scalar(p);
                if (p < 0) {
                    return ODD;
                }
                p = space(p);
            }
            // Behind a value, or at the end of an empty container.
            while (at(p) == ((objects & 1) == 1 ? '}' : ']')) {
                p++;
                objects >>>= 1;
                if (--depth == 0) {
                    return p;
                }
                p = space(p);
            }
            if (at(p) != ',') {
                return ODD;
            }
            p = space(p + 1);
            if ((objects & 1) == 1) {
                p = key(p);
                if (p < 0) {
                    return ODD;
                }
            }
        }
    }

    /** From a member's name to its value, or ODD. */
    private int key(int p) {
        if (at(p) != '"') {
            return ODD;
        }
        int close = string(p + 1);
        return close < 0 ? ODD : colon(close + 1);
    }

    /** Over the colon between a name and its value, or ODD. */
    int colon(int p) {
        p = space(p);
        return at(p) == ':' ? space(p + 1) : ODD;
    }

    /** A backslash is somewhere in the text. */
    boolean hasEscape(int from, int to) {
        return backslash(from, to) < to;
    }

    private int backslash(int p, int to) {
        for (; p + 8 <= to; p += 8) {
            long slash = (long) LONGS.get(b, p) ^ (ONES * '\\');
            long marks = (slash - ONES) & ~slash & HIGH;
            if (marks != 0) {
                return p + (Long.numberOfTrailingZeros(marks) >>> 3);
            }
        }
        while (p < to && b[p] != '\\') {
            p++;
        }
        return p;
    }

    /**
     * @param from just behind the opening quote of a string that has been stepped over
     * @param to its closing quote
     * @return null when half a surrogate pair is in it
     */
    @Nullable String text(int from, int to) {
        int p = backslash(from, to);
        if (p == to) {
            return new String(b, from, to - from, StandardCharsets.UTF_8);
        }
        if (scratch.length < to - from) {
            scratch = new byte[Math.max(to - from, 1024)];
        }
        int n = 0;
        while (true) {
            System.arraycopy(b, from, scratch, n, p - from);
            n += p - from;
            if (p == to) {
                return new String(scratch, 0, n, StandardCharsets.UTF_8);
            }
            from = p + 2;
            switch (b[p + 1]) {
                case 'b' -> scratch[n++] = '\b';
                case 'f' -> scratch[n++] = '\f';
                case 'n' -> scratch[n++] = '\n';
                case 'r' -> scratch[n++] = '\r';
                case 't' -> scratch[n++] = '\t';
                case 'u' -> {
                    int code = hex(p + 2);
                    from = p + 6;
                    if (code >= 0xd800 && code < 0xe000) {
                        boolean paired =
                                code < 0xdc00
                                        && from + 6 <= to
                                        && b[from] == '\\'
                                        && b[from + 1] == 'u';
                        int low = paired ? hex(from + 2) : 0;
                        if (low < 0xdc00 || low >= 0xe000) {
                            return null;
                        }
                        code = Character.toCodePoint((char) code, (char) low);
                        from += 6;
                    }
                    n = encode(code, n);
                }
                default -> scratch[n++] = b[p + 1];
            }
            p = backslash(from, to);
        }
    }

    private int encode(int code, int n) {
        if (code < 0x80) {
            scratch[n++] = (byte) code;
            return n;
        }
        int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        int head = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
        scratch[n++] = (byte) (head | code >>> (6 * more));
        while (--more >= 0) {
            scratch[n++] = (byte) (0x80 | (code >>> (6 * more) & 0x3f));
        }
        return n;
    }

    private static boolean isSpace(byte c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }
}
