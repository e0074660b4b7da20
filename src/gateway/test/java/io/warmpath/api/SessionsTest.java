package io.warmpath.api;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.restassured.builder.RequestSpecBuilder;
import io.restassured.specification.RequestSpecification;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.AdminRoute;
import io.warmpath.api.admin.SessionsResource;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.modes.Routers;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Turns of a session through the whole flow, and what operators see of it. */
class SessionsTest {
    private static final String[] SESSION = {"X-Dynamo-Session-ID: s1", "x-warmpath-explain: 1"};

    private Gateway gateway;
    private StubEngine first;
    private StubEngine second;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        first = new StubEngine(call -> call.json(200, "{\"id\":\"0\"}"));
        second = new StubEngine(call -> call.json(200, "{\"id\":\"1\"}"));
        gateway.serve(first, second);
        gateway.router.instead = // so that staying is no accident
                Routers.create(
                        RouterOptions.of(RouterMode.ROUND_ROBIN), gateway.books, Random::new);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        first.close();
        second.close();
    }

    private String ask(String... headers) throws Exception {
        RawClient.Answer answer = gateway.post(Gateway.ASK_WHOLE, headers);
        assertEquals(200, answer.status(), answer::body);
        return answer.header("x-warmpath-worker") + " " + answer.header("x-warmpath-session");
    }

    @Test
    void all_turns_go_to_the_rank_of_the_first_one() throws Exception {
        assertEquals("w0 first", ask(SESSION));
        assertEquals("w1 null", ask("x-warmpath-explain: 1"));
        for (int i = 0; i < 4; i++) {
            assertEquals("w0 kept", ask(SESSION));
        }
    }

    @Test
    void an_agents_own_header_names_its_session() throws Exception {
        for (String header :
                List.of("x-claude-code-session-id: c", "thread-id: t", "x-session-id: o")) {
            String to = ask(header, "x-warmpath-explain: 1").split(" ", 2)[0];
            assertEquals(to + " kept", ask(header, "x-warmpath-explain: 1"));
        }
        ask("x-claude-code-session-id: c", "x-claude-code-agent-id: a", "x-warmpath-explain: 1");
        assertEquals(1, gateway.sessions.find("c/a").size(), "a sub-agent has its own");
    }

    @Test
    void a_drained_worker_loses_the_session_for_good() throws Exception {
        assertEquals("w0 first", ask(SESSION));
        Worker w0 = Gateway.worker(0, first.url(), EngineKind.OPENAI, WorkerState.DRAINING, 1);
        Worker w1 = Gateway.worker(1, second.url(), EngineKind.OPENAI, WorkerState.READY, 1);
        gateway.fleet.workers(List.of(w0, w1));
        assertEquals("w1 moved", ask(SESSION));
        gateway.serve(first, second);
        assertEquals("w1 kept", ask(SESSION));
        assertEquals(1, gateway.sessions.moved());
    }

    @Test
    void a_turn_that_the_bound_rank_fails_moves_the_session() throws Exception {
        assertEquals("w0 first", ask(SESSION));
        first.script(call -> call.json(503, "{}"));
        assertEquals("w1 moved", ask(SESSION));
        assertEquals("w1 kept", ask(SESSION));
        assertEquals(2, first.requests.get());
    }

    @Test
    void the_final_turn_ends_the_session() throws Exception {
        assertEquals("w0 first", ask(SESSION));
        assertEquals(
                "w0 kept",
                ask(
                        "X-Dynamo-Session-ID: s1",
                        "X-Dynamo-Session-Final: true",
                        "x-warmpath-explain: 1"));
        assertEquals(0, gateway.sessions.size());
        assertEquals("w1 first", ask(SESSION));
    }

    @Test
    void tenants_do_not_share_a_session() throws Exception {
        assertEquals("w0 first", ask(SESSION));
        assertEquals(
                "w1 first",
                ask("X-Dynamo-Session-ID: s1", "x-tenant-id: other", "x-warmpath-explain: 1"));
    }

    @Test
    void a_worker_that_the_client_names_binds_the_session_to_it() throws Exception {
        assertEquals("w0 first", ask(SESSION));
        assertEquals(
                "w1 moved",
                ask(
                        "X-Dynamo-Session-ID: s1",
                        "x-dynamo-worker-instance-id: 1",
                        "x-warmpath-explain: 1"));
        assertEquals("w1 kept", ask(SESSION));
    }

    @Test
    void wrong_headers_are_refused_before_anything_is_sent() throws Exception {
        for (String header :
                List.of(
                        "X-Dynamo-Session-ID: " + "s".repeat(257),
                        "X-Dynamo-Session-Final: maybe")) {
            RawClient.Answer answer = gateway.post(Gateway.ASK_WHOLE, header);
            assertEquals(400, answer.status());
            assertTrue(answer.body().contains("x-dynamo-session-"), answer::body);
        }
        assertEquals(0, first.requests.get() + second.requests.get());
        assertEquals(0, gateway.sessions.size());
    }

    @Test
    void operators_list_look_up_and_end_sessions() throws Exception {
        ask(SESSION);
        ask("X-Dynamo-Session-ID: s2", "x-tenant-id: secret", "x-warmpath-explain: 1");
        Router router = Router.router(gateway.vertx);
        AdminRoute.mount(
                router,
                new AdminAccess(Optional.of("token"), "page"),
                new SessionsResource(
                        gateway.sessions,
                        gateway.controlled,
                        at -> "wp-" + at.serial(),
                        gateway.fleet));
        HttpServer server = ApiServer.listen(gateway.vertx, router);
        RequestSpecification admin =
                new RequestSpecBuilder()
                        .setBaseUri("http://127.0.0.1")
                        .setPort(server.actualPort())
                        .addHeader("Authorization", "Bearer token")
                        .build();
        given(admin)
                .get("/sessions")
                .then()
                .statusCode(200)
                .body("total", equalTo(2))
                .body("data", hasSize(2));
        given(admin).get("/sessions?limit=1").then().body("data", hasSize(1));
        given(admin)
                .get("/sessions/s2")
                .then()
                .statusCode(200)
                .body("data[0].worker", equalTo("w1"))
                .body("data[0].turns", equalTo(1))
                .body("data[0].has_tenant", equalTo(true))
                .body("data[0].tenant", equalTo(null));
        given(admin).delete("/sessions/s2").then().statusCode(204);
        given(admin).delete("/sessions/s2").then().statusCode(404);
        given(admin).get("/sessions/s2").then().statusCode(404);
        given(admin).get("/sessions?limit=0").then().statusCode(400);
        given(admin).post("/sessions").then().statusCode(405);
        given().port(server.actualPort())
                .get("/sessions")
                .then()
                .statusCode(403)
                .body(containsString("token"));
    }
}
