package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.api.ServerInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestedServersTest {
    private final TestedServers tested = new TestedServers();

    private Optional<String> older(String version) {
        return tested.older(
                new ServerInfo("INFO {\"server_id\":\"x\",\"version\":\"" + version + "\"}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"2.9.10", "2.15.1", "1.4.1", "2.2.0-beta.1"})
    void an_older_server_is_told_once_with_what_it_costs(String version) {
        String told = older(version).orElseThrow();
        assertTrue(told.startsWith("the server is " + version + "; 2.15.2 is the oldest"), told);
        assertTrue(told.contains("can cost all shared snapshots"), told);
        assertEquals(Optional.empty(), older(version), "another connection of this process");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2.15.2", "2.15.10", "2.16.0", "3.0.0"})
    void nothing_is_said_of_one_that_is_as_new(String version) {
        assertEquals(Optional.empty(), older(version));
    }

    @Test
    void the_version_that_tests_run_is_the_one_that_is_named() throws IOException {
        assertEquals("v" + TestedServers.OLDEST, NatsServer.wanted());
        assertTrue(
                Files.readString(Path.of("src/docs/how-to/nats.md"))
                        .contains("tested with is " + TestedServers.OLDEST + ","));
    }
}
