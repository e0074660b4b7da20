package io.warmpath.wiring;

import static io.restassured.RestAssured.given;
import static io.restassured.RestAssured.when;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.equalTo;

import io.restassured.http.ContentType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;

/** What tests of channels ask of the running application. Stateless. */
final class ChannelGateway {
    static final Duration SOON = Duration.ofSeconds(60);

    private ChannelGateway() {}

    /**
     * A free port that all class loaders of the test know, so that a broker may come later than the
     * gateway.
     */
    static int port(String of) {
        String key = "test.port." + of;
        if (System.getProperty(key) == null) {
            try (ServerSocket free = new ServerSocket(0)) {
                System.setProperty(key, Integer.toString(free.getLocalPort()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return Integer.getInteger(key);
    }

    /** Returns once the worker takes requests. */
    static void serve(TestEngine engine) {
        given().contentType(ContentType.JSON)
                .body(Map.of("url", engine.url(), "name", "one"))
                .post("/workers")
                .then()
                .statusCode(202);
        await().atMost(SOON)
                .untilAsserted(
                        () -> when().get("/workers/one").then().body("state", equalTo("ready")));
    }

    static void ask(String id) {
        given().contentType(ContentType.JSON)
                .header("x-request-id", id)
                .body("{\"model\":\"tiny\",\"prompt\":[1,2,3]}")
                .post("/v1/completions")
                .then()
                .statusCode(200);
    }

    static double metric(String name) {
        return when().get("/metrics")
                .asString()
                .lines()
                .filter(l -> l.startsWith(name + " "))
                .mapToDouble(l -> Double.parseDouble(l.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    static double sent() {
        return metric("warmpath_channel_sent_total{channel=\"usage\"}");
    }

    static double lost(String cause) {
        return metric("warmpath_channel_lost_total{cause=\"" + cause + "\",channel=\"usage\"}");
    }
}
