package io.warmpath.wiring;

import static io.restassured.RestAssured.given;
import static io.restassured.RestAssured.when;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.equalTo;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.restassured.http.ContentType;
import io.restassured.path.json.JsonPath;
import io.warmpath.adapter.nats.NatsServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code /q/health} of the whole application, while a real NATS server and an engine go away. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(HealthChecksTest.WithNats.class)
@Timeout(120)
@Tag("slow")
class HealthChecksTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String PID = "test.nats.pid";

    public static final class WithNats implements QuarkusTestProfile {
        @Override
        public List<TestResourceEntry> testResources() {
            return List.of(new TestResourceEntry(Server.class));
        }

        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of("warmpath.index.implementation", "java");
        }
    }

    /** A server, where the program is installed, of which the test knows the process. */
    public static final class Server implements QuarkusTestResourceLifecycleManager {
        private NatsServer server;

        @Override
        public Map<String, String> start() {
            if (!NatsServer.installed()) {
                return Map.of();
            }
            try {
                server = NatsServer.start(Files.createTempDirectory(Path.of("target"), "health"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return Map.of(
                    "warmpath.fleet.nats.enabled",
                    "true",
                    "warmpath.nats.servers",
                    server.url(),
                    PID,
                    Long.toString(server.pid()));
        }

        @Override
        public void stop() {
            if (server != null) {
                server.close();
            }
        }
    }

    @Test
    void a_lost_dependency_is_told_and_leaves_the_gateway_ready_and_a_lost_engine_does_not() {
        String server = ConfigProvider.getConfig().getOptionalValue(PID, String.class).orElse("");
        Assumptions.assumeFalse(server.isEmpty(), "no nats-server is installed");
        when().get("/q/health/live").then().statusCode(200).body("status", equalTo("UP"));
        when().get("/q/health/started").then().statusCode(200);
        when().get("/q/health/ready").then().statusCode(503);
        assertEquals("waiting for a worker", check("engines", "data.state"));
        assertEquals("DOWN", check("engines", "status"));
        assertSameAsShortPath();
        try (TestEngine engine = TestEngine.sglang()) {
            given().contentType(ContentType.JSON)
                    .body(Map.of("url", engine.url(), "name", "one"))
                    .post("/workers")
                    .then()
                    .statusCode(202);
            await().atMost(SOON).until(() -> when().get("/q/health/ready").statusCode() == 200);
            assertSameAsShortPath();
            assertEquals("working", check("engines", "data.state"));
            await().atMost(SOON).until(() -> "working".equals(check("nats", "data.state")));

            ProcessHandle.of(Long.parseLong(server)).orElseThrow().destroyForcibly();
            await().atMost(SOON).until(() -> "degraded".equals(check("nats", "data.state")));
            assertEquals("UP", check("nats", "status"));
            when().get("/q/health/ready").then().statusCode(200).body("status", equalTo("UP"));
            when().get("/q/health").then().statusCode(200);
            assertSameAsShortPath();
        }
        await().atMost(SOON).until(() -> when().get("/q/health/ready").statusCode() == 503);
        assertEquals("DOWN", check("engines", "status"));
        assertSameAsShortPath();
        when().get("/q/health/live").then().statusCode(200);
    }

    @Test
    void every_dependency_has_a_check() {
        Set<String> names =
                new TreeSet<>(
                        JsonPath.from(when().get("/q/health").asString()).getList("checks.name"));
        names.remove("Graceful Shutdown"); // the runtime's own
        assertEquals(
                new TreeSet<>(
                        Set.of(
                                "process",
                                "warm-up",
                                "gateway",
                                "engines",
                                "index",
                                "event-sources",
                                "tokenizer",
                                "nats",
                                "kubernetes",
                                "shared-pool",
                                "memory",
                                "replicas")),
                names);
        assertEquals("off", check("kubernetes", "data.state"));
        assertEquals("working", check("memory", "data.state"));
        assertEquals("java", check("index", "data.implementation"));
    }

    private static void assertSameAsShortPath() {
        assertEquals(when().get("/ready").statusCode(), when().get("/q/health/ready").statusCode());
    }

    private static String check(String name, String member) {
        return JsonPath.from(when().get("/q/health").asString())
                .getString("checks.find { it.name == '" + name + "' }." + member);
    }
}
