package io.warmpath.wiring;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Processes of our own classes, to be killed; what they log goes into a file. Stateless. */
final class JavaChild {
    private JavaChild() {}

    static Process start(Path log, Class<?> main, String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(log.toFile()).start();
    }

    /** Waits for a line; what comes behind it is thrown away. */
    static String said(Process of, String start, Path log) throws IOException {
        BufferedReader out = of.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(start)) {
                Thread.ofVirtual().start(() -> drain(out));
                return line;
            }
        }
        throw new IOException(log.getFileName() + " ended: " + log(log));
    }

    /** What it has logged, or why that cannot be read. */
    static String log(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void drain(BufferedReader out) {
        try {
            while (out.readLine() != null) {
                // Its log must not fill the pipe.
            }
        } catch (IOException e) {
            // It was killed.
        }
    }
}
