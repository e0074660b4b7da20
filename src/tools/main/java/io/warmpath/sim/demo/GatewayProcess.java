package io.warmpath.sim.demo;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The gateway as a child process. One thread, but for {@link #close}. */
final class GatewayProcess implements AutoCloseable {
    private static final String COMMAND = "WARMPATH_SERVE_COMMAND";

    /** Properties of the demo; the gateway refuses settings that it does not know. */
    private static final String OWN = "warmpath.demo.";

    /** The gateway's jar. */
    private static final String JAR = OWN + "gateway";

    /** The AOT cache that fits it and the options of this JVM. */
    private static final String AOT_CACHE = OWN + "aot-cache";

    private static final int TAIL_LINES = 15;
    private static final long STOP_SECONDS = 10;

    private final Process process;
    private final Path log;
    private final URI url;

    /** The child must not outlive the demo, whoever stops it. */
    private final Thread lastStop = new Thread(this::stop, "stop-gateway");

    private GatewayProcess(Process process, Path log, URI url) {
        this.process = process;
        this.log = log;
        this.url = url;
        Runtime.getRuntime().addShutdownHook(lastStop);
    }

    /**
     * Starts {@code serve}; does not wait until it is ready.
     *
     * @param flags beside those that say where it listens and who its workers are
     * @param settings environment of the gateway, beside this process's
     * @param log file for everything it prints
     */
    static GatewayProcess start(
            int port, List<String> flags, List<URI> workers, Map<String, String> settings, Path log)
            throws DemoFailure {
        List<String> command = new ArrayList<>(serveCommand());
        command.addAll(List.of("--http-host", "127.0.0.1", "--http-port", String.valueOf(port)));
        command.addAll(flags);
        for (URI worker : workers) {
            command.addAll(List.of("--worker", worker.toString()));
        }
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(log.toFile());
            // Meant for the demo; the gateway refuses settings that it does not know.
            builder.environment().remove(COMMAND);
            builder.environment().putAll(settings);
            Process process = builder.start();
            return new GatewayProcess(process, log, URI.create("http://127.0.0.1:" + port));
        } catch (IOException e) {
            throw new DemoFailure(
                    "cannot start the gateway with `" + String.join(" ", command) + "`", e);
        }
    }

    URI url() {
        return url;
    }

    Path log() {
        return log;
    }

    /** Fails, showing the end of the log, when the child has ended. */
    void checkAlive() throws DemoFailure {
        if (!process.isAlive()) {
            throw new DemoFailure(
                    "the gateway ended with code " + process.exitValue() + ":\n" + tail());
        }
    }

    /** The last lines it printed. */
    String tail() {
        try {
            List<String> lines = Files.readAllLines(log);
            int from = Math.max(0, lines.size() - TAIL_LINES);
            return "  " + String.join("\n  ", lines.subList(from, lines.size()));
        } catch (IOException e) {
            return "  (its log " + log + " cannot be read: " + e.getMessage() + ")";
        }
    }

    /** Blocks until the child ends. */
    void await() throws InterruptedException {
        process.waitFor();
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(lastStop);
        } catch (IllegalStateException e) {
            return; // the process is ending: the hook is at work
        }
        stop();
    }

    private void stop() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** {@code serve} of the jar that the launcher names, unless told otherwise. */
    private static List<String> serveCommand() throws DemoFailure {
        String configured = System.getProperty("warmpath.serve.command");
        if (configured == null) {
            configured = System.getenv(COMMAND);
        }
        if (configured != null && !configured.isBlank()) {
            return List.of(configured.strip().split("\\s+"));
        }
        String jar = System.getProperty(JAR, "");
        if (!Files.isRegularFile(Path.of(jar))) {
            throw new DemoFailure(
                    "the demo does not know how to start the gateway; use ./warmpath demo, or set"
                            + " WARMPATH_SERVE_COMMAND to the command that ends in `serve`");
        }
        List<String> command = new ArrayList<>();
        command.add(
                ProcessHandle.current()
                        .info()
                        .command()
                        .orElse(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-D" + OWN))
                .forEach(command::add);
        String cache = System.getProperty(AOT_CACHE);
        if (cache != null) {
            command.add("-XX:AOTCache=" + cache);
        }
        command.addAll(List.of("-jar", jar, "serve"));
        return command;
    }
}
