package io.warmpath.sim.demo;

import static io.warmpath.plot.Plain.plain;

import java.io.Console;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Optional;

/**
 * What people see of the demo: lines of at most 80 columns; on a terminal in colour, unless {@code
 * NO_COLOR} is set, and with progress that is rewritten in place. Any thread.
 */
final class Terminal {
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintStream out;
    private final boolean live;
    private final boolean colours;

    /** {@code live}: lines can be rewritten. */
    Terminal(PrintStream out, boolean live, boolean colours) {
        this.out = out;
        this.live = live;
        this.colours = colours;
    }

    /** Looks at what this process writes to. */
    static Terminal of(PrintStream out) {
        boolean live =
                Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent()
                        && !"dumb".equals(System.getenv().getOrDefault("TERM", "dumb"));
        return new Terminal(
                out, live, live && System.getenv().getOrDefault("NO_COLOR", "").isEmpty());
    }

    synchronized void say(String text, Object... args) {
        out.printf(Locale.ROOT, text + "%n", args);
        out.flush();
    }

    String good(String text) {
        return coloured("32", text);
    }

    String bad(String text) {
        return coloured("31", text);
    }

    private String coloured(String code, String text) {
        return colours ? "\u001b[" + code + "m" + text + "\u001b[m" : text;
    }

    /** Something that takes a while, of so many steps. */
    Progress progress(String what, int steps) {
        Progress progress = new Progress(what, steps);
        progress.begin();
        return progress;
    }

    /**
     * How far something is. On a terminal one line that changes, else a line at the start and one
     * with each quarter.
     */
    final class Progress {
        private final String what;
        private final int steps;
        private final long began = System.nanoTime();
        private int done;

        private Progress(String what, int steps) {
            this.what = what;
            this.steps = steps;
        }

        private void begin() {
            synchronized (Terminal.this) {
                out.print(live ? line() : what + " ...\n");
                out.flush();
            }
        }

        void step() {
            synchronized (Terminal.this) {
                done++;
                if (live) {
                    out.print(CLEAR_LINE + line() + (done == steps ? "\n" : ""));
                } else if (done == steps || done * 4 / steps > (done - 1) * 4 / steps) {
                    out.println(line());
                }
                out.flush();
            }
        }

        private String line() {
            return plain(
                    "%s: %d of %d, %.1f s", what, done, steps, (System.nanoTime() - began) / 1e9);
        }
    }
}
