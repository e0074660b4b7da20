package io.warmpath.wiring.settings;

/** Exit codes of the gateway's commands, beside 0. */
public final class ExitCode {
    /** What the command line or the configuration got wrong. */
    public static final int USAGE = 2;

    /** The command could not do its work. */
    public static final int FAILED = 1;

    private ExitCode() {}
}
