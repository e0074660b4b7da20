package io.warmpath.wiring.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.wiring.Logs;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigReloadTest {
    @TempDir Path directory;

    private final Vertx vertx = Vertx.vertx();
    private final List<Map<String, WorkerSpec>> told = new ArrayList<>();

    /** Writes down what it is told. */
    private final FleetSource.Feed feed =
            new FleetSource.Feed() {
                @Override
                public void put(String key, WorkerSpec spec) {
                    throw new AssertionError("one by one");
                }

                @Override
                public void hold(String key, String why) {
                    throw new UnsupportedOperationException("not used by this source");
                }

                @Override
                public void drain(String key, String why) {
                    throw new AssertionError("one by one");
                }

                @Override
                public void remove(String key) {
                    throw new AssertionError("one by one");
                }

                @Override
                public void replace(Map<String, WorkerSpec> all) {
                    told.add(all);
                }
            };

    @AfterEach
    void stop() {
        System.clearProperty("warmpath.config-file");
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void a_changed_file_is_taken_up_whole_and_a_bad_one_not_at_all() throws Exception {
        Path file = directory.resolve("warmpath.yaml");
        System.setProperty("warmpath.config-file", file.toString());
        ConfigReload reload =
                new ConfigReload(vertx, file, ConfigReload::workers, Duration.ofSeconds(1));
        String good =
                """
                warmpath:
                  workers:
                    - url: http://a:1
                      name: x
                      labels: zone=b,rack=7
                    - url: http://b:1
                """;
        Files.writeString(file, good);
        Logs logs = new Logs(ConfigReload.class);
        try {
            reload.look(feed);
            reload.look(feed);
            assertEquals(1, told.size(), () -> "told once: " + logs.at(Level.WARNING));
            assertEquals(
                    new TreeSet<>(List.of("http://a:1", "http://b:1")),
                    new TreeSet<>(told.get(0).keySet()));
            assertEquals(Map.of("zone", "b", "rack", "7"), told.get(0).get("http://a:1").labels());
            for (String bad :
                    List.of(
                            "",
                            "warmpath:\n  workers: [",
                            good + "      block-size: many\n",
                            good + "      no-such-key: 1\n",
                            good + "      name: x\n",
                            good + "    - url: ftp://c\n")) {
                Files.writeString(file, bad);
                reload.look(feed);
                reload.look(feed);
                assertEquals(1, told.size(), bad);
            }
            Files.delete(file);
            reload.look(feed);
            reload.look(feed);
            assertEquals(1, told.size());
            List<String> warnings = logs.at(Level.WARNING);
            assertEquals(7, warnings.size(), warnings.toString());

            Files.writeString(file, good.replace("http://b:1", "http://c:1"));
            reload.look(feed);
            assertEquals(2, told.size());
            assertTrue(told.get(1).containsKey("http://c:1"));
        } finally {
            logs.close();
        }
        reload.close();
    }

    /** As Java's file systems say it. */
    private static UncheckedIOException noFiles(Path file) {
        return new UncheckedIOException(
                new FileSystemException(file.toString(), null, "Too many open files"));
    }

    @Test
    void a_file_that_cannot_be_opened_for_lack_of_files_is_not_to_blame_and_read_again()
            throws Exception {
        Path file = directory.resolve("warmpath.yaml");
        List<WorkerSpec> workers = List.of(WorkerSpec.of("http://a:1"));
        boolean[] lacking = {true};
        ConfigReload reload =
                new ConfigReload(
                        vertx,
                        file,
                        () -> {
                            if (lacking[0]) {
                                throw noFiles(file);
                            }
                            return workers;
                        },
                        Duration.ofSeconds(1));
        Files.writeString(file, "warmpath:\n  workers:\n    - url: http://a:1\n");
        Logs logs = new Logs(ConfigReload.class);
        try {
            reload.look(feed);
            reload.look(feed);
            assertEquals(0, told.size());
            List<String> warnings = logs.at(Level.WARNING);
            assertEquals(1, warnings.size(), warnings.toString());
            assertTrue(
                    warnings.getFirst().contains("no more files may be open"), warnings::toString);
            lacking[0] = false;
            reload.look(feed); // the file has not changed meanwhile
            assertEquals(1, told.size());
        } finally {
            logs.close();
        }
        reload.close();
    }
}
