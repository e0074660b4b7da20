package io.warmpath.telemetry;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a line of the log knows by name: the parameter of a message that is made of it alone. Text
 * has {@code name=value} with blanks between, JSON each by its name, numbers as numbers. One
 * thread, until it is logged.
 */
final class LogFields {
    private final Map<String, Object> known = new LinkedHashMap<>();

    /** Nothing where the text is empty. A later value takes the place of an earlier one. */
    LogFields text(String name, String value) {
        if (!value.isEmpty()) {
            known.put(name, value);
        }
        return this;
    }

    /** Nothing below 0. */
    LogFields count(String name, long value) {
        if (value >= 0) {
            known.put(name, value);
        }
        return this;
    }

    /** To a thousandth. */
    LogFields millis(String name, long nanos) {
        known.put(name, Math.round(nanos / 1e3) / 1e3);
        return this;
    }

    /** Strings, longs and doubles, in their order. */
    Map<String, Object> known() {
        return known;
    }

    @Override
    public String toString() {
        return known.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(" "));
    }
}
