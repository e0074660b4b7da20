package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** An example engine of a publisher kit as a process: lines in, lines out. One thread. */
final class KitEngine implements AutoCloseable {
    private final Process process;
    private final Writer in;
    private final BufferedReader out;
    private final int port;
    private final int replayPort;

    KitEngine(List<String> command, String... flags) throws IOException {
        List<String> all = new ArrayList<>(command);
        all.addAll(Arrays.asList(flags));
        process = new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        in = process.outputWriter(StandardCharsets.UTF_8);
        out = process.inputReader(StandardCharsets.UTF_8);
        String[] ready = read().split(" ", -1);
        assertEquals("ready", ready[0]);
        port = Integer.parseInt(ready[1]);
        replayPort = Integer.parseInt(ready[2]);
    }

    String endpoint() {
        return "tcp://127.0.0.1:" + port;
    }

    String replayEndpoint() {
        return "tcp://127.0.0.1:" + replayPort;
    }

    /** Blocks that the engine found in its cache. */
    int prompt(int[] tokens) {
        return (int)
                number(
                        ask(
                                Arrays.stream(tokens)
                                        .mapToObj(Integer::toString)
                                        .collect(Collectors.joining(" "))),
                        "cached");
    }

    void clear() {
        assertEquals("cleared", ask("clear"));
    }

    /** Batches that were dropped since the beginning. */
    long burst(int prompts) {
        return number(ask("burst " + prompts), "dropped");
    }

    long stat(String name) {
        return number(ask("stats"), name);
    }

    /** Lets it send what is left, and end. */
    void quit() throws InterruptedException {
        write("quit");
        assertTrue(process.waitFor(20, TimeUnit.SECONDS), "it does not end");
        assertEquals(0, process.exitValue());
    }

    private String ask(String line) {
        write(line);
        return read();
    }

    private void write(String line) {
        try {
            in.write(line + "\n");
            in.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("the engine has ended", e);
        }
    }

    private String read() {
        try {
            String line = out.readLine();
            if (line == null) {
                throw new IllegalStateException("the engine has ended");
            }
            return line;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code cached 3 computed 1} and {@code computed} give 1. */
    private static long number(String line, String name) {
        List<String> words = Arrays.asList(line.split(" ", -1));
        int at = words.indexOf(name);
        assertTrue(at >= 0, line);
        return Long.parseLong(words.get(at + 1));
    }

    /** Ends it without a word, as {@code kill -9} does. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
