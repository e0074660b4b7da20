package io.warmpath.wiring;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A small Java process of a test's own, to be killed. What it logs stands in a file. One thread.
 */
final class ChildJvm {
    private final Process process;
    private final Path log;
    private final String said;

    private ChildJvm(Process process, Path log, String said) {
        this.process = process;
        this.log = log;
        this.said = said;
    }

    /**
     * Waits until the process has said something that starts so.
     *
     * @param log overwritten
     * @throws IOException when it ends before; with what it has logged
     */
    static ChildJvm start(Path log, String until, Class<?> main, List<String> arguments)
            throws IOException {
        return start(log, ProcessBuilder.Redirect.to(log.toFile()), until, main, arguments);
    }

    /** The same, with a log that goes on where that of the process before it ended. */
    static ChildJvm again(Path log, String until, Class<?> main, List<String> arguments)
            throws IOException {
        return start(log, ProcessBuilder.Redirect.appendTo(log.toFile()), until, main, arguments);
    }

    /** The same, with so many files and sockets that it may have open. */
    static ChildJvm limited(
            int files, Path log, String until, Class<?> main, List<String> arguments)
            throws IOException {
        return start(
                List.of("sh", "-c", "ulimit -n " + files + " && exec \"$@\"", "sh"),
                log,
                ProcessBuilder.Redirect.to(log.toFile()),
                until,
                main,
                arguments);
    }

    private static ChildJvm start(
            Path log,
            ProcessBuilder.Redirect to,
            String until,
            Class<?> main,
            List<String> arguments)
            throws IOException {
        return start(List.of(), log, to, until, main, arguments);
    }

    private static ChildJvm start(
            List<String> by,
            Path log,
            ProcessBuilder.Redirect to,
            String until,
            Class<?> main,
            List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(by);
        command.addAll(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectError(to).start();
        BufferedReader out = process.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(until)) {
                Thread.ofVirtual().start(() -> drain(out));
                return new ChildJvm(process, log, line);
            }
        }
        throw new IOException(
                main.getSimpleName() + " ended before it said " + until + ":\n" + text(log));
    }

    /** Its output must not fill the pipe. */
    private static void drain(BufferedReader out) {
        try {
            while (out.readLine() != null) {
                // Nobody reads more of it.
            }
        } catch (IOException e) {
            // It was killed.
        }
    }

    /** The line that was waited for. */
    String said() {
        return said;
    }

    Process process() {
        return process;
    }

    String log() {
        return text(log);
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** kill -9; it has ended when this returns. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** Stands still, or goes on. */
    void signal(String name) {
        try {
            int rc =
                    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                            .start()
                            .waitFor();
            if (rc != 0) {
                throw new IllegalStateException("kill -" + name + ": " + rc);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
