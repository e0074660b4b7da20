package io.warmpath.lab;

import static io.warmpath.plot.Plain.plain;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** One line on the terminal: how much is done, and how long the rest will take. One thread. */
final class Progress {
    private static final int WIDTH = 24;

    private final @Nullable PrintStream to;
    private final LongSupplier nanoTime;
    private final long began;

    /** {@code to}: null: nothing is shown. {@code nanoTime}: as {@link System#nanoTime}. */
    Progress(@Nullable PrintStream to, LongSupplier nanoTime) {
        this.to = to;
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
    }

    /** {@code done}: of {@code all}; in whatever unit, as long as equal parts take equal time. */
    void show(double done, double all, String what) {
        if (to == null) {
            return;
        }
        double part = Math.min(1, done / all);
        double seconds = (nanoTime.getAsLong() - began) / 1e9;
        int filled = (int) (part * WIDTH);
        String left = part > 0 ? plain("%.0f s left", seconds / part - seconds) : "";
        to.printf(
                Locale.ROOT,
                "\r[%s%s] %3.0f %%  %-12s %-34.34s",
                "#".repeat(filled),
                " ".repeat(WIDTH - filled),
                100 * part,
                left,
                what);
        if (part >= 1) {
            to.printf("\r%-90s\r", "");
        }
        to.flush();
    }
}
