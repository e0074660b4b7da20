package io.warmpath.telemetry;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;
import org.jboss.logmanager.ExtFormatter;
import org.jboss.logmanager.ExtLogRecord;
import org.jspecify.annotations.Nullable;

/**
 * Lines of the log as text, in the form of another formatter. What they say comes from engines and
 * clients too, so control characters are written as escapes: a line stays one line, and says
 * nothing to a terminal. Any thread.
 */
public final class TextLogFormatter extends ExtFormatter {
    private final Formatter form;

    /** {@code form}: of a line; its own control characters, as those for colours, stay. */
    public TextLogFormatter(Formatter form) {
        this.form = form;
    }

    @Override
    public String format(ExtLogRecord record) {
        String message = formatMessage(record);
        Throwable thrown = record.getThrown();
        boolean clean = message == null || escaped(message).equals(message);
        if (clean && !anyIsUnclean(thrown)) {
            return form.format((LogRecord) record);
        }
        ExtLogRecord plain = new ExtLogRecord(record);
        plain.setMessage(
                message == null ? null : escaped(message), ExtLogRecord.FormatStyle.NO_FORMAT);
        plain.setParameters(null);
        plain.setThrown(thrown == null ? null : new Plain(thrown, seen()));
        return form.format((LogRecord) plain);
    }

    /** Itself when there is nothing to escape. Tabs and line ends count, too. */
    static String escaped(String text) {
        int at = 0;
        while (at < text.length() && !isControl(text.charAt(at))) {
            at++;
        }
        if (at == text.length()) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 16).append(text, 0, at);
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (!isControl(c)) {
                out.append(c);
                continue;
            }
            switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> out.append("\\u%04x".formatted((int) c));
            }
        }
        return out.toString();
    }

    /** Of ASCII and Latin-1, other ends of lines, and what turns the direction of writing. */
    private static boolean isControl(char c) {
        return c < ' '
                || (c >= 0x7f && c < 0xa0)
                || c == 0x2028
                || c == 0x2029
                || (c >= 0x202a && c <= 0x202e)
                || (c >= 0x2066 && c <= 0x2069);
    }

    private static Set<Throwable> seen() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    private static boolean anyIsUnclean(@Nullable Throwable thrown) {
        return thrown != null && isUnclean(thrown, seen());
    }

    private static boolean isUnclean(Throwable t, Set<Throwable> seen) {
        if (!seen.add(t)) {
            return false;
        }
        String text = t.toString();
        if (!escaped(text).equals(text)) {
            return true;
        }
        for (Throwable s : t.getSuppressed()) {
            if (isUnclean(s, seen)) {
                return true;
            }
        }
        return t.getCause() != null && isUnclean(t.getCause(), seen);
    }

    /** Another exception as it is printed, without its control characters. */
    @SuppressWarnings("OverrideThrowableToString") // the other one's class is in its text
    private static final class Plain extends Throwable {
        private final String text;

        Plain(Throwable original, Set<Throwable> seen) {
            super(null, cause(original, seen), true, true);
            text = escaped(original.toString());
            setStackTrace(original.getStackTrace());
            for (Throwable s : original.getSuppressed()) {
                if (seen.add(s)) {
                    addSuppressed(new Plain(s, seen));
                }
            }
        }

        private static @Nullable Throwable cause(Throwable original, Set<Throwable> seen) {
            Throwable cause = original.getCause();
            return cause == null || !seen.add(cause) ? null : new Plain(cause, seen);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
