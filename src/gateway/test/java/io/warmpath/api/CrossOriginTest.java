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
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.api.client.ClientGate;
import io.warmpath.upstream.tls.EngineTls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void pages_of_other_sites_are_refused_where_nothing_is_configured() {
        preflight(PAGE, "/v1/chat/completions")
                .then()
                .statusCode(403)
                .header("access-control-allow-origin", nullValue());
        chat(PAGE)
                .then()
                .statusCode(403)
                .header("access-control-allow-origin", nullValue())
                .body("error.message", containsString("--cors-origins"));
        given().spec(api)
                .header("sec-fetch-site", "cross-site")
                .contentType(ContentType.JSON)
                .body(CHAT)
                .post("/v1/messages")
                .then()
                .statusCode(403)
                .body("type", equalTo("error"))
                .body("error.type", equalTo("permission_error"));
        assertEquals(List.of(), origins);
    }

    /** Headers by a colon, apart by two bars; OWN is where the gateway is. */
    @ParameterizedTest
    @CsvSource({
        "x: y, 200", // curl
        "origin: http://OWN, 200",
        "origin: https://OWN, 200", // behind a proxy that ends TLS
        "origin: http://OWN.evil.test, 403",
        "origin: http://evil.test, 403",
        "origin: null, 403",
        "origin: OWN, 403",
        "origin: http://OWN||origin: http://evil.test, 403",
        "sec-fetch-site: none, 200",
        "sec-fetch-site: same-origin, 200",
        "sec-fetch-site: same-origin||origin: http://OWN, 200",
        "sec-fetch-site: same-origin||origin: null, 403",
        "sec-fetch-site: same-site, 403",
        "sec-fetch-site: cross-site, 403",
        "sec-fetch-site: cross-site||sec-fetch-mode: navigate, 403",
        "sec-fetch-site: Cross-Site, 403",
        "sec-fetch-site: same-origin||sec-fetch-site: cross-site, 403",
        "host: localhost, 200",
        "host: LOCALHOST.:8000, 200",
        "host: app.localhost, 200",
        "host: gateway, 200",
        "host: gateway.ns.svc.cluster.local:80, 200",
        "host: host.docker.internal, 200",
        "host: [::1]:8000, 200",
        "host: 192.168.1.5:8000, 200",
        "host: evil.test, 403",
        "host: evil.test:8000, 403",
        "host: evil.test., 403",
        "host: localhost.evil.test, 403",
        "host: 127.0.0.1.nip.io, 403",
        "host: evil.test||x-forwarded-for: 1.2.3.4, 403",
        "host: evil.test:8000||origin: http://evil.test:8000||sec-fetch-site: same-origin, 403"
    })
    void whose_page_asks_and_for_which_name(String headers, int status) throws Exception {
        for (String line :
                List.of("POST /v1/chat/completions", "POST /tokenize", "GET /v1/models")) {
            assertEquals(status, status(line, headers), line);
        }
        assertEquals(status == 200 ? 1 : 0, origins.size(), "of the engine");
    }

    @Test
    void names_of_listed_pages_are_the_gateways_own() throws Exception {
        assertEquals(403, status("GET /v1/models", "host: chat.example"));
        allow(List.of(PAGE), false);
        assertEquals(200, status("GET /v1/models", "host: chat.example:8000"));
        assertEquals(200, status("GET /v1/models", "origin: " + PAGE));
        assertEquals(
                200, status("GET /v1/models", "origin: " + PAGE + "||sec-fetch-site: cross-site"));
        assertEquals(200, status("POST /v1/chat/completions", "host: chat.example"));
        assertEquals(403, status("GET /v1/models", "host: evil.test"));
        assertEquals(403, status("GET /v1/models", "sec-fetch-site: cross-site"));
        allow(List.of("*"), false);
        assertEquals(200, status("POST /v1/chat/completions", "host: evil.test"));
        assertEquals(200, status("GET /v1/models", "origin: null||sec-fetch-site: cross-site"));
    }

    @Test
    void where_clients_show_keys_any_name_will_do() throws Exception {
        gateway.close(engine);
        ClientGate gate =
                ClientGate.of(shown -> new Caller(Grant.all("k"), new Budgets(1), () -> 0), false);
        gateway = new Gateway(EnginePath.PAST, EngineTls.standard(), gate);
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
        String key = "||x-api-key: k";
        for (String line : List.of("POST /v1/chat/completions", "GET /v1/models")) {
            assertEquals(200, status(line, "host: gateway.example" + key));
            assertEquals(403, status(line, "origin: http://evil.test" + key));
        }
    }

    private int status(String line, String headers) throws Exception {
        String own = "127.0.0.1:" + gateway.port;
        List<String> lines = new ArrayList<>(List.of(line + " HTTP/1.1"));
        for (String header : headers.split("\\|\\|", -1)) {
            lines.add(header.replace("OWN", own));
        }
        if (!headers.startsWith("host:")) {
            lines.add("host: " + own);
        }
        boolean asks = line.startsWith("POST");
        String body = !asks ? "" : line.endsWith("tokenize") ? "{\"prompt\":\"x\"}" : CHAT;
        lines.add("content-length: " + body.length());
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(String.join("\r\n", lines) + "\r\n\r\n" + body);
            int status = client.readAnswer().status();
            return status == 403 || !line.endsWith("tokenize")
                    ? status
                    : 200; // it has no tokenizer
        }
    }
}
