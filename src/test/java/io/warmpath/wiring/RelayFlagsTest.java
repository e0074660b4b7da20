package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.config.NatsConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

class RelayFlagsTest {
    private static final String ENGINE = "tcp://127.0.0.1:5557";

    @Test
    void a_relay_means_the_worker_that_gateways_know_by_its_url() {
        RelayFlags f =
                RelayFlags.parse("--engine", ENGINE, "--worker=http://10.0.0.1:30000", "--bind");
        assertEquals(FleetRuntime.idOfUrl("http://10.0.0.1:30000"), f.workerId());
        assertTrue(f.engines().getFirst().bind());
        assertEquals(64L << 20, f.ringBytes());
        assertEquals(
                -1L,
                RelayFlags.parse("--engine", ENGINE, "--worker-id", "18446744073709551615")
                        .workerId());
    }

    @Test
    void ranks_count_ports_up() {
        RelayFlags f =
                RelayFlags.parse(
                        "--engine",
                        ENGINE,
                        "--replay",
                        "tcp://127.0.0.1:6000",
                        "--dp-size",
                        "3",
                        "--worker-id",
                        "1",
                        "--ring-size",
                        "1M");
        assertEquals(
                List.of("tcp://127.0.0.1:6000", "tcp://127.0.0.1:6001", "tcp://127.0.0.1:6002"),
                f.engines().stream().map(e -> e.replayEndpoint()).toList());
        assertNull(f.worker());
        assertEquals(1L << 20, f.ringBytes());
    }

    @Test
    void what_is_wrong_is_named_with_what_to_do() {
        says("--engine is missing", "--worker-id", "1");
        says("either --worker", "--engine", ENGINE);
        says("either --worker", "--engine", ENGINE, "--worker-id", "1", "--worker", "http://h:1");
        says("unknown flag --engin;", "--engin", ENGINE);
        says("--replay needs a value", "--engine", ENGINE, "--worker-id", "1", "--replay");
        says("not -1", "--engine", ENGINE, "--worker-id", "-1");
        says("from 1 to 1024", "--engine", ENGINE, "--worker-id", "1", "--dp-size", "0");
        says("from 64K on", "--engine", ENGINE, "--worker-id", "1", "--ring-size", "1K");
    }

    private static void says(String what, String... args) {
        String message =
                String.valueOf(
                        assertThrows(IllegalArgumentException.class, () -> RelayFlags.parse(args))
                                .getMessage());
        assertTrue(message.contains(what), message);
    }

    @Test
    void settings_come_from_the_gateways_keys() {
        NatsConfig config =
                RelayMain.config(Map.of("warmpath.nats.servers", "nats://a:1,nats://b:2"));
        try {
            assertEquals(List.of("nats://a:1", "nats://b:2"), config.servers());
            assertEquals("warmpath", config.namespace());
        } finally {
            System.clearProperty("warmpath.nats.servers");
        }
    }

    @Test
    void the_manifests_start_a_relay_that_knows_its_worker() throws IOException {
        Map<String, Object> manifest =
                new Yaml().load(Files.readString(Path.of("k8s/components/relay/relay.yaml")));
        List<String> containers =
                new ObjectMapper()
                        .valueToTree(manifest).findValues("args").stream()
                                .flatMap(args -> args.valueStream().map(JsonNode::asText))
                                .map(
                                        a ->
                                                a.replace("$(POD_IP)", "10.0.0.1")
                                                        .replace("$(ENGINE_PORT)", "30000"))
                                .toList();
        assertEquals("relay", containers.getFirst());
        RelayFlags flags =
                RelayFlags.parse(containers.subList(1, containers.size()).toArray(new String[0]));
        assertEquals("http://10.0.0.1:30000", flags.worker());
        assertEquals("tcp://127.0.0.1:5557", flags.engines().getFirst().endpoint());
        assertEquals("tcp://127.0.0.1:5573", flags.engines().getFirst().replayEndpoint());
        assertEquals("nats://nats:4222", flags.settings().get("warmpath.nats.servers"));
    }
}
