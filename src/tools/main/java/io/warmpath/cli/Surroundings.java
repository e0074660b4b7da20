package io.warmpath.cli;

import java.io.Console;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/**
 * What a command reads and writes, and what it knows of where it runs.
 *
 * @param terminal people read the output, on a screen that understands escape sequences
 * @param clock time of day
 * @param pause waits
 */
public record Surroundings(
        InputStream in,
        PrintStream out,
        PrintStream err,
        Map<String, String> environment,
        boolean terminal,
        InstantSource clock,
        Pause pause) {
    private static final int DEFAULT_COLUMNS = 80;
    private static final int DEFAULT_LINES = 24;
    static final int MIN_COLUMNS = 40;
    static final int MIN_LINES = 10;

    /** Waits for so long. */
    public interface Pause {
        void of(Duration time) throws InterruptedException;
    }

    /** Those of this process. */
    public static Surroundings ofProcess(InputStream in, PrintStream out, PrintStream err) {
        Map<String, String> environment = System.getenv();
        boolean terminal =
                Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent()
                        && !"dumb".equals(environment.getOrDefault("TERM", "dumb"));
        return new Surroundings(
                in, out, err, environment, terminal, Clock.systemUTC(), Thread::sleep);
    }

    boolean colours() {
        return terminal && variable("NO_COLOR").isEmpty();
    }

    /** Columns of the terminal, 40 or more. */
    int columns() {
        return Math.max(MIN_COLUMNS, number("COLUMNS", DEFAULT_COLUMNS));
    }

    /** Lines of the terminal, 10 or more. */
    int lines() {
        return Math.max(MIN_LINES, number("LINES", DEFAULT_LINES));
    }

    /** Empty when it is not set, or set to nothing. */
    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
    }

    private int number(String name, int unset) {
        return variable(name)
                .filter(value -> value.matches("[0-9]{1,4}"))
                .map(Integer::parseInt)
                .orElse(unset);
    }
}
