package io.warmpath.adapter.nats;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * A real nats-server with JetStream, as a process of its own: on a free port, with its files in a
 * given directory. It can be killed and started again on the same port and files.
 *
 * <p>{@code ./warmpath test} builds the program, of the version that {@code toolchain.sh} names,
 * and no other is used: what an older server of this machine does would pass for a fault of ours.
 * Where it is missing the test is skipped and says so. One thread.
 */
public final class NatsServer implements AutoCloseable {
    private static final String WANTED = "NATS_SERVER_WANTED=";
    private static final Pattern LISTENING =
            Pattern.compile("Listening for client connections on [^ ]*:(\\d+)");

    private final String program;
    private final Path store;
    private final String more;
    private int port = -1;
    private Process process;
    private final StringBuilder said = new StringBuilder(); // guarded by itself

    private NatsServer(String program, Path store, String more) {
        this.program = program;
        this.store = store;
        this.more = more;
    }

    /** Ready when this returns. */
    public static NatsServer start(Path store) throws IOException {
        return start(store, "");
    }

    /**
     * Ready when this returns.
     *
     * @param store for its files
     * @param more lines of configuration, such as {@code max_payload: 64KB}
     */
    public static NatsServer start(Path store, String more) throws IOException {
        Optional<String> program = program();
        if (program.isEmpty()) {
            String why =
                    "SKIPPED: no nats-server "
                            + wanted()
                            + " in .tools/nats; ./warmpath test builds it";
            System.err.println(why);
            Assumptions.abort(why);
        }
        NatsServer server = new NatsServer(program.orElseThrow(), store, more);
        server.restart();
        return server;
    }

    /** The same, on a port that clients have been told before. */
    public static NatsServer start(Path store, int port) throws IOException {
        NatsServer server = new NatsServer(program().orElseThrow(), store, "");
        server.port = port;
        server.restart();
        return server;
    }

    /** Whether there is a program to start. */
    public static boolean installed() {
        return program().isPresent();
    }

    private static Optional<String> program() {
        Path program = Path.of(".tools/nats/nats-server").toAbsolutePath();
        return Files.isExecutable(program) && version(program).equals(wanted())
                ? Optional.of(program.toString())
                : Optional.empty();
    }

    /** The version that tests run: that of the one place which installs it. */
    static String wanted() {
        try (Stream<String> lines = Files.lines(Path.of("src/main/sh/toolchain.sh"))) {
            return lines.filter(l -> l.startsWith(WANTED))
                    .map(l -> l.substring(WANTED.length()))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As {@code v2.15.2}. */
    private static String version(Path program) {
        try {
            Process asked = new ProcessBuilder(program.toString(), "--version").start();
            String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return said.strip().replaceFirst("^nats-server: ", "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** For clients, also while it is down. */
    public String url() {
        return "nats://127.0.0.1:" + port;
    }

    /** What a client needs. */
    public NatsOptions options() {
        return NatsOptions.of(url());
    }

    /** Of the process that runs now. */
    public long pid() {
        return process.pid();
    }

    public boolean running() {
        return process != null && process.isAlive();
    }

    /** kill -9. */
    public void kill() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
    }

    /** After {@link #kill}: the same port, the same files. Ready when this returns. */
    public void restart() throws IOException {
        Files.createDirectories(store);
        Path config = store.resolve("server.conf");
        Files.writeString(
                config,
                """
                listen: "127.0.0.1:%d"
                jetstream { store_dir: "%s" }
                %s
                """
                        .formatted(port, store.toAbsolutePath(), more));
        process =
                new ProcessBuilder(List.of(program, "-c", config.toString()))
                        .redirectErrorStream(true)
                        .start();
        BufferedReader out = process.inputReader();
        while (true) {
            String line = out.readLine();
            if (line == null) {
                throw new IllegalStateException("nats-server ended at once:\n" + said());
            }
            keep(line);
            Matcher listening = LISTENING.matcher(line);
            if (listening.find()) {
                port = Integer.parseInt(listening.group(1));
            }
            if (line.contains("Server is ready")) {
                break;
            }
        }
        Thread.ofVirtual().start(() -> keepAll(out));
    }

    private void keepAll(BufferedReader out) {
        try {
            out.lines().forEach(this::keep);
        } catch (UncheckedIOException e) {
            keep("(killed)"); // the JDK closes the pipe with it
        }
    }

    private void keep(String line) {
        synchronized (said) {
            said.append(line).append('\n');
        }
    }

    /** All that it has written, for messages. */
    public String said() {
        synchronized (said) {
            return said.toString();
        }
    }

    /** SIGSTOP: connections stay, nobody answers. */
    public void pause() throws IOException {
        signal("-STOP");
    }

    /** SIGCONT. */
    public void resume() throws IOException {
        signal("-CONT");
    }

    private void signal(String name) throws IOException {
        Process kill = new ProcessBuilder("kill", name, Long.toString(process.pid())).start();
        if (kill.onExit().join().exitValue() != 0) {
            throw new IOException("kill " + name + " failed");
        }
    }

    @Override
    public void close() {
        kill();
    }
}
