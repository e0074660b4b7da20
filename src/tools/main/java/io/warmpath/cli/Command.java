package io.warmpath.cli;

import java.util.Set;

/** One command: its flags, its help, what it does. Stateless. */
interface Command {
    /** Without what all commands have. */
    String help();

    /** Flags without a value. */
    default Set<String> switches() {
        return Set.of();
    }

    /** Flags with one. */
    default Set<String> valued() {
        return Set.of();
    }

    /** Fewest and most words beside flags. */
    default int fewestWords() {
        return 0;
    }

    default int mostWords() {
        return 0;
    }

    /**
     * Runs to its end.
     *
     * @return the exit code
     * @throws Trouble for what cannot be done; its sentence goes to standard error
     * @throws InterruptedException when the thread is told to stop
     */
    int run(Call call) throws Trouble, InterruptedException;
}
