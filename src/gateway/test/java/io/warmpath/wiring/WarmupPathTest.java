package io.warmpath.wiring;

import static io.restassured.RestAssured.when;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The application warms itself up on its real path, and nothing of that is to be seen afterwards.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(WarmupPathTest.WithWarmup.class)
class WarmupPathTest {
    private static final int REQUESTS = 60;

    /** The strictest settings: nothing that a warm-up needs may depend on them. */
    public static final class WithWarmup implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of(
                    "warmpath.index.implementation", "java",
                    "warmpath.router.mode", "direct",
                    "warmpath.http.max-body-size", "1K",
                    "warmpath.warmup.requests", String.valueOf(REQUESTS),
                    "warmpath.warmup.time", "60s");
        }
    }

    @Inject GatewayBean gateway;

    @Test
    void every_request_of_the_warm_up_is_answered_and_no_metric_tells_of_one() {
        await().atMost(Duration.ofSeconds(70)).until(() -> gateway.warmup().done());
        assertTrue(gateway.warmup().answered() >= REQUESTS);

        List<String> ours =
                when().get("/metrics")
                        .then()
                        .statusCode(200)
                        .extract()
                        .asString()
                        .lines()
                        .filter(line -> line.startsWith("warmpath_"))
                        // Bounds, the process' memory, and who asks here.
                        .filter(line -> !line.matches("warmpath_client_connections(_max)? .*"))
                        .filter(line -> !line.matches("warmpath_memory_(limit|resident)_bytes .*"))
                        .toList();
        assertTrue(ours.size() > 40, "only " + ours);
        assertEquals(
                List.of(), ours.stream().filter(line -> !line.endsWith(" 0.0")).toList(), "moved");
    }
}
