package io.warmpath.api;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.restassured.builder.RequestSpecBuilder;
import io.restassured.http.ContentType;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pages of other origins, as browsers send what they want. */
@ExtendWith(Leaks.class)
class CrossOriginTest {
    private static final String PAGE = "https://chat.example";
    private static final String CHAT =
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

    private final List<String> origins = Collections.synchronizedList(new ArrayList<>());
    private Gateway gateway;
    private StubEngine engine;
    private RequestSpecification api;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.PAST);
        engine =
                new StubEngine(
                        call -> {
                            origins.add(String.valueOf(call.header("origin")));
                            call.json(200, "{\"n\":1}");
                        });
        gateway.serve(engine);
        api = new RequestSpecBuilder().setBaseUri("http://127.0.0.1").setPort(gateway.port).build();
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private void allow(List<String> pages, boolean credentials) {
        gateway.allow(
                new CrossOrigin(
                        pages,
                        List.of(),
                        List.of("x-request-id"),
                        credentials,
                        Duration.ofHours(1)));
    }

    private Response preflight(String page, String path) {
        return given().spec(api)
                .header("origin", page)
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "authorization,x-stainless-lang")
                .options(path);
    }

    private Response chat(String page) {
        RequestSpecification asked = given().spec(api).contentType(ContentType.JSON).body(CHAT);
        return (page.isEmpty() ? asked : asked.header("origin", page)).post("/v1/chat/completions");
    }

    @Test
    void a_page_that_may_call_is_told_so_before_and_with_the_answer() {
        allow(List.of(PAGE), true);
        preflight(PAGE, "/v1/chat/completions")
                .then()
                .statusCode(204)
                .header("access-control-allow-origin", equalTo(PAGE))
                .header("access-control-allow-credentials", equalTo("true"))
                .header("access-control-allow-headers", containsString("x-stainless-lang"))
                .header("access-control-allow-methods", containsString("POST"))
                .header("access-control-max-age", equalTo("3600"));
        chat(PAGE)
                .then()
                .statusCode(200)
                .body("n", equalTo(1))
                .header("access-control-allow-origin", equalTo(PAGE))
                .header("access-control-expose-headers", equalTo("x-request-id"));
        assertEquals(List.of("null"), origins, "the engine has nothing to say about pages");
    }

    @Test
    void errors_can_be_read_by_the_page_too() {
        allow(List.of(PAGE), false);
        given().spec(api)
                .header("origin", PAGE)
                .contentType(ContentType.JSON)
                .body("{")
                .post("/v1/chat/completions")
                .then()
                .statusCode(400)
                .header("access-control-allow-origin", equalTo(PAGE));
    }

    @Test
    void other_pages_are_refused_with_what_to_do() {
        allow(List.of(PAGE), false);
        for (Response answer :
                List.of(
                        preflight("https://evil.example", "/v1/chat/completions"),
                        chat("https://evil.example"))) {
            answer.then()
                    .statusCode(403)
                    .header("access-control-allow-origin", nullValue())
                    .body("error.message", containsString("warmpath.http.cors.origins"));
        }
        assertEquals(List.of(), origins);
    }

    @Test
    void all_pages_may_where_that_is_wanted_and_programs_are_not_concerned() {
        allow(List.of("*"), false);
        chat("https://any.example")
                .then()
                .statusCode(200)
                .header("access-control-allow-origin", equalTo("*"));
        chat("").then().statusCode(200).header("access-control-allow-origin", nullValue());
    }

    @Test
    void operators_endpoints_have_no_such_permission() {
        allow(List.of("*"), false);
        preflight("https://any.example", "/router/decisions")
                .then()
                .statusCode(403)
                .header("access-control-allow-origin", nullValue());
        given().spec(api)
                .header("origin", "https://any.example")
                .get("/router/decisions")
                .then()
                .statusCode(403)
                .header("access-control-allow-origin", nullValue());
    }

    @Test
    void nothing_is_allowed_where_nothing_is_configured() {
        preflight(PAGE, "/v1/chat/completions")
                .then()
                .statusCode(405)
                .header("access-control-allow-origin", nullValue());
        chat(PAGE).then().statusCode(200).header("access-control-allow-origin", nullValue());
    }
}
