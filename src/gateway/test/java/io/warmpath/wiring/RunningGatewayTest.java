package io.warmpath.wiring;

import static io.restassured.RestAssured.given;
import static io.restassured.RestAssured.when;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.notNullValue;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.restassured.http.ContentType;
import io.warmpath.telemetry.TextLogFormatter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import org.jboss.logmanager.ExtHandler;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole application as it is deployed, with an engine that comes while it runs. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(RunningGatewayTest.JavaIndex.class)
@Tag("slow")
class RunningGatewayTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static TestEngine engine;

    /** The reference index, so that the test needs no native build. */
    public static final class JavaIndex implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of(
                    "warmpath.index.implementation", "java",
                    "warmpath.explain.decisions", "10",
                    "warmpath.models.\"torn\".path", "no/such/directory",
                    "warmpath.models.\"tiny\".aliases", "little,small",
                    "warmpath.fleet.health-timeout", "5s",
                    "warmpath.http.max-body-size", "1M",
                    "quarkus.http.idle-timeout", "1S");
        }
    }

    @BeforeAll
    static void startEngine() {
        engine = TestEngine.sglang();
    }

    @AfterAll
    static void stopEngine() {
        engine.close();
    }

    /** Linters and scrapers that name no format, or OpenMetrics without its version. */
    @Test
    void metrics_come_in_the_format_that_is_asked_for() {
        String text = "text/plain; version=0.0.4; charset=utf-8";
        String open = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        Map<String, String> types =
                Map.of(
                        "*/*", text,
                        "text/plain", text,
                        "image/png", text,
                        "application/openmetrics-text", open,
                        "application/openmetrics-text; version=1.0.0", open,
                        "application/openmetrics-text;q=0.5,text/plain;version=0.0.4;q=0.3", text);
        types.forEach(
                (accept, type) -> {
                    String metrics =
                            given().header("accept", accept)
                                    .get("/metrics")
                                    .then()
                                    .statusCode(200)
                                    .header("content-type", equalTo(type))
                                    .extract()
                                    .asString();
                    assertEquals(type.equals(open), metrics.endsWith("# EOF\n"), accept);
                });
    }

    /** Quarkus' generated serializers would write members by their names. */
    @Test
    void answers_to_operators_have_their_members_in_the_order_of_the_page() {
        assertEquals(
                "{\"object\":\"list\",\"sync\":false,\"data\":[]}",
                given().get("/replicas").asString());
    }

    @Test
    void a_worker_added_while_running_is_learnt_served_and_removed() {
        given().contentType(ContentType.JSON)
                .body(Map.of("url", engine.url(), "name", "late"))
                .post("/workers")
                .then()
                .statusCode(202)
                .body("name", equalTo("late"));
        await().atMost(SOON)
                .untilAsserted(
                        () ->
                                when().get("/workers/late")
                                        .then()
                                        .statusCode(200)
                                        .body("state", equalTo("ready"))
                                        .body("kind", equalTo("sglang"))
                                        .body("block_size", equalTo(16)));
        when().get("/v1/models").then().statusCode(200).body("data.id", hasItem("tiny"));
        when().get("/metrics")
                .then()
                .statusCode(200)
                .body(containsString("warmpath_worker_up{worker=\"late\"} 1.0"))
                .body(containsString("warmpath_events_sources{state=\"connecting\"} 1.0"));
        // Three tokens of 32 us, a step of 7.5 ms, and room: 17 of the engine's 100 blocks for
        // 256 steps, 1,920 ms * 0.17 * 0.17^4 / 0.83. Costs are in milliseconds by default.
        given().contentType(ContentType.JSON)
                .header("x-warmpath-explain", "1")
                .body("{\"model\":\"tiny\",\"prompt\":[1,2,3]}")
                .post("/v1/completions")
                .then()
                .statusCode(200)
                .header("x-warmpath-worker", "late")
                .header("x-warmpath-reason", "only candidate")
                .header("x-warmpath-cost", "7.924")
                .header("x-warmpath-cost-model", "latency");
        given().contentType(ContentType.JSON)
                .body("{\"token_ids\":[1,2,3]}")
                .post("/router/best_worker")
                .then()
                .statusCode(200)
                .body("worker", equalTo("late"))
                .body("model", equalTo("tiny"));
        // For operators: the same answer, no key.
        given().contentType(ContentType.JSON)
                .body("{\"model\":\"tiny\",\"prompt\":[1,2,3]}")
                .post("/router/ask")
                .then()
                .statusCode(200)
                .header("x-request-id", notNullValue())
                .body("decision.chosen.worker", equalTo("late"))
                .body("tokens_known", equalTo(true));
        given().body("{\"model\":\"tiny\",\"why\":1}")
                .post("/router/ask")
                .then()
                .statusCode(400)
                .body("error.message", containsString("why"));
        when().get("/router/ask").then().statusCode(405).header("allow", equalTo("POST"));
        // An alias of the configuration is served, and told to the engine as the engine knows it.
        when().get("/v1/models")
                .then()
                .body("data.find { it.id == 'small' }.root", equalTo("tiny"));
        // The question is not among the decisions.
        when().get("/router/decisions")
                .then()
                .statusCode(200)
                .body("decisions.size()", equalTo(1))
                .body("decisions[0].decision.chosen.worker", equalTo("late"))
                .body("decisions[0].decision.other_cost.name", equalTo("blocks"))
                .body("decisions[0].decision.other_cost.agrees", equalTo(true));
        when().post("/workers/late/drain").then().statusCode(202).body("drained", equalTo(true));
        when().get("/metrics")
                .then()
                .body(containsString("warmpath_worker_up{worker=\"late\"} 0.0"));
        when().post("/workers/late/resume").then().statusCode(202).body("drained", equalTo(false));
        await().atMost(SOON)
                .untilAsserted(
                        () -> when().get("/workers/late").then().body("state", equalTo("ready")));
        when().delete("/workers/late").then().statusCode(202).body("state", equalTo("draining"));
        await().atMost(SOON)
                .untilAsserted(() -> when().get("/workers/late").then().statusCode(404));
    }

    @Test
    void an_answer_may_take_longer_than_the_runtime_leaves_connections_idle() throws Exception {
        CountDownLatch answer = engine.holdBack("/v1/completions");
        given().contentType(ContentType.JSON)
                .body(Map.of("url", engine.url(), "name", "slow"))
                .post("/workers")
                .then()
                .statusCode(202);
        await().atMost(SOON)
                .untilAsserted(
                        () -> when().get("/workers/slow").then().body("state", equalTo("ready")));
        try {
            CompletableFuture<Integer> status =
                    CompletableFuture.supplyAsync(
                            () ->
                                    given().contentType(ContentType.JSON)
                                            .body("{\"model\":\"tiny\",\"prompt\":[1,2,3]}")
                                            .post("/v1/completions")
                                            .statusCode());
            await().during(Duration.ofMillis(2_500)).atMost(SOON).until(() -> !status.isDone());
            answer.countDown();
            assertEquals(200, status.get(20, TimeUnit.SECONDS));
        } finally {
            answer.countDown();
            when().delete("/workers/slow").then().statusCode(202);
        }
        await().atMost(SOON)
                .untilAsserted(() -> when().get("/workers/slow").then().statusCode(404));
    }

    @Test
    void an_engine_that_posts_its_events_is_routed_by_them() {
        given().contentType(ContentType.JSON)
                .body(Map.of("url", engine.url(), "name", "posting", "events-endpoint", "post"))
                .post("/workers")
                .then()
                .statusCode(202);
        await().atMost(SOON)
                .untilAsserted(
                        () ->
                                when().get("/workers/posting")
                                        .then()
                                        .body("state", equalTo("ready")));
        String tokens = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]";
        given().contentType(ContentType.JSON)
                .body(
                        "{\"worker\":\"posting\",\"epoch\":1,\"sequence\":0,\"events\":["
                                + "{\"type\":\"BlockStored\",\"block_hashes\":[9],\"block_size\":16,"
                                + "\"token_ids\":"
                                + tokens
                                + "}]}")
                .post("/events")
                .then()
                .statusCode(200)
                .body("next_sequence", equalTo(1));
        when().get("/events/sources")
                .then()
                .body("data.find { it.worker == 'posting' }.endpoint", equalTo("post"))
                .body("data.find { it.worker == 'posting' }.state", equalTo("exact"))
                .body("data.find { it.worker == 'posting' }.stored_blocks", equalTo(1));
        given().contentType(ContentType.JSON)
                .body("{\"token_ids\":" + tokens.replace("]", ",17]}"))
                .post("/router/best_worker")
                .then()
                .statusCode(200)
                .body("worker", equalTo("posting"))
                .body("overlap_blocks", equalTo(1));
        when().delete("/workers/posting").then().statusCode(202);
        await().atMost(SOON)
                .untilAsserted(() -> when().get("/workers/posting").then().statusCode(404));
    }

    @Test
    void busy_thresholds_are_asked_and_refused_for_a_model_that_is_not_there() {
        when().get("/busy_threshold").then().statusCode(200).body("thresholds.size()", equalTo(0));
        given().contentType(ContentType.JSON)
                .body(Map.of("model", "nobody", "active_prefill_tokens_threshold", 1))
                .post("/busy_threshold")
                .then()
                .statusCode(404)
                .body("error.code", equalTo("model_not_found"));
        given().header("x-forwarded-for", "10.0.0.1").get("/busy_threshold").then().statusCode(403);
    }

    @Test
    void a_model_without_its_files_does_not_stop_the_start_and_a_reload_tells_of_it() {
        given().post("/models/reload")
                .then()
                .statusCode(200)
                .body("ok", equalTo(false))
                .body("models[0].models", hasItem("torn"))
                .body("models[0].outcome", equalTo("without_tokens"))
                .body("models[0].problem", containsString("no/such/directory does not exist"));
        given().header("x-forwarded-for", "10.0.0.1").post("/models/reload").then().statusCode(403);
        when().get("/models/reload").then().statusCode(405);
    }

    @Test
    void our_health_paths_are_not_those_of_the_runtime() {
        when().get("/live").then().statusCode(200).body("status", equalTo("live"));
    }

    @Test
    void the_configured_body_limit_is_the_one_in_force() {
        given().contentType(ContentType.JSON)
                .body("{\"model\":\"m\",\"prompt\":\"" + "a".repeat(2 << 20) + "\"}")
                .post("/v1/completions")
                .then()
                .statusCode(413)
                .body("error.message", containsString("1048576"));
    }

    @Test
    void no_line_of_the_text_log_goes_past_the_formatter_that_escapes() {
        List<Formatter> forms = new ArrayList<>();
        formatters(LogManager.getLogManager().getLogger("").getHandlers(), forms);
        assertFalse(forms.isEmpty());
        for (Formatter form : forms) {
            assertInstanceOf(TextLogFormatter.class, form);
        }
    }

    private static void formatters(Handler[] handlers, List<Formatter> into) {
        for (Handler h : handlers) {
            if (h.getFormatter() != null) {
                into.add(h.getFormatter());
            }
            if (h instanceof ExtHandler outer) {
                formatters(outer.getHandlers(), into);
            }
        }
    }
}
