package io.warmpath.wiring.relay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.config.state.NatsConfig;
import io.warmpath.wiring.fleet.FleetRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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

    @Test
    void a_relay_registers_the_worker_whose_events_it_passes_on() {
        RelayFlags f =
                RelayFlags.parse(
                        "--engine",
                        ENGINE,
                        "--worker",
                        "http://10.0.0.1:30000",
                        "--register",
                        "--dp-size",
                        "2",
                        "--field",
                        "labels=zone=a,rack=7",
                        "--field=total_kv_blocks=900",
                        "--field",
                        "weight=2.5",
                        "--lease",
                        "1m");
        RelayRegistration r = f.registration();
        assertEquals(FleetRuntime.idOfUrl("http://10.0.0.1:30000"), f.workerId());
        assertEquals("http://10.0.0.1:30000", r.worker().url().toString());
        assertEquals(2, r.worker().dpSize());
        assertEquals(900, r.worker().capacity().kvBlocks());
        assertEquals(2.5, r.worker().weight());
        assertEquals(Map.of("zone", "a", "rack", "7"), r.worker().labels());
        assertEquals(Duration.ofMinutes(1), r.lease());

        RelayFlags named =
                RelayFlags.parse(
                        "--engine",
                        ENGINE,
                        "--worker",
                        "http://h:1",
                        "--worker-id",
                        "7",
                        "--register");
        assertEquals(7, named.workerId());
        assertEquals(7, named.registration().worker().id().orElseThrow());
        assertEquals(Duration.ofSeconds(10), named.registration().lease());
        assertEquals(0, named.registration().worker().dpSize(), "the engine is asked");
        assertNull(RelayFlags.parse("--engine", ENGINE, "--worker-id", "7").registration());
    }

    @Test
    void a_registration_that_cannot_be_is_told_before_the_start() {
        says("--register needs --worker", "--engine", ENGINE, "--register", "--worker-id", "1");
        says("need --register", "--engine", ENGINE, "--worker", "http://h:1", "--lease", "9s");
        String[] fields = {"weight", "weight=0", "url=http://h:2", "dp_size=3", "wait=3", "=1"};
        String[] reasons = {
            "KEY=VALUE", "from 0.01 to 100", "use --worker", "use --dp-size", "Unknown field", "KEY"
        };
        for (int i = 0; i < fields.length; i++) {
            says(
                    reasons[i],
                    "--engine",
                    ENGINE,
                    "--worker",
                    "http://h:1",
                    "--register",
                    "--field",
                    fields[i]);
        }
        for (String lease : new String[] {"0s", "11m", "soon"}) {
            says(
                    "--lease takes",
                    "--engine",
                    ENGINE,
                    "--worker",
                    "http://h:1",
                    "--register",
                    "--lease",
                    lease);
        }
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
