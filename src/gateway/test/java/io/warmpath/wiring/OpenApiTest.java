package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * {@code /q/openapi} and the routes of the running application say the same, in both directions,
 * whether a route is a handler or a resource.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(SecuredGatewayTest.Secured.class)
class OpenApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> METHODS = List.of("GET", "POST", "PUT", "PATCH", "DELETE");
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @Inject Router router;
    @TestHTTPResource URI gateway;

    @AfterAll
    static void close() {
        CLIENT.close();
    }

    @Test
    void every_documented_operation_answers_and_every_route_is_documented() throws Exception {
        Set<String> documented = documented();
        assertTrue(documented.size() > 50, documented::toString);
        assertEquals(Set.of(), unanswered(documented));
        assertEquals(Set.of(), undocumented(documented));
    }

    @Test
    void a_documented_operation_without_a_route_is_found() throws Exception {
        assertEquals(
                Set.of("GET /v1/nothing", "GET /workers/{}/nothing", "PUT /workers"),
                unanswered(Set.of("GET /v1/nothing", "GET /workers/{}/nothing", "PUT /workers")));
        assertEquals(Set.of(), unanswered(Set.of("GET /workers/{}", "POST /v1/completions")));
    }

    @Test
    void a_route_without_documentation_is_found() throws Exception {
        Set<String> fewer = documented();
        assertTrue(fewer.remove("DELETE /sessions/{}"));
        assertTrue(fewer.remove("POST /v1/rerank"));
        assertEquals(Set.of("DELETE /sessions/{}", "POST /v1/rerank"), undocumented(fewer));
        Route added =
                router.get("/v1/undocumented/:id").order(-2000).handler(rc -> rc.response().end());
        try {
            assertTrue(undocumented(documented()).contains("GET /v1/undocumented/{}"));
        } finally {
            added.remove();
        }
    }

    @Test
    void every_operation_says_what_it_is_for_who_may_and_how_it_fails() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (var path : description().path("paths").properties()) {
            for (var entry : path.getValue().properties()) {
                JsonNode operation = entry.getValue();
                String name = entry.getKey() + " " + path.getKey();
                if (!METHODS.contains(entry.getKey().toUpperCase(Locale.ROOT))) {
                    continue;
                }
                boolean status = operation.path("tags").path(0).asText().equals("Status");
                if (operation.path("summary").asText().isEmpty()
                        || operation.path("tags").isEmpty()
                        || (!status && operation.path("security").isEmpty())
                        || (!status && !operation.path("responses").has("default"))) {
                    wrong.add(name);
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void every_reference_leads_to_something() throws Exception {
        JsonNode api = description();
        Set<String> broken = new TreeSet<>();
        for (JsonNode reference : api.findValues("$ref")) {
            if (api.at(reference.asText().substring(1)).isMissingNode()) {
                broken.add(reference.asText());
            }
        }
        assertEquals(Set.of(), broken);
        assertTrue(api.findValues("$ref").size() > 100);
    }

    @Test
    void every_body_that_is_posted_to_an_operator_is_described() throws Exception {
        JsonNode paths = description().path("paths");
        for (String path :
                List.of(
                        "/workers",
                        "/workers/{worker}/drain",
                        "/events",
                        "/router/ask",
                        "/router/replay",
                        "/busy_threshold")) {
            JsonNode body = paths.path(path).path("post").path("requestBody");
            assertTrue(body.path("content").size() > 0, path);
        }
    }

    @Test
    void it_is_yaml_unless_json_is_asked_for() throws Exception {
        JsonNode json = description();
        for (String path : List.of("/q/openapi?format=JSON", "/q/openapi.json")) {
            HttpResponse<String> answer = get(path, "text/html");
            assertEquals("application/json", type(answer), path);
            assertEquals(json, JSON.readTree(answer.body()), path);
        }
        for (String path : List.of("/q/openapi", "/q/openapi?format=yaml", "/q/openapi.yaml")) {
            HttpResponse<String> answer = get(path, "*/*");
            assertEquals("application/yaml", type(answer), path);
            assertTrue(answer.body().contains("\nopenapi: 3.1.0\n"), path);
        }
    }

    /** Method and path, whose parameters are written {@code {}}. */
    private Set<String> documented() throws Exception {
        Set<String> all = new TreeSet<>();
        for (var path : description().path("paths").properties()) {
            for (String method : METHODS) {
                if (path.getValue().has(method.toLowerCase(Locale.ROOT))) {
                    all.add(method + " " + path.getKey().replaceAll("\\{[^}]*}", "{}"));
                }
            }
        }
        return all;
    }

    private JsonNode description() throws Exception {
        return JSON.readTree(get("/q/openapi", "application/json").body());
    }

    private HttpResponse<String> get(String path, String accept) throws Exception {
        return CLIENT.send(
                HttpRequest.newBuilder(gateway.resolve(path)).header("accept", accept).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static String type(HttpResponse<?> answer) {
        return answer.headers().firstValue("content-type").orElse("").replaceAll(";.*", "");
    }

    private Set<String> unanswered(Set<String> operations) throws Exception {
        Set<String> none = new TreeSet<>();
        for (String operation : operations) {
            if (!exists(operation)) {
                none.add(operation);
            }
        }
        return none;
    }

    private Set<String> undocumented(Set<String> documented) throws Exception {
        Set<String> missing = new TreeSet<>();
        for (String path : paths()) {
            for (String method : METHODS) {
                String operation = method + " " + path;
                if (!documented.contains(operation) && exists(operation)) {
                    missing.add(operation);
                }
            }
        }
        return missing;
    }

    /**
     * Of routes and of resources, without the runtime's own, which lie under {@code /q}, and {@code
     * /metrics}, which answers whatever the method is.
     */
    private Set<String> paths() {
        Set<String> paths = new TreeSet<>();
        for (Route route : router.getRoutes()) {
            String path = route.getPath();
            if (path != null && !path.endsWith("*") && path.length() > 1) {
                paths.add(path.replaceAll("/$", "").replaceAll(":[A-Za-z_]+", "{}"));
            }
        }
        for (JavaClass resource : new ClassFileImporter().importPackages("io.warmpath.api")) {
            if (resource.isAnnotatedWith(jakarta.ws.rs.Path.class)) {
                String path = resource.getAnnotationOfType(jakarta.ws.rs.Path.class).value();
                for (JavaMethod method : resource.getMethods()) {
                    paths.add(
                            normal(
                                    path
                                            + method.tryGetAnnotationOfType(
                                                            jakarta.ws.rs.Path.class)
                                                    .map(jakarta.ws.rs.Path::value)
                                                    .orElse("")));
                }
            }
        }
        paths.removeIf(path -> path.matches("/q(/.*)?|/metrics"));
        assertTrue(paths.contains("/v1/chat/completions") && paths.contains("/workers/{}"));
        return paths;
    }

    private static String normal(String path) {
        String slash = path.startsWith("/") ? path : "/" + path;
        return slash.replaceAll("//+", "/")
                .replaceAll("(?<=.)/$", "")
                .replaceAll("\\{[^}]*}", "{}");
    }

    /**
     * A path is there when those who show nothing are not told that it is not; a method is when
     * those who may are not told that it is not allowed.
     */
    private boolean exists(String operation) throws IOException, InterruptedException {
        return status(operation) != 404
                && status(operation, "authorization", "Bearer " + SecuredGatewayTest.ADMIN) != 405
                && status(operation, "x-api-key", SecuredGatewayTest.KEY) != 405;
    }

    private int status(String operation, String... headers)
            throws IOException, InterruptedException {
        String[] methodAndPath = operation.split(" ", 2);
        HttpRequest.Builder request =
                HttpRequest.newBuilder(gateway.resolve(methodAndPath[1].replace("{}", "x")))
                        .timeout(Duration.ofSeconds(20))
                        .method(methodAndPath[0], HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        // The body is left unread: that of a stream has no end.
        HttpResponse<InputStream> answer =
                CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        answer.body().close();
        return answer.statusCode();
    }
}
