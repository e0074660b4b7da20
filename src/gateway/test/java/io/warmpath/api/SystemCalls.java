package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Counts the system calls of threads of this process, by their kernel names, with strace. One at a
 * time.
 */
final class SystemCalls implements AutoCloseable {
    /** Share of time, seconds, microseconds a call, calls, errors (none: nothing), name. */
    private static final Pattern ROW =
            Pattern.compile(
                    "\\s*[0-9.]+\\s+[0-9.]+\\s+[0-9]+\\s+([0-9]+)\\s+(?:[0-9]+\\s+)?(\\w+)");

    private final Process strace;
    private final Path summary;

    private SystemCalls(Process strace, Path summary) {
        this.strace = strace;
        this.summary = summary;
    }

    /** Aborts the test, saying so, where strace is not there or may not attach. */
    static SystemCalls ofThreads(String name) throws IOException {
        List<String> threads = threads(name);
        assertTrue(!threads.isEmpty(), "no thread is called " + name);
        Path summary = Files.createTempFile("calls", ".txt");
        List<String> command = new ArrayList<>(List.of("strace", "-c", "-o", summary.toString()));
        threads.forEach(id -> command.addAll(List.of("-p", id)));
        Process strace;
        try {
            strace = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw skipped("strace does not start: " + e.getMessage());
        }
        BufferedReader said = strace.inputReader();
        for (int attached = 0; attached < threads.size(); attached++) {
            String line = said.readLine();
            if (line == null || !line.contains("attached")) {
                strace.destroyForcibly();
                throw skipped("strace may not attach: " + line);
            }
        }
        return new SystemCalls(strace, summary);
    }

    private static RuntimeException skipped(String why) {
        System.err.println("SKIPPED: system calls are not counted; " + why);
        Assumptions.abort(why);
        return new IllegalStateException(why);
    }

    /** Detaches; calls by name. */
    Map<String, Long> end() throws IOException, InterruptedException {
        strace.destroy();
        strace.waitFor();
        Map<String, Long> calls = new TreeMap<>();
        for (String line : Files.readAllLines(summary)) {
            Matcher row = ROW.matcher(line);
            if (row.matches() && !row.group(2).equals("total")) {
                calls.put(row.group(2), Long.parseLong(row.group(1)));
            }
        }
        return calls;
    }

    private static List<String> threads(String name) throws IOException {
        List<String> ids = new ArrayList<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : tasks.toList()) {
                // Names are cut after 15 characters.
                if (name.startsWith(Files.readString(task.resolve("comm")).strip())) {
                    ids.add(task.getFileName().toString());
                }
            }
        }
        return ids;
    }

    @Override
    public void close() throws IOException {
        strace.destroyForcibly();
        Files.delete(summary);
    }
}
