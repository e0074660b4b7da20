package io.warmpath.api.console;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.restassured.builder.RequestSpecBuilder;
import io.restassured.specification.RequestSpecification;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.warmpath.api.ApiServer;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.AdminRoute;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The console's files over real HTTP; what they do is tested in a browser (src/test/console). */
class ConsoleResourceTest {
    /** Where one file names another. */
    private static final Pattern NAMED =
            Pattern.compile("(?:from ?|import ?|src=|href=)[\"']([^\"'#]+)[\"']");

    private static Vertx vertx;
    private static HttpServer server;
    private static RequestSpecification api;

    @BeforeAll
    static void start() throws Exception {
        vertx = Vertx.vertx();
        Router router = Router.router(vertx);
        AdminAccess access = new AdminAccess(Optional.empty(), "page");
        AdminRoute.mount(router, access, new ConsoleResource(access));
        server = ApiServer.listen(vertx, router);
        api = new RequestSpecBuilder().setPort(server.actualPort()).build();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void browsers_are_led_to_it_and_programs_are_told_that_nothing_is_there() {
        given().spec(api)
                .redirects()
                .follow(false)
                .accept("text/html,application/xhtml+xml,*/*;q=0.8")
                .get("/")
                .then()
                .statusCode(307)
                .header("location", equalTo("console/"));
        given().spec(api)
                .accept("*/*")
                .get("/")
                .then()
                .statusCode(404)
                .body("error.code", equalTo("unknown_url"));
        given().spec(api)
                .redirects()
                .follow(false)
                .get("/console")
                .then()
                .statusCode(307)
                .header("location", equalTo("console/"));
    }

    @Test
    void needs_no_token_and_runs_nothing_but_its_own_scripts() {
        given().spec(api)
                .get("/console/")
                .then()
                .statusCode(200)
                .header("content-type", startsWith("text/html"))
                .header("referrer-policy", equalTo("same-origin"))
                .header("x-content-type-options", equalTo("nosniff"))
                .header("content-security-policy", containsString("default-src 'none'"))
                .header("content-security-policy", containsString("script-src 'self';"))
                .header("content-security-policy", containsString("frame-ancestors 'none'"))
                .body(containsString("<script src=\"app.js\" type=\"module\">"));
    }

    @Test
    void only_a_page_that_a_browser_opens_is_told_what_lets_it_change_something() {
        String given = "<meta name=\"warmpath-console\" content=\"page\">";
        given().spec(api)
                .header("sec-fetch-mode", "navigate")
                .header("sec-fetch-dest", "document")
                .get("/console/")
                .then()
                .statusCode(200)
                .header("cache-control", equalTo("no-store"))
                .header("etag", nullValue())
                .body(containsString(given));
        for (String mode : List.of("cors", "no-cors", "same-origin")) {
            for (String name : List.of("", "index.html")) {
                given().spec(api)
                        .header("sec-fetch-mode", mode)
                        .header("sec-fetch-dest", "empty")
                        .get("/console/" + name)
                        .then()
                        .statusCode(200)
                        .body(not(containsString(given)));
            }
        }
        for (String other : List.of("host", "via")) { // asked by another name, through a proxy
            given().spec(api)
                    .header("sec-fetch-mode", "navigate")
                    .header("sec-fetch-dest", "document")
                    .header(other, "evil.test")
                    .get("/console/")
                    .then()
                    .statusCode(200)
                    .body(not(containsString(given)));
        }
        given().spec(api).get("/console/").then().body(not(containsString(given)));
    }

    /** Every file that one names is there, of a known type; and they are all that it loads. */
    @Test
    void every_file_that_it_names_is_there() {
        Deque<String> open = new ArrayDeque<>();
        open.add("index.html");
        Set<String> seen = new TreeSet<>();
        int bytes = 0;
        while (!open.isEmpty()) {
            String name = open.remove();
            if (!seen.add(name)) {
                continue;
            }
            String text =
                    given().spec(api)
                            .get("/console/" + name)
                            .then()
                            .statusCode(200)
                            .extract()
                            .asString();
            bytes += text.length();
            if (name.endsWith(".svg")) {
                continue;
            }
            NAMED.matcher(text)
                    .results()
                    .map(m -> m.group(1))
                    .filter(other -> other.matches("[./A-Za-z-]+\\.(?:js|css|svg)"))
                    .map(other -> URI.create("/" + name).resolve(other).getPath())
                    .forEach(path -> open.add(path.substring(1)));
        }
        assertTrue(seen.contains("vendor/lit-html/directive-helpers.js"), seen::toString);
        assertTrue(seen.contains("vendor/uplot/uPlot.iife.min.js"), seen::toString);
        assertTrue(bytes < 300_000, bytes + " bytes");
    }

    @Test
    void a_browser_that_has_a_file_is_not_sent_it_again() {
        String tag = given().spec(api).get("/console/app.js").header("etag");
        given().spec(api)
                .header("if-none-match", tag)
                .get("/console/app.js")
                .then()
                .statusCode(304)
                .header("cache-control", equalTo("no-cache"));
        assertFalse(given().spec(api).get("/console/api.js").header("etag").equals(tag));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nothing.js",
                "ConsoleResource.class",
                "vendor",
                "vendor/",
                "vendor/lit-html/LICENSE",
                "../openapi/openapi.yaml",
                "..%2Fopenapi%2Fopenapi.yaml",
                "%2e%2e/openapi/openapi.json",
                "vendor/../app.js",
                "/etc/passwd",
                "app.js%00"
            })
    void no_other_name_leads_to_a_file(String name) {
        int status =
                given().spec(api).urlEncodingEnabled(false).get("/console/" + name).statusCode();
        assertEquals(name.equals("vendor/../app.js") ? 200 : 404, status); // that is app.js
    }
}
