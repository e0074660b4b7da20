package io.warmpath.adapter.mooncake;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/**
 * A real {@code mooncake_master} and a real store client that writes to it, from the Python package
 * that {@code ./warmpath test} installs into {@code .tools/mooncake}.
 */
public final class RealMaster implements AutoCloseable {
    private static final Path HOME =
            Path.of(System.getProperty("warmpath.mooncake", ".tools/mooncake")).toAbsolutePath();
    private static final Path PYTHON = HOME.resolve("bin/python");
    private static final Path PROGRAM = HOME.resolve("bin/mooncake_master");
    private static final Path WRITER =
            Path.of("src/test/python/mooncake/pool_writer.py").toAbsolutePath();
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Keys written in one line, so that no pipe fills up. */
    private static final int KEYS_A_LINE = 2000;

    private final Process master;
    private final Process writer;
    private final BufferedWriter toWriter;
    private final BufferedReader fromWriter;
    private final int adminPort;

    private RealMaster(Path logs, long segmentBytes) throws IOException {
        int rpcPort = freePort();
        adminPort = freePort();
        master =
                new ProcessBuilder(
                                PROGRAM.toString(),
                                "--rpc_address",
                                "127.0.0.1",
                                "--rpc_port",
                                Integer.toString(rpcPort),
                                "--metrics_host",
                                "127.0.0.1",
                                "--metrics_port",
                                Integer.toString(adminPort),
                                "--logtostderr")
                        .redirectErrorStream(true)
                        .redirectOutput(logs.resolve("mooncake-master.log").toFile())
                        .start();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(this::ready);
        writer =
                new ProcessBuilder(
                                PYTHON.toString(),
                                WRITER.toString(),
                                "127.0.0.1:" + rpcPort,
                                Long.toString(segmentBytes))
                        .redirectError(logs.resolve("mooncake-writer.log").toFile())
                        .start();
        toWriter = writer.outputWriter(StandardCharsets.UTF_8);
        fromWriter = writer.inputReader(StandardCharsets.UTF_8);
        told("the store client did not start; its log is " + logs);
    }

    /**
     * Skips the test, and says so, where the package is not installed.
     *
     * @param logs folder for the logs of both processes
     */
    public static RealMaster start(Path logs, long segmentBytes) {
        boolean there = Files.exists(HOME.resolve("installed")); // written when it runs
        if (!there) {
            String why =
                    "NO REAL MOONCAKE MASTER: "
                            + HOME
                            + " has none, so only recorded answers are tested."
                            + " ./warmpath test installs it where pip reaches a package index.";
            System.err.println(why);
            Assumptions.abort(why);
        }
        try {
            return new RealMaster(logs, segmentBytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private boolean ready() throws InterruptedException {
        if (!master.isAlive()) {
            throw new IllegalStateException("mooncake_master ended with " + master.exitValue());
        }
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> health =
                    http.send(
                            HttpRequest.newBuilder(url().resolve("/health")).build(),
                            HttpResponse.BodyHandlers.ofString());
            return health.body().contains("\"service_ready\":true");
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    /** Of the admin port. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + adminPort);
    }

    /** Writes an object under each key; all are readable when this returns. */
    public void put(Collection<String> keys, int bytes) {
        tell("put", keys, bytes);
    }

    public void remove(Collection<String> keys) {
        tell("remove", keys, 0);
    }

    private void tell(String what, Collection<String> keys, int bytes) {
        List<String> all = new ArrayList<>(keys);
        for (int from = 0; from < all.size(); from += KEYS_A_LINE) {
            List<String> part = all.subList(from, Math.min(all.size(), from + KEYS_A_LINE));
            try {
                toWriter.write(JSON.writeValueAsString(Map.of(what, part, "bytes", bytes)));
                toWriter.newLine();
                toWriter.flush();
                String done = told("the store client ended");
                if (!done.equals("@@ " + part.size())) {
                    throw new IllegalStateException(what + " of " + part.size() + ": " + done);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The writer's next answer; the library beneath it writes lines of its own. */
    private String told(String otherwise) throws IOException {
        for (String line = fromWriter.readLine(); line != null; line = fromWriter.readLine()) {
            if (line.startsWith("@@ ")) {
                return line;
            }
        }
        throw new IOException(otherwise);
    }

    /** The master is gone at once, the pool with it. */
    public void kill() {
        master.destroyForcibly();
    }

    @Override
    public void close() {
        writer.destroyForcibly();
        master.destroyForcibly();
        try {
            if (!master.waitFor(10, TimeUnit.SECONDS) || !writer.waitFor(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("mooncake processes did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
