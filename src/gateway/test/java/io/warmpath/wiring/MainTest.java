package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.access.KeyHash;
import io.warmpath.wiring.settings.ExitCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator sees before anything has started. */
class MainTest {
    @TempDir Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @AfterEach
    void forgetFlags() {
        System.getProperties().stringPropertyNames().stream()
                .filter(p -> p.startsWith("warmpath."))
                .forEach(System::clearProperty);
    }

    private int run(String... args) {
        return Main.run(
                args,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private String yaml(String text) throws IOException {
        Path file = folder.resolve("g.yaml");
        Files.writeString(file, text);
        return file.toString();
    }

    @Test
    void the_version_is_that_of_the_build() throws IOException {
        assertEquals(0, run("--version"));
        assertTrue(
                out().matches(
                                "warmpath [0-9.]+ \\(commit [a-z0-9]+, index ABI [0-9]+, JVM 25[^)]*\\)\n"),
                out());
        assertTrue(out().startsWith("warmpath " + Main.VERSION + " "), out());
        assertTrue(
                Files.readString(Path.of("pom.xml"))
                        .contains(
                                "<artifactId>warmpath</artifactId>\n  <version>"
                                        + Main.VERSION
                                        + "</version>"));
    }

    @Test
    void help_names_every_command() {
        assertEquals(0, run());
        for (String command : new String[] {"serve", "relay", "key", "help"}) {
            assertTrue(out().contains("\n  " + command + " "), command);
        }
    }

    @Test
    void an_unknown_command_is_refused() {
        assertEquals(2, run("server"));
        assertEquals("warmpath: unknown command `server`; try `warmpath help`.\n", err());
    }

    @Test
    void serve_help_starts_nothing() {
        assertEquals(0, run("serve", "--http-port", "x", "--help"));
        assertTrue(out().startsWith("usage: warmpath serve"), out());
    }

    @Test
    void serve_help_tells_of_a_group_and_refuses_what_is_none() {
        assertEquals(0, run("serve", "--help", "http"));
        assertTrue(out().contains("\n  --http-port, --port\n"), out());
        assertEquals(2, run("serve", "--help", "nothing-like-it"));
        assertTrue(
                err().startsWith("warmpath serve: There is no help on `nothing-like-it`."), err());
    }

    @Test
    void an_unknown_flag_stops_the_start() {
        assertEquals(2, run("serve", "--http-prot", "1"));
        assertEquals(
                "warmpath serve: Unknown flag --http-prot. Did you mean --http-port?"
                        + " `serve --help all` lists all of them.\n",
                err());
    }

    @Test
    void a_value_out_of_range_in_the_file_stops_the_start() throws IOException {
        String file = yaml("warmpath:\n  router:\n    host-cache-hit-weight: 2\n");
        assertEquals(2, run("serve", "--config", file));
        assertEquals(
                "warmpath serve: warmpath.router.host-cache-hit-weight = 2 (from "
                        + file
                        + ") must be a number from 0 to 1.\n",
                err());
    }

    @Test
    void a_misspelt_key_of_the_file_stops_the_start_and_is_told_with_the_nearest_one()
            throws IOException {
        String file = yaml("routing:\n  policy: vllm_cache_aware\n  vllm_cache_awar:\n    x: 1\n");
        assertEquals(2, run("serve", "--config", file));
        assertTrue(
                err().startsWith(
                                "warmpath serve: routing.vllm_cache_awar.x (from "
                                        + file
                                        + ") is not a known key."),
                err());
        String sound = yaml("routing:\n  policy: vllm_cache_aware\n");
        err.reset();
        assertEquals(2, run("serve", "--config", sound, "--worker", "localhost:8001"));
        assertTrue(err().startsWith("warmpath serve: warmpath.worker-urls"), err());
    }

    @Test
    void an_address_that_is_taken_is_named_with_its_port() {
        PrintStream to = new PrintStream(err, true, StandardCharsets.UTF_8);
        Serve.explain(
                new IllegalStateException(
                        new IOException("bind(..) failed with error(-98): Address already in use")),
                "0.0.0.0:8123",
                to);
        assertTrue(
                err().startsWith("warmpath serve: cannot listen on 0.0.0.0:8123 (bind(..) failed"),
                err());
    }

    @Test
    void a_worker_that_makes_no_sense_stops_the_start() {
        assertEquals(2, run("serve", "--worker", "localhost:8001"));
        assertEquals(
                "warmpath serve: warmpath.worker-urls (--worker, --workers): worker URL"
                        + " `localhost:8001` has no scheme: write `http://localhost:8001`.\n",
                err());
    }

    @Test
    void a_worker_without_url_stops_the_start() throws IOException {
        String file = yaml("warmpath:\n  workers:\n    - name: a\n");
        assertEquals(2, run("serve", "--config", file));
        assertEquals("warmpath serve: warmpath.workers[0].url is missing.\n", err());
    }

    /** An entry without a value for each of its keys once ended the start with a stack trace. */
    @Test
    void a_model_in_the_file_needs_no_more_than_its_files() throws IOException {
        String file = yaml("warmpath:\n  models:\n    demo:\n      path: /models/demo\n");
        assertEquals(2, run("serve", "--config", file, "--worker", "localhost:8001"));
        assertTrue(
                err().startsWith("warmpath serve: warmpath.worker-urls (--worker, --workers)"),
                err());
    }

    @Test
    void a_file_that_is_not_there_stops_the_start() {
        assertEquals(2, run("serve", "--config", "/nowhere/g.yaml"));
        assertEquals(
                "warmpath serve: the file /nowhere/g.yaml (--config) cannot be read.\n", err());
    }

    @Test
    void a_file_that_is_not_yaml_stops_the_start() throws IOException {
        String file = yaml("warmpath: [");
        assertEquals(2, run("serve", "--config", file));
        assertTrue(err().startsWith("warmpath serve: " + file + " is not valid YAML"), err());
    }

    @Test
    void a_new_key_and_its_hash_belong_together() {
        assertEquals(0, run("key", "new", "team"));
        String key = out().lines().findFirst().orElseThrow().replace("key: ", "");
        assertTrue(key.length() >= 46 && key.startsWith("wp-"), key);
        String hex = KeyHash.of(key).hex();
        assertTrue(out().contains("  - name: \"team\"\n    sha256: " + hex + "\n"), this::out);
        String first = out();
        out.reset();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        byte[] typed = (key + "\n").getBytes(StandardCharsets.UTF_8);
        KeyMain.run(new String[] {"hash", "team"}, new ByteArrayInputStream(typed), stream, stream);
        assertEquals(first.substring(first.indexOf('\n') + 1), out());
    }

    @Test
    void a_key_that_can_be_guessed_is_not_hashed() {
        PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
        byte[] typed = "password\n".getBytes(StandardCharsets.UTF_8);
        assertEquals(
                2,
                KeyMain.run(
                        new String[] {"hash"}, new ByteArrayInputStream(typed), stream, stream));
        assertTrue(err().contains("warmpath key new"), this::err);
    }

    @Test
    void a_certificate_without_its_key_stops_the_start() {
        assertEquals(ExitCode.USAGE, run("serve", "--tls-cert-path", "own.crt"));
        assertTrue(err().contains("--tls-key-path"), this::err);
    }
}
