package io.warmpath.wiring.warmup;

import io.quarkus.runtime.Quarkus;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

/**
 * One life of the gateway for the JVM to watch: start, some hundred requests over its real port,
 * end. What the JVM learns (-XX:AOTCacheOutput) makes later starts short. Once per process.
 */
public final class Training {
    private static final String MODEL = "any";
    private static final int REQUESTS = 400;
    private static final Duration VISIT = Duration.ofSeconds(30);

    /** A start without a cache, on a machine that does other things too. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final long PAUSE_MILLIS = 20;
    private static final int FAILED = 1;

    private Training() {}

    /**
     * @param serve runs the command {@code serve} with these flags, until the runtime is told to
     *     exit
     * @return 0 when every request was answered
     */
    public static int run(ToIntFunction<String[]> serve, PrintStream err) {
        List<Path> files = List.of();
        try (FakeEngine engine = new FakeEngine(MODEL)) {
            files = tokenizer();
            int port = freePort();
            AtomicInteger answered = new AtomicInteger();
            Thread visits =
                    Thread.ofPlatform()
                            .daemon()
                            .name("training")
                            .start(
                                    () -> {
                                        answered.set(visit(port, err));
                                        Quarkus.asyncExit(0);
                                    });
            int code =
                    serve.applyAsInt(
                            new String[] {
                                "--http-host", "127.0.0.1",
                                "--http-port", String.valueOf(port),
                                "--worker", engine.url().toString(),
                                "--tokenizer", files.getFirst().toString()
                            });
            visits.interrupt();
            return answered.get() == REQUESTS ? code : FAILED;
        } catch (IOException e) {
            err.println("warmpath train: " + e);
            return FAILED;
        } finally {
            delete(files, err);
        }
    }

    /** Until the gateway listens and has learnt its worker, the first request is refused. */
    private static int visit(int port, PrintStream err) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try (Visitor visitor = new Visitor(MODEL)) {
                return visitor.visit(port, REQUESTS, VISIT);
            } catch (IOException e) {
                if (System.nanoTime() - end > 0) {
                    err.println("warmpath train: the gateway does not answer: " + e);
                    return 0;
                }
            }
            try {
                Thread.sleep(PAUSE_MILLIS);
            } catch (InterruptedException e) {
                return 0; // the gateway has ended by itself, and said why
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    /** The demo's tokenizer as files: the tokenizer's file, its settings, their folder. */
    private static List<Path> tokenizer() throws IOException {
        Path folder = Files.createTempDirectory("warmpath-training");
        Path file = folder.resolve("tokenizer.json");
        Path settings = folder.resolve("tokenizer_config.json");
        for (Path to : List.of(file, settings)) {
            String name = "/demo-model/" + to.getFileName();
            try (InputStream in = Training.class.getResourceAsStream(name)) {
                if (in == null) {
                    throw new FileNotFoundException(name + " is not in the jar");
                }
                Files.copy(in, to);
            }
        }
        return List.of(file, settings, folder);
    }

    private static void delete(List<Path> files, PrintStream err) {
        for (Path file : files) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                err.println("warmpath train: " + file + " stays behind: " + e);
            }
        }
    }
}
