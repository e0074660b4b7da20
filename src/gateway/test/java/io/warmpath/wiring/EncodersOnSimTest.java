package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimOptions;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A worker that encodes media for others beside one that answers. */
class EncodersOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CHAT =
            "{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

    private static JsonNode worker(SimGateway gateway) throws Exception {
        return JSON.readTree(gateway.get("/workers/eyes").body());
    }

    @Test
    void it_is_shown_and_asked_for_its_health_and_gets_no_request() throws Exception {
        try (TestEngine encoder = TestEngine.encoder()) {
            Map<String, String> settings =
                    Map.of(
                            "warmpath.workers[0].url", encoder.url(),
                            "warmpath.workers[0].name", "eyes",
                            "warmpath.workers[0].kind", "sglang",
                            "warmpath.workers[0].role", "encode",
                            "warmpath.fleet.health-interval", "50ms",
                            "warmpath.fleet.unhealthy-interval", "50ms");
            SimGateway gateway = SimGateway.start(settings, SimOptions.builder());
            try {
                JsonNode row = worker(gateway);
                assertEquals("encode", row.path("role").asText());
                assertEquals("[]", row.path("models").toString());
                for (int i = 0; i < 5; i++) {
                    HttpResponse<String> answer = gateway.post("/v1/chat/completions", CHAT);
                    assertEquals(200, answer.statusCode(), answer.body());
                }
                JsonNode why = JSON.readTree(gateway.post("/router/explain", CHAT).body());
                assertEquals(
                        "[{\"worker\":\"eyes\",\"reason\":\"encodes media for others\"}]",
                        why.findPath("ineligible").toString());
                encoder.stop();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> worker(gateway).path("state").asText().equals("unhealthy"));
                encoder.startAgain();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> worker(gateway).path("state").asText().equals("ready"));
            } finally {
                gateway.close();
            }
        }
    }
}
