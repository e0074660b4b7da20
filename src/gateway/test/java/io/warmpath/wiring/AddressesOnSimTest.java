package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.address.AddressRules;
import io.warmpath.sim.SimOptions;
import io.warmpath.wiring.settings.StartFailure;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A running gateway does not go where somebody outside its configuration sends it. */
class AddressesOnSimTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static double refused(SimGateway gateway, String at) {
        return gateway.meters
                .get("warmpath.addresses.refused")
                .tag("at", at)
                .functionCounter()
                .count();
    }

    @Test
    void a_record_with_an_address_that_is_refused_changes_nothing() throws Exception {
        SimGateway gateway = SimGateway.start(Map.of(), SimOptions.builder());
        try {
            String before = gateway.get("/workers").body();
            String[] records = {
                "{\"url\":\"http://169.254.169.254/latest/meta-data\"}",
                "{\"url\":\"http://[::ffff:169.254.169.254]\"}",
                "{\"url\":\"http://10.0.0.1:1\",\"events-endpoint\":\"tcp://169.254.169.254:80\"}",
                "{\"url\":\"http://10.0.0.1:1\",\"sglang-hicache-mooncake\":{\"page_size\":64,"
                        + "\"master_server_address\":\"169.254.169.254:80\"}}"
            };
            for (String record : records) {
                HttpResponse<String> answer =
                        gateway.post("/workers", record, "content-type", "application/json");
                assertEquals(400, answer.statusCode(), answer.body());
                assertTrue(answer.body().contains("169.254.169.254 in"), answer.body());
                assertTrue(answer.body().contains("warmpath.addresses.allowed"), answer.body());
            }
            assertEquals(records.length, refused(gateway, "record"));
            assertEquals(names(before), names(gateway.get("/workers").body()));
        } finally {
            gateway.close();
        }
    }

    private static int names(String workers) {
        return workers.split("\"name\"", -1).length - 1;
    }

    @Test
    void a_name_is_looked_at_again_when_it_is_connected_to() throws Exception {
        String name = InetAddress.getLocalHost().getHostName();
        SimGateway gateway =
                SimGateway.start(
                        Map.of("warmpath.addresses.allowed", "192.0.2.0/24"), SimOptions.builder());
        try {
            int port = gateway.engines.get(0).url().getPort();
            String record = "{\"url\":\"http://" + name + ":" + port + "\",\"name\":\"named\"}";
            HttpResponse<String> answer =
                    gateway.post("/workers", record, "content-type", "application/json");
            assertEquals(202, answer.statusCode(), "what it leads to is not known yet");
            await().atMost(SOON)
                    .untilAsserted(
                            () -> {
                                String shown = gateway.get("/workers/named").body();
                                assertTrue(shown.contains(AddressRules.KEY), shown);
                            });
            assertTrue(refused(gateway, "connect") > 0);
        } finally {
            gateway.close();
        }
    }

    @Test
    void a_wrong_entry_stops_the_start() {
        String why =
                assertThrows(
                                StartFailure.class,
                                () ->
                                        SimGateway.start(
                                                Map.of(
                                                        "warmpath.addresses.allowed",
                                                        "10.0.0.0/8,10.0.0.1/8")))
                        .getMessage();
        assertTrue(why.contains("`10.0.0.1/8` has bits behind its prefix"), why);
    }
}
