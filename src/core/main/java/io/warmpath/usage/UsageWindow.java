package io.warmpath.usage;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * A time up to now. It begins with a step, so that it is as long as its name says and at most one
 * step longer.
 */
public enum UsageWindow {
    MINUTES_5("5m", 30_000, 10),
    HOUR("1h", 300_000, 12),
    DAY("24h", 3_600_000, 24),
    /** Since the gateway started. */
    TOTAL("total", 0, 0);

    private final String word;
    final long stepMillis;

    /** Full steps before the one that runs. */
    final int before;

    UsageWindow(String word, long stepMillis, int before) {
        this.word = word;
        this.stepMillis = stepMillis;
        this.before = before;
    }

    /** As clients write it. */
    public String word() {
        return word;
    }

    public static Optional<UsageWindow> of(String word) {
        return Stream.of(values()).filter(w -> w.word.equals(word)).findFirst();
    }
}
