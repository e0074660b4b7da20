package io.warmpath.tokens.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Python's text operations on Java strings: places count code points, not UTF-16 units. */
final class PyText {
    private PyText() {}

    /** {@code str.isspace} of one character; all of them lie in the first plane. */
    static boolean isSpace(int c) {
        if (c < 0x80) {
            return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
        }
        return c == 0x85
                || c == 0xa0
                || c == 0x1680
                || (c >= 0x2000 && c <= 0x200a)
                || c == 0x2028
                || c == 0x2029
                || c == 0x202f
                || c == 0x205f
                || c == 0x3000;
    }

    static String strip(String s, @Nullable String chars) {
        return lstrip(rstrip(s, chars), chars);
    }

    static String rstrip(String s) {
        return rstrip(s, null);
    }

    static String rstrip(String s, @Nullable String chars) {
        int end = s.length();
        while (end > 0) {
            int c = s.codePointBefore(end);
            if (!strips(c, chars)) {
                break;
            }
            end -= Character.charCount(c);
        }
        return s.substring(0, end);
    }

    static String lstrip(String s, @Nullable String chars) {
        int start = 0;
        while (start < s.length()) {
            int c = s.codePointAt(start);
            if (!strips(c, chars)) {
                break;
            }
            start += Character.charCount(c);
        }
        return s.substring(start);
    }

    private static boolean strips(int c, @Nullable String chars) {
        return chars == null ? isSpace(c) : chars.indexOf(c) >= 0;
    }

    static int length(String s) {
        return s.codePointCount(0, s.length());
    }

    /** The character at a place, counted from the end when negative; null when there is none. */
    static @Nullable String at(String s, long index) {
        int from = place(s, index);
        if (from < 0 || from >= s.length()) {
            return null;
        }
        return s.substring(from, s.offsetByCodePoints(from, 1));
    }

    /** UTF-16 place of a code point; -1 before the beginning, the length or more after the end. */
    private static int place(String s, long index) {
        int n = s.length();
        if (index >= n) {
            return n;
        }
        if (index < -n) {
            return -1;
        }
        int at = index >= 0 ? 0 : n;
        for (long i = 0; i < index; i++) {
            if (at == n) {
                return n;
            }
            at += Character.charCount(s.codePointAt(at));
        }
        for (long i = 0; i > index; i--) {
            if (at == 0) {
                return -1;
            }
            at -= Character.charCount(s.codePointBefore(at));
        }
        return at;
    }

    static String slice(String s, PySlice slice) {
        if (slice.step() == null || slice.step() == 1) {
            // Walks from the near end: a prefix of a long text costs its own length.
            int from = slice.start() == null ? 0 : Math.max(0, place(s, slice.start()));
            int to = slice.stop() == null ? s.length() : Math.max(0, place(s, slice.stop()));
            return from < to ? s.substring(from, to) : "";
        }
        int[] all = s.codePoints().toArray();
        PySlice.Bounds b = slice.bounds(all.length);
        StringBuilder out = new StringBuilder();
        for (int i = b.start(), left = b.count(); left > 0; left--, i += b.step()) {
            out.appendCodePoint(all[i]);
        }
        return out.toString();
    }

    static List<String> split(String s, @Nullable String sep, long max) {
        return sep == null ? splitSpace(s, max) : splitOn(s, sep, max);
    }

    private static List<String> splitOn(String s, String sep, long max) {
        if (sep.isEmpty()) {
            throw TemplateException.failed("empty separator");
        }
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int i = s.indexOf(sep); i >= 0 && (max < 0 || parts.size() < max); ) {
            parts.add(s.substring(from, i));
            from = i + sep.length();
            i = s.indexOf(sep, from);
        }
        parts.add(s.substring(from));
        return parts;
    }

    private static List<String> splitSpace(String s, long max) {
        List<String> parts = new ArrayList<>();
        int i = 0;
        while (true) {
            while (i < s.length() && isSpace(s.charAt(i))) {
                i++;
            }
            if (i == s.length()) {
                return parts;
            }
            if (max >= 0 && parts.size() >= max) {
                parts.add(s.substring(i));
                return parts;
            }
            int start = i;
            while (i < s.length() && !isSpace(s.charAt(i))) {
                i++;
            }
            parts.add(s.substring(start, i));
        }
    }

    static List<String> rsplit(String s, @Nullable String sep, long max) {
        List<String> parts = new ArrayList<>();
        if (sep == null) {
            int end = s.length();
            while (true) {
                while (end > 0 && isSpace(s.charAt(end - 1))) {
                    end--;
                }
                if (end == 0) {
                    return parts.reversed();
                }
                if (max >= 0 && parts.size() >= max) {
                    parts.add(s.substring(0, end));
                    return parts.reversed();
                }
                int stop = end;
                while (end > 0 && !isSpace(s.charAt(end - 1))) {
                    end--;
                }
                parts.add(s.substring(end, stop));
            }
        }
        if (sep.isEmpty()) {
            throw TemplateException.failed("empty separator");
        }
        int end = s.length();
        while (max < 0 || parts.size() < max) {
            int i = end < sep.length() ? -1 : s.lastIndexOf(sep, end - sep.length());
            if (i < 0) {
                break;
            }
            parts.add(s.substring(i + sep.length(), end));
            end = i;
        }
        parts.add(s.substring(0, end));
        return parts.reversed();
    }

    static List<String> lines(String s, boolean keepEnds) {
        List<String> lines = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (!endsLine(c)) {
                continue;
            }
            int end = i;
            if (c == '\r' && i + 1 < s.length() && s.charAt(i + 1) == '\n') {
                i++;
            }
            lines.add(s.substring(start, keepEnds ? i + 1 : end));
            start = i + 1;
        }
        if (start < s.length()) {
            lines.add(s.substring(start));
        }
        return lines;
    }

    private static boolean endsLine(char c) {
        return (c >= 0x0a && c <= 0x0d)
                || (c >= 0x1c && c <= 0x1e)
                || c == 0x85
                || c == 0x2028
                || c == 0x2029;
    }

    /** At most {@code max} replacements; all when it is negative. */
    static String replace(String s, String old, String with, long max, Run run) {
        run.scan(s.length());
        if (max == 0) {
            return s;
        }
        long found = old.isEmpty() ? length(s) + 1L : count(s, old);
        long n = max < 0 ? found : Math.min(max, found);
        if (n == 0) {
            return s;
        }
        run.make(s.length() + n * Math.max(0, with.length() - old.length()));
        StringBuilder out = new StringBuilder(s.length() + 16);
        int from = 0;
        for (long i = 0; i < n; i++) {
            if (old.isEmpty()) {
                if (i > 0) {
                    int next = s.offsetByCodePoints(from, 1);
                    out.append(s, from, next);
                    from = next;
                }
                out.append(with);
                continue;
            }
            int at = s.indexOf(old, from);
            out.append(s, from, at).append(with);
            from = at + old.length();
        }
        return out.append(s, from, s.length()).toString();
    }

    static long count(String s, String part) {
        if (part.isEmpty()) {
            return length(s) + 1L;
        }
        long n = 0;
        for (int i = s.indexOf(part); i >= 0; i = s.indexOf(part, i + part.length())) {
            n++;
        }
        return n;
    }

    static String upper(String s) {
        return s.toUpperCase(Locale.ROOT);
    }

    static String lower(String s) {
        if (s.indexOf('\u03a3') < 0) {
            return s.toLowerCase(Locale.ROOT);
        }
        StringBuilder out = new StringBuilder(s.length());
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            out.append(lowerAt(s, i, c));
            i += Character.charCount(c);
        }
        return out.toString();
    }

    /** A sigma that ends a word has a form of its own. */
    private static String lowerAt(String s, int i, int c) {
        if (c != '\u03a3') {
            return Character.toString(c).toLowerCase(Locale.ROOT);
        }
        int before = i;
        while (before > 0 && isCaseIgnorable(s.codePointBefore(before))) {
            before -= Character.charCount(s.codePointBefore(before));
        }
        if (before == 0 || !isCased(s.codePointBefore(before))) {
            return "\u03c3";
        }
        int after = i + 1;
        while (after < s.length() && isCaseIgnorable(s.codePointAt(after))) {
            after += Character.charCount(s.codePointAt(after));
        }
        return after == s.length() || !isCased(s.codePointAt(after)) ? "\u03c2" : "\u03c3";
    }

    static String capitalize(String s) {
        StringBuilder out = new StringBuilder(s.length() + 2);
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            out.append(i == 0 ? titled(c) : lowerAt(s, i, c));
            i += Character.charCount(c);
        }
        return out.toString();
    }

    /** {@code str.title()}: a word begins where no letter stands before. */
    static String title(String s) {
        StringBuilder out = new StringBuilder(s.length() + 2);
        boolean inWord = false;
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            out.append(inWord ? lowerAt(s, i, c) : titled(c));
            inWord = isCased(c);
            i += Character.charCount(c);
        }
        return out.toString();
    }

    private static String titled(int c) {
        int simple = Character.toTitleCase(c);
        String upper = Character.toString(c).toUpperCase(Locale.ROOT);
        boolean isTitle = simple != c || Character.isTitleCase(c);
        if (isTitle || upper.codePointCount(0, upper.length()) < 2) {
            return Character.toString(simple);
        }
        // Letters with a title form of several, as in the ligature fi or the German sharp s.
        int first = upper.codePointAt(0);
        String rest = upper.substring(Character.charCount(first));
        return Character.toString(first)
                + (c == 0x149 ? rest : rest.replace('\u0399', '\u0345').toLowerCase(Locale.ROOT));
    }

    static boolean isCased(int c) {
        return Character.isLowerCase(c) || Character.isUpperCase(c) || Character.isTitleCase(c);
    }

    private static boolean isCaseIgnorable(int c) {
        return switch (Character.getType(c)) {
            case Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.FORMAT,
                    Character.MODIFIER_LETTER,
                    Character.MODIFIER_SYMBOL ->
                    true;
            default ->
                    "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"
                                    .indexOf(c)
                            >= 0;
        };
    }

    static boolean isLower(String s) {
        boolean cased = false;
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            if (Character.isUpperCase(c) || Character.isTitleCase(c)) {
                return false;
            }
            cased |= Character.isLowerCase(c);
            i += Character.charCount(c);
        }
        return cased;
    }

    static boolean isUpper(String s) {
        boolean cased = false;
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            if (Character.isLowerCase(c) || Character.isTitleCase(c)) {
                return false;
            }
            cased |= Character.isUpperCase(c);
            i += Character.charCount(c);
        }
        return cased;
    }
}
