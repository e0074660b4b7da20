package io.warmpath.wiring;

import static io.restassured.RestAssured.given;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.restassured.http.ContentType;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.warmpath.access.KeyHash;
import io.warmpath.wiring.settings.WatchedFile;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole application with keys of clients, an admin token and engines that want keys. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(SecuredGatewayTest.Secured.class)
class SecuredGatewayTest {
    static final String KEY = "wp-client-0123456789abcdefghijklmnop";
    private static final String ENV_KEY = "wp-listed-0123456789abcdefghijklmnop";
    private static final String NEW_KEY = "wp-second-0123456789abcdefghijklmnop";
    static final String ADMIN = "admin-0123456789";
    private static final String ENGINE_KEY = "engine-0123456789";
    private static final Duration SOON = Duration.ofSeconds(20);

    /** Probes and Prometheus have no keys. Everything else wants one. */
    private static final Set<String> OPEN =
            Set.of(
                    "/health",
                    "/live",
                    "/ready",
                    "/metrics",
                    "/metrics/",
                    "/q/health",
                    "/q/health/",
                    "/q/openapi",
                    "/console", // its files; what they ask for is not
                    "/console/{file: .+}");

    private static final Path KEYS = file("secured-keys.yaml", record("first", KEY));
    private static final Path ENGINE_KEYS = file("secured-engine-keys", "* " + ENGINE_KEY + "\n");

    private static TestEngine engine;

    @Inject Router router;
    @TestHTTPResource URI gateway;

    public static final class Secured implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of(
                    "warmpath.index.implementation",
                    "java",
                    "warmpath.auth.key-file",
                    KEYS.toString(),
                    "warmpath.auth.keys",
                    "listed:" + KeyHash.of(ENV_KEY).hex(),
                    "warmpath.auth.engine-key-file",
                    ENGINE_KEYS.toString(),
                    "warmpath.auth.reload-interval",
                    "100ms",
                    "warmpath.admin.token",
                    ADMIN);
        }
    }

    /** At a fixed place: the profile is read by another loader of this class than the test. */
    private static Path file(String name, String content) {
        try {
            return Files.writeString(Path.of("target", name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String record(String name, String key) {
        return "keys:\n  - name: " + name + "\n    sha256: " + KeyHash.of(key).hex() + "\n";
    }

    @BeforeAll
    static void startEngine() {
        engine = TestEngine.sglang();
    }

    @AfterAll
    static void stopEngine() {
        engine.close();
    }

    private void serve() {
        given().contentType(ContentType.JSON)
                .header("authorization", "Bearer " + ADMIN)
                .body(Map.of("url", engine.url(), "name", "w"))
                .post("/workers");
        await().atMost(SOON)
                .untilAsserted(
                        () ->
                                given().header("authorization", "Bearer " + ADMIN)
                                        .get("/workers/w")
                                        .then()
                                        .body("state", equalTo("ready")));
    }

    /** Every route that is there, asked without a key in every way. */
    @Test
    void no_route_answers_without_a_key_but_those_that_are_open() throws Exception {
        Set<String> paths = new TreeSet<>();
        for (Route route : router.getRoutes()) {
            if (route.getPath() != null) {
                paths.add(route.getPath());
            }
        }
        for (JavaClass resource : new ClassFileImporter().importPackages("io.warmpath.api")) {
            if (resource.isAnnotatedWith(jakarta.ws.rs.Path.class)) {
                String path = resource.getAnnotationOfType(jakarta.ws.rs.Path.class).value();
                paths.add(path);
                for (JavaMethod method : resource.getMethods()) {
                    method.tryGetAnnotationOfType(jakarta.ws.rs.Path.class)
                            .ifPresent(below -> paths.add(path + below.value()));
                }
            }
        }
        assertTrue(paths.contains("/v1/chat/completions"), () -> "routes are seen: " + paths);
        assertTrue(paths.contains("/workers/{worker}"), () -> "routes are seen: " + paths);
        List<String> answered = new ArrayList<>();
        int asked = 0;
        for (String path : paths) {
            String one = path.replaceAll(":[a-z_]+|\\{[a-z]+(?:: [^}]+)?}", "x").replace("*", "x");
            for (String method : List.of("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")) {
                int status = status(method + " " + one);
                asked++;
                if (status != 401 && status != 403 && status != 404 && status != 405) {
                    answered.add(method + " " + one + " " + status);
                }
            }
            if (!OPEN.contains(path)) {
                assertFalse(answered.stream().anyMatch(a -> a.contains(one)), answered::toString);
            }
        }
        assertTrue(asked > 100, "asked " + asked);
        assertTrue(answered.stream().anyMatch(a -> a.startsWith("GET /live 200")), "control");
    }

    /** Ways to write a path that another part of a server might read otherwise. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "//v1/models",
                "/v1//models",
                "/v1/./models",
                "/x/../v1/models",
                "/v1/models/",
                "/v1/models;a=b",
                "/;/v1/models",
                "/v1/models/..;/models",
                "/v1%2Fmodels",
                "/%76%31/models",
                "/v1/%6dodels",
                "/v1/%2e/models",
                "/live/%2e%2e/v1/models",
                "/live/../v1/models",
                "/live/..%2fv1/models",
                "/live%2f..%2fv1%2fmodels",
                "/v1/models?x=/live",
                "/v1/models%00",
                "/v1/models%20",
                "/V1/models",
                "http://gateway/v1/models",
                "http://gateway/live/../v1/models",
                "//workers",
                "/workers/",
                "/workers;x",
                "/%77orkers",
                "/live/..;/workers",
                "/q/../workers",
                "/q/%2e%2e/workers"
            })
    void no_way_to_write_a_path_goes_round_the_check(String path) throws Exception {
        int status = status("GET " + path);
        assertTrue(status == 401 || status == 403 || status == 404 || status == 400, path + status);
    }

    /** The status of a request whose first line nothing has tidied up. */
    private int status(String methodAndPath, String... headers) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.getPort())) {
            socket.setSoTimeout(20_000);
            String more = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
            socket.getOutputStream()
                    .write(
                            (methodAndPath
                                            + " HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n"
                                            + more
                                            + "Content-Length: 0\r\n\r\n")
                                    .getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            byte[] head = in.readNBytes(12); // HTTP/1.1 401
            return head.length < 12
                    ? 0
                    : Integer.parseInt(new String(head, 9, 3, StandardCharsets.US_ASCII));
        }
    }

    @Test
    void keys_of_file_and_environment_count_and_a_changed_file_counts_soon() throws Exception {
        serve();
        for (String key : List.of(KEY, ENV_KEY)) {
            given().header("authorization", "Bearer " + key)
                    .get("/v1/models")
                    .then()
                    .statusCode(200)
                    .body("data.id", hasItem("tiny"));
        }
        given().header("authorization", "Bearer " + ADMIN).get("/v1/models").then().statusCode(401);
        given().header("authorization", "Bearer " + KEY).get("/workers").then().statusCode(403);
        String question = "{\"prompt\":[1,2,3]}";
        given().header("authorization", "Bearer " + ADMIN)
                .body(question)
                .post("/router/ask")
                .then()
                .statusCode(200)
                .body("decision.chosen.worker", equalTo("w"));
        given().header("authorization", "Bearer " + KEY)
                .body(question)
                .post("/router/ask")
                .then()
                .statusCode(403);
        Files.writeString(KEYS, record("second", NEW_KEY));
        try {
            await().atMost(SOON).until(() -> models(NEW_KEY) == 200 && models(KEY) == 401);
            // A file that cannot be used changes nothing.
            Logs logs = new Logs(WatchedFile.class);
            try {
                Files.writeString(KEYS, "keys: [{name: x, sha256: " + KEY + "}]");
                await().atMost(SOON).until(() -> !logs.at(Level.SEVERE).isEmpty());
                assertFalse(logs.at(Level.SEVERE).toString().contains(KEY));
            } finally {
                logs.close();
            }
            assertEquals(200, models(NEW_KEY));
        } finally {
            Files.writeString(KEYS, record("first", KEY));
        }
        await().atMost(SOON).until(() -> models(KEY) == 200);
    }

    private int models(String key) throws IOException {
        return status("GET /v1/models", "x-api-key: " + key);
    }

    @Test
    void engines_are_asked_and_sent_to_with_their_own_key() {
        serve();
        given().contentType(ContentType.JSON)
                .header("x-api-key", KEY)
                .body("{\"model\":\"tiny\",\"prompt\":[1,2,3]}")
                .post("/v1/completions")
                .then()
                .statusCode(200);
        assertEquals(Set.of("Bearer " + ENGINE_KEY), engine.authorizations());
    }

    @Test
    void metrics_name_no_tenant_where_clients_have_keys() {
        serve();
        given().contentType(ContentType.JSON)
                .header("x-api-key", KEY)
                .body("{\"model\":\"tiny\",\"prompt\":[1,2,3]}")
                .post("/v1/completions")
                .then()
                .statusCode(200);
        await().atMost(SOON)
                .untilAsserted(
                        () -> {
                            List<String> lines =
                                    given().get("/metrics")
                                            .asString()
                                            .lines()
                                            .filter(l -> l.startsWith("warmpath_tenant_"))
                                            .toList();
                            assertEquals(5, lines.size(), lines::toString);
                            for (String line : lines) {
                                assertTrue(line.contains("{tenant=\"all\"}"), line);
                            }
                            assertTrue(
                                    lines.stream()
                                            .anyMatch(
                                                    l ->
                                                            l.startsWith(
                                                                            "warmpath_tenant_requests_total")
                                                                    && !l.endsWith(" 0.0")),
                                    lines::toString);
                        });
    }

    @Test
    void what_is_only_read_answers_no_other_method() throws IOException {
        for (String path :
                List.of(
                        "/metrics",
                        "/metrics/x",
                        "/q/health",
                        "/q/health/live",
                        "/q/health/ready",
                        "/q/openapi",
                        "/live",
                        "/ready",
                        "/health")) {
            for (String method : List.of("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")) {
                assertEquals(405, status(method + " " + path), method + " " + path);
            }
            int asked = status("GET " + path);
            assertTrue(asked == 200 || asked == 503, path + " " + asked);
            int head = path.equals("/q/openapi") ? 405 : asked; // the runtime's own has no HEAD
            assertEquals(head, status("HEAD " + path), path);
        }
        given().post("/metrics").then().statusCode(405).header("allow", equalTo("GET, HEAD"));
    }

    /** Bodies are read as they come: nothing here unpacks, so nothing can swell. */
    @Test
    void a_packed_body_is_refused_and_never_unpacked() throws IOException {
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bomb)) {
            zip.write(new byte[10 << 20]);
        }
        serve();
        for (String path : List.of("/v1/chat/completions", "/v1/messages", "/tokenize")) {
            given().contentType(ContentType.JSON)
                    .header("x-api-key", KEY)
                    .header("content-encoding", "gzip")
                    .body(bomb.toByteArray())
                    .post(path)
                    .then()
                    .statusCode(400);
        }
    }

    @Test
    void heads_that_are_too_large_are_refused() throws IOException {
        assertEquals(431, status("GET /live", "x-large: " + "x".repeat(40_000)));
        assertEquals(414, status("GET /live?" + "x".repeat(40_000)));
        List<String> many = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            many.add("x-many-" + i + ": 1");
        }
        assertEquals(431, status("GET /live", many.toArray(String[]::new)));
        assertEquals(200, status("GET /live"), "control");
    }

    /** Everything that can be logged is, while secrets of all kinds go through. */
    @Test
    void no_secret_is_in_the_log_at_any_level() throws Exception {
        serve();
        List<String> lines = new CopyOnWriteArrayList<>();
        Handler capture =
                new Handler() {
                    private final SimpleFormatter form = new SimpleFormatter();

                    @Override
                    public void publish(LogRecord record) {
                        lines.add(form.format(record));
                    }

                    @Override
                    public void flush() {}

                    @Override
                    public void close() {}
                };
        Logger ours = Logger.getLogger("io.warmpath");
        Logger root = Logger.getLogger("");
        Level before = ours.getLevel();
        capture.setLevel(Level.ALL);
        ours.setLevel(Level.ALL);
        root.addHandler(capture);
        try {
            for (String shown :
                    List.of(KEY, ENV_KEY, ADMIN, "wrong-0123456789", "eyJhbGciOiJub25lIn0.e30.")) {
                for (String body :
                        List.of("{\"model\":\"tiny\",\"prompt\":[1,2,3]}", "{oops", "{}")) {
                    given().contentType(ContentType.JSON)
                            .header("authorization", "Bearer " + shown)
                            .body(body)
                            .post("/v1/completions");
                }
                given().header("authorization", "Bearer " + shown).get("/workers");
                given().contentType(ContentType.JSON)
                        .header("authorization", "Bearer " + shown)
                        .body("{\"url\":\"http://user:password-0123456789@127.0.0.1:1\"}")
                        .post("/workers");
            }
        } finally {
            root.removeHandler(capture);
            ours.setLevel(before);
        }
        String all = String.join("", lines);
        assertTrue(all.contains("attempt 1"), "debug lines are there");
        for (String secret :
                List.of(KEY, ENV_KEY, ADMIN, ENGINE_KEY, "wrong-0", "eyJhbGci", "password-0")) {
            assertFalse(all.contains(secret), secret);
        }
    }

    @Test
    void a_password_in_a_workers_url_is_not_repeated() {
        String said =
                given().contentType(ContentType.JSON)
                        .header("authorization", "Bearer " + ADMIN)
                        .body("{\"url\":\"http://user:password-0123456789@127.0.0.1:1\"}")
                        .post("/workers")
                        .then()
                        .statusCode(400)
                        .extract()
                        .asString();
        assertTrue(said.contains("must have no user"), said);
        assertFalse(said.contains("password-0"), said);
    }
}
