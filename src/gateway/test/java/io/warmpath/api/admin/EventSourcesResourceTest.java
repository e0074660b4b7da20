package io.warmpath.api.admin;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.nullValue;

import io.restassured.builder.RequestSpecBuilder;
import io.restassured.specification.RequestSpecification;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.warmpath.api.ApiServer;
import io.warmpath.events.SourceReport;
import io.warmpath.events.SourceStatus;
import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What operators read of event sources, over real HTTP. */
class EventSourcesResourceTest {
    private static final SourceReport FROZEN =
            new SourceReport(
                    "w0",
                    -1,
                    1,
                    "tcp://10.0.0.1:5557",
                    "tcp://10.0.0.1:5573",
                    0,
                    true,
                    new SourceStatus(
                            EventView.FROZEN,
                            Belief.NOTHING,
                            "3 requests",
                            90_000_000_000L,
                            -2,
                            2_500_000_000L,
                            12,
                            1,
                            2,
                            3,
                            4,
                            5,
                            6,
                            7,
                            8,
                            9,
                            10,
                            0));
    private static final SourceReport NONE =
            new SourceReport("w1", 7, 0, null, null, 1, false, SourceStatus.none("no sockets"));

    private final Vertx vertx = Vertx.vertx();
    private HttpServer server;

    @AfterEach
    void stop() throws Exception {
        server.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private RequestSpecification api(Optional<String> token) throws Exception {
        Router router = Router.router(vertx);
        AdminRoute.mount(
                router,
                new AdminAccess(token, "page"),
                new EventSourcesResource(
                        () -> List.of(FROZEN, NONE), () -> Instant.parse("2026-11-21T20:01:30Z")));
        server = ApiServer.listen(vertx, router);
        return given().spec(
                        new RequestSpecBuilder()
                                .setBaseUri("http://127.0.0.1")
                                .setPort(server.actualPort())
                                .build());
    }

    @Test
    void each_source_is_told_with_its_state_and_counts() throws Exception {
        api(Optional.empty())
                .get("/events/sources")
                .then()
                .statusCode(200)
                .body("object", equalTo("list"))
                .body("data", hasSize(2))
                .body("data[0].worker", equalTo("w0"))
                .body("data[0].worker_id", equalTo("18446744073709551615"))
                .body("data[0].dp_rank", equalTo(1))
                .body("data[0].endpoint", equalTo("tcp://10.0.0.1:5557"))
                .body("data[0].replay_endpoint", equalTo("tcp://10.0.0.1:5573"))
                .body("data[0].state", equalTo("frozen"))
                .body("data[0].credit", equalTo(0f))
                .body("data[0].why", equalTo("3 requests"))
                .body("data[0].since", equalTo("2026-11-21T20:00:00Z"))
                .body("data[0].sequence", equalTo("18446744073709551614"))
                .body("data[0].last_event_age_ms", equalTo(2500))
                .body("data[0].batches", equalTo(12))
                .body("data[0].duplicates", equalTo(1))
                .body("data[0].gaps", equalTo(2))
                .body("data[0].repaired", equalTo(3))
                .body("data[0].lost", equalTo(4))
                .body("data[0].restarts", equalTo(5))
                .body("data[0].replays", equalTo(6))
                .body("data[0].rejected", equalTo(7))
                .body("data[0].owed_requests", equalTo(8))
                .body("data[0].stored_blocks", equalTo(9))
                .body("data[0].removed_blocks", equalTo(10))
                .body("data[0].offloaded_blocks", equalTo(0))
                .body("data[0].device_only", equalTo(true));
    }

    @Test
    void a_worker_without_a_source_says_why_and_counts_nothing() throws Exception {
        api(Optional.empty())
                .get("/events/sources")
                .then()
                .body("data[1].state", equalTo("none"))
                .body("data[1].why", equalTo("no sockets"))
                .body("data[1].endpoint", nullValue())
                .body("data[1].batches", nullValue());
    }

    @Test
    void other_methods_and_strangers_are_refused() throws Exception {
        RequestSpecification api = api(Optional.of("secret"));
        given().spec(api).get("/events/sources").then().statusCode(403);
        given().spec(api)
                .header("authorization", "Bearer secret")
                .get("/events/sources")
                .then()
                .statusCode(200);
        given().spec(api)
                .header("authorization", "Bearer secret")
                .post("/events/sources")
                .then()
                .statusCode(405);
    }
}
