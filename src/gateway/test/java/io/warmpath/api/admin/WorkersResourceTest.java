package io.warmpath.api.admin;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasKey;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.restassured.builder.RequestSpecBuilder;
import io.restassured.http.ContentType;
import io.restassured.specification.RequestSpecification;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.warmpath.api.ApiServer;
import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.AddressRules;
import io.warmpath.fleet.monitor.LoadPoll;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.gateway.observe.SplitPairs.SplitPair;
import io.warmpath.net.LocalPeers;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.routing.rates.TransferRates;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The admin API over real HTTP. */
class WorkersResourceTest {
    private static Vertx vertx;

    private final FleetRegistry fleet =
            new FleetRegistry(new ReferencePrefixIndex(), url -> url.hashCode(), s -> {});
    private HttpServer server;
    private TransferRates.Known fetched = TransferRates.Known.NOTHING;

    @BeforeAll
    static void startVertx() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stopVertx() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @AfterEach
    void stop() throws Exception {
        if (server != null) {
            server.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void a_worker_has_what_its_engine_has_shown_of_transfers() {
        fleet.add(WorkerSpec.of("http://10.0.0.1:8000"));
        fetched = new TransferRates.Known(10, 1_310_720, Map.of());
        given().spec(api())
                .get("/workers/w0")
                .then()
                .body("kv_transfer", equalTo(Map.of("bytes_per_token", 131072)));
        Map<Place.Shared, TransferRates.Link> links =
                Map.of(Place.Shared.FLEET, new TransferRates.Link(2e9, 4));
        fetched = new TransferRates.Known(10, 1_310_720, links);
        given().spec(api())
                .get("/workers/w0")
                .then()
                .body("kv_transfer.gbit_per_second", equalTo(4f));
    }

    private RequestSpecification api(Optional<String> token) {
        return api(new AdminAccess(token, "page"));
    }

    private RequestSpecification api(AdminAccess access) {
        try {
            Router router = Router.router(vertx);
            AdminRoute.mount(
                    router,
                    access,
                    new WorkersResource(
                            fleet,
                            new FleetSources(fleet, w -> {}),
                            new AddressGuard(AddressRules.of(List.of("*")), w -> {}),
                            new WorkerFacts(
                                    id ->
                                            Map.of(
                                                    0,
                                                    new LoadPoll.Seen(
                                                            new EngineLoad(0, 3, 1, 64, -1), 2)),
                                    true,
                                    kind -> Set.of("m: plain chats"),
                                    worker -> PinSupport.RPC,
                                    worker -> fetched,
                                    worker -> Map.of("m", "text prefix"),
                                    name -> List.of(new SplitPair("w7", 3, 900)))));
            stop();
            server = ApiServer.listen(vertx, router);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return new RequestSpecBuilder()
                .setBaseUri("http://127.0.0.1")
                .setPort(server.actualPort())
                .build();
    }

    private RequestSpecification api() {
        return given().spec(api(Optional.empty()));
    }

    @Test
    void a_worker_can_be_added_looked_at_and_removed() {
        RequestSpecification api = api(Optional.empty());
        given().spec(api)
                .contentType(ContentType.JSON)
                .body(
                        """
                        {"url":"http://10.0.0.1:8000/","name":"big","id":"18446744073709551615",
                         "kind":"vllm","models":["m"],"block_size":32,"dp-size":2,"weight":2.5,
                         "events_endpoint":"tcp://10.0.0.1:5557","topic":"kv",
                         "taints":["dedicated=batch:NoSchedule","gpu=a"]}
                        """)
                .post("/workers")
                .then()
                .statusCode(202)
                .body("id", equalTo("18446744073709551615"))
                .body("name", equalTo("big"))
                .body("weight", equalTo(2.5f))
                .body("url", equalTo("http://10.0.0.1:8000"))
                .body("state", equalTo("starting"))
                .body("problem", equalTo("not answered yet"));
        Worker w = fleet.find("big").orElseThrow().worker();
        fleet.learnt(
                w.id(),
                new WorkerProfile(
                        EngineKind.VLLM,
                        "0.32.0",
                        ServedModels.of(Set.of("m")),
                        32,
                        false,
                        EngineRanks.of(2),
                        Capacity.UNKNOWN,
                        EventEndpoint.perRank("tcp://10.0.0.1:5557", null, false, "kv", 2),
                        Offload.NONE,
                        PriorityOrder.NOT_TAKEN,
                        SessionSupport.STICKY,
                        Disaggregation.NONE,
                        CacheTraits.PLAIN,
                        List.of(),
                        List.of(),
                        ""),
                false);
        given().spec(api)
                .get("/workers/18446744073709551615")
                .then()
                .statusCode(200)
                .body("state", equalTo("ready"))
                .body("kind", equalTo("vllm"))
                .body("version", equalTo("0.32.0"))
                .body("block_size", equalTo(32))
                .body("dp_size", equalTo(2))
                .body("events_followed", equalTo(true))
                .body("tokens.m", equalTo("text prefix"))
                .body("role", equalTo("both"))
                .body("pairs[0].worker", equalTo("w7"))
                .body("pairs[0].tokens", equalTo(900))
                .body("tokens_drifted", equalTo(List.of("m: plain chats")))
                .body("taints", equalTo(List.of("dedicated=batch:NoSchedule", "gpu=a")))
                .body("$", not(hasKey("kv_transfer")))
                .body("events", hasSize(2))
                .body("events[1].endpoint", equalTo("tcp://10.0.0.1:5558"));
        given().spec(api).get("/workers").then().statusCode(200).body("data", hasSize(1));
        given().spec(api)
                .delete("/workers/big")
                .then()
                .statusCode(202)
                .body("state", equalTo("draining"));
        assertEquals(WorkerState.DRAINING, fleet.find("big").orElseThrow().worker().state());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"name\":\"a\"}                            | The field url is missing.",
                "{\"url\":1}                                 | The field url must be a string.",
                "{\"url\":\"a:1\"}                           | has no scheme: write `http://a:1`",
                "{\"url\":\"http://a\",\"blocksize\":1}      | Unknown field [blocksize]",
                "{\"url\":\"http://a\",\"block-size\":-1}    | must be a whole number from 0 to 65536",
                "{\"url\":\"http://a\",\"dp_size\":1.5}      | must be a whole number from 0 to 1024",
                "{\"url\":\"http://a\",\"id\":-1}            | The field id must be a whole number",
                "{\"url\":\"http://a\",\"kind\":\"tgi\"}     | must be sglang, vllm, trtllm or openai",
                "{\"url\":\"http://a\",\"models\":\"m\"}     | must be a list of strings",
                "{\"url\":\"http://a\",\"events-bind\":true} | need an events-endpoint",
                "{\"url\":\"http://a\",\"events-endpoint\":\"post\",\"replay-endpoint\":\"tcp://b:1\"} | takes neither",
                "{\"url\":\"http://a\",\"events-endpoint\":\"tcp://b:1\",\"replay-endpoint\":\"post\"} | no replay-endpoint",
                "[]                                          | The body must be a JSON object.",
                "{\"url\":                                   | The body is not JSON.",
            })
    void what_makes_no_sense_is_refused_with_a_reason(String body, String reason) {
        api().contentType(ContentType.JSON)
                .body(body)
                .post("/workers")
                .then()
                .statusCode(400)
                .body("error.type", equalTo("invalid_request_error"))
                .body("error.message", containsString(reason));
        assertEquals(0, fleet.status().size());
    }

    @Test
    void only_who_is_on_this_machine_may_name_its_loopback() {
        RequestSpecification api = api(Optional.of("t"));
        String worker = "{\"url\":\"http://127.0.0.1:9\"}";
        for (String header : List.of("x-forwarded-for", "forwarded", "origin")) {
            given().spec(api)
                    .header("authorization", "Bearer t")
                    .header(header, "1.2.3.4")
                    .contentType(ContentType.JSON)
                    .body(worker)
                    .post("/workers")
                    .then()
                    .statusCode(400)
                    .body("error.message", containsString("127.0.0.1 in"));
            assertEquals(0, fleet.status().size());
        }
        given().spec(api)
                .header("authorization", "Bearer t")
                .contentType(ContentType.JSON)
                .body(worker)
                .post("/workers")
                .then()
                .statusCode(202);
    }

    @Test
    void a_pool_that_is_told_is_shown() throws Exception {
        RequestSpecification api = api(Optional.empty());
        given().spec(api)
                .contentType(ContentType.JSON)
                .body(
                        """
                        {"url":"http://a:1","sglang_hicache_mooncake":{"backend":"mooncake",
                         "page_size":64,"tp_size":2,"is_mla_model":false,"extra_backend_tag":null,
                         "master_server_address":"mm:50051","master_metrics_port":9103}}
                        """)
                .post("/workers")
                .then()
                .statusCode(202)
                .body("sglang_hicache_mooncake.page_size", equalTo(64))
                .body("sglang_hicache_mooncake.tp_lcm_size", equalTo(2))
                .body("sglang_hicache_mooncake.master_metrics_port", equalTo(9103));
        given().spec(api)
                .contentType(ContentType.JSON)
                .body(
                        """
                        {"url":"http://b:1","vllm_mooncake_store":{"block_size":16,"hash_seed":"0",
                         "model_name":"Qwen3-8B"}}
                        """)
                .post("/workers")
                .then()
                .statusCode(202)
                .body("vllm_mooncake_store.model_name", equalTo("Qwen3-8B"));
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{\"url\":\"http://c:1\",\"lmcache\":{\"instance_id\":\"c\"}}")
                .post("/workers")
                .then()
                .statusCode(202)
                .body("lmcache.instance_id", equalTo("c"))
                .body("lmcache.chunk_size", equalTo(256))
                .body("lmcache.hash_algorithm", equalTo("builtin"));
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{\"url\":\"http://d:1\",\"lmcache\":{\"instance_id\":\"a b\"}}")
                .post("/workers")
                .then()
                .statusCode(400)
                .body("error.param", equalTo("lmcache.instance_id"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}                                    |.page_size             | is missing",
                "{\"page_size\":0}                     |.page_size             | from 1 to 65536",
                "{\"page_size\":64.5}                  |.page_size             | from 1 to 65536",
                "{\"page_size\":64,\"tp_size\":\"2\"}  |.tp_size               | from 1 to 1024",
                "{\"page_size\":64,\"is_eagle\":1}     |.is_eagle              | true or false",
                "{\"page_size\":64,\"backend\":\"x\"}  |.backend               | must be mooncake",
                "{\"page_size\":64,\"pagesize\":1}     |.pagesize              | is not known",
                "{\"page_size\":64,\"tp_size\":2,\"tp_lcm_size\":3,\"should_split_heads\":true}"
                        + "|.tp_lcm_size|multiple of tp_size 2",
                "{\"page_size\":64,\"master_server_address\":1}|.master_server_address|a string",
                "3                                     |''                     | must be an object",
            })
    void a_pool_that_makes_no_sense_is_refused_with_its_path(
            String pool, String member, String reason) throws Exception {
        given().spec(api(Optional.empty()))
                .contentType(ContentType.JSON)
                .body("{\"url\":\"http://a:1\",\"sglang_hicache_mooncake\":" + pool + "}")
                .post("/workers")
                .then()
                .statusCode(400)
                .body("error.param", equalTo("sglang_hicache_mooncake" + member))
                .body("error.message", containsString(reason));
        assertEquals(0, fleet.status().size());
    }

    @Test
    void a_worker_that_exists_is_refused() {
        fleet.add(WorkerSpec.of("http://a:1"));
        api().contentType(ContentType.JSON)
                .body("{\"url\":\"http://a:1\"}")
                .post("/workers")
                .then()
                .statusCode(400)
                .body("error.message", containsString("worker w0 already has the URL http://a:1"));
    }

    @Test
    void a_worker_is_drained_and_resumed() {
        RequestSpecification api = api(Optional.empty());
        for (String name : List.of("x", "y")) {
            given().spec(api)
                    .contentType(ContentType.JSON)
                    .body("{\"url\":\"http://" + name + ":1\",\"name\":\"" + name + "\"}")
                    .post("/workers")
                    .then()
                    .statusCode(202)
                    .body("drained", equalTo(false));
        }
        given().spec(api)
                .body("{\"reason\":\" new drivers \"}")
                .post("/workers/x/drain")
                .then()
                .statusCode(202)
                .body("name", equalTo("x"))
                .body("state", equalTo("drained"))
                .body("drained", equalTo(true))
                .body("problem", equalTo("drained by an operator: new drivers"));
        given().spec(api)
                .post("/workers/x/drain")
                .then()
                .statusCode(202)
                .body("problem", equalTo("drained by an operator"));
        given().spec(api)
                .get("/workers")
                .then()
                .body("data.state", equalTo(List.of("drained", "starting")));
        given().spec(api)
                .post("/workers/x/resume")
                .then()
                .statusCode(202)
                .body("state", equalTo("starting"))
                .body("drained", equalTo(false));
        given().spec(api).delete("/workers/x").then().statusCode(202);
        given().spec(api)
                .post("/workers/x/resume")
                .then()
                .statusCode(400)
                .body(
                        "error.message",
                        equalTo(
                                "Worker x is being removed (no source names it any more);"
                                        + " POST /workers adds it again."));
        for (String verb : List.of("drain", "resume")) {
            given().spec(api)
                    .post("/workers/z/" + verb)
                    .then()
                    .statusCode(404)
                    .body("error.message", equalTo("There is no such worker: z; there are x, y."));
            given().spec(api).get("/workers/x/" + verb).then().statusCode(405);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{\"why\":\"x\"}", "[]", "{\"reason\":[1]}", "{\"reason\":\"a\\nb\"}", "x"})
    void a_drain_that_says_something_else_is_refused(String body) {
        RequestSpecification api = api();
        fleet.add(WorkerSpec.of("http://a:1"));
        given().spec(api).body(body).post("/workers/w0/drain").then().statusCode(400);
        assertEquals(WorkerState.STARTING, fleet.find("w0").orElseThrow().worker().state());
    }

    @Test
    void what_is_not_there_is_404_and_a_wrong_method_405() {
        RequestSpecification api = api(Optional.empty());
        given().spec(api).get("/workers/nobody").then().statusCode(404);
        given().spec(api)
                .delete("/workers/nobody")
                .then()
                .statusCode(404)
                .body("error.code", equalTo("worker_not_found"))
                .body("error.message", equalTo("There is no such worker: nobody; there are none."));
        given().spec(api)
                .put("/workers")
                .then()
                .statusCode(405)
                .header("allow", equalTo("GET, POST"));
    }

    @Test
    void a_body_that_is_too_large_is_refused() {
        api().contentType(ContentType.JSON)
                .body("{\"url\":\"" + "a".repeat(2 << 20) + "\"}")
                .post("/workers")
                .then()
                .statusCode(413);
    }

    @Test
    void a_body_that_says_it_is_too_large_is_refused_before_it_is_sent() throws Exception {
        api();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.actualPort())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(
                            ("POST /workers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                                            + "\r\nContent-Length: 1000000000\r\n\r\n{")
                                    .getBytes(StandardCharsets.US_ASCII));
            assertEquals(
                    "HTTP/1.1 413",
                    new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII));
            // Read for a moment, so that the answer arrives, then no more.
            assertTimeoutPreemptively(
                    Duration.ofSeconds(10), () -> socket.getInputStream().readAllBytes());
        }
    }

    @Test
    void a_record_of_very_many_values_is_refused() {
        api().contentType(ContentType.JSON)
                .body("{\"url\":\"http://a:1\",\"models\":[" + "\"m\",".repeat(300) + "\"m\"]}")
                .post("/workers")
                .then()
                .statusCode(400)
                .body("error.message", containsString("more than 256 values"));
        assertEquals(0, fleet.status().size());
    }

    @Test
    void a_fleet_that_is_full_takes_no_more() {
        for (int i = 0; i < 4095; i++) {
            fleet.add(WorkerSpec.of("http://h" + i + ":1"));
        }
        RequestSpecification api = api(Optional.empty());
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{\"url\":\"http://a:1\"}")
                .post("/workers")
                .then()
                .statusCode(202);
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{\"url\":\"http://a:2\"}")
                .post("/workers")
                .then()
                .statusCode(400)
                .body("error.message", containsString("4096 workers"));
        assertEquals(4096, fleet.status().size());
    }

    @Test
    void a_form_of_a_web_page_is_refused() {
        api().contentType(ContentType.TEXT)
                .body("{\"url\":\"http://a:1\"}")
                .post("/workers")
                .then()
                .statusCode(400);
        assertEquals(0, fleet.status().size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Bearer wrong", "Basic secret", "Bearer", "secret", "Bearer secre"})
    void without_the_token_nothing_is_told_or_done(String header) {
        fleet.add(WorkerSpec.of("http://a:1"));
        RequestSpecification api = api(Optional.of("secret"));
        String[] paths = {"/workers", "/workers/w0"};
        for (String path : paths) {
            for (String method : new String[] {"GET", "POST", "PATCH", "DELETE"}) {
                String text =
                        given().spec(api)
                                .header("authorization", header)
                                .request(method, path)
                                .then()
                                .statusCode(403)
                                .body("error.type", equalTo("permission_error"))
                                .extract()
                                .asString();
                assertTrue(!text.contains("http://a:1"), text);
            }
        }
        assertEquals(WorkerState.STARTING, fleet.find("w0").orElseThrow().worker().state());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer secret", "bearer secret", "BEARER  secret"})
    void the_token_opens(String header) {
        given().spec(api(Optional.of("secret")))
                .header("authorization", header)
                .get("/workers")
                .then()
                .statusCode(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x-forwarded-for",
                "x-forwarded-proto",
                "X-Forwarded-Host",
                "forwarded",
                "via",
                "x-real-ip",
                "x-client-ip",
                "true-client-ip",
                "cf-connecting-ip",
                "x-envoy-external-address",
                "x-original-forwarded-for",
                "x-amzn-trace-id",
                "origin",
                "referer",
                "sec-fetch-site"
            })
    void without_a_token_only_this_machine_itself_may_ask(String header) {
        RequestSpecification api = api(Optional.empty());
        given().spec(api).get("/workers").then().statusCode(200);
        given().spec(api).header(header, "x").get("/workers").then().statusCode(403);
    }

    /** What browsers say, as the rows name it: site, origin, referer; {@code -}: not at all. */
    @ParameterizedTest
    @CsvSource({
        "same-origin, -, OWN/console/, 200",
        "same-origin, OWN, OWN/console/, 200",
        "same-origin, -, -, 403", // nobody says whose page it is
        "same-origin, OWN, https://gateway.example/console/, 403", // through a proxy
        "same-origin, https://gateway.example, OWN/console/, 403",
        "same-origin, -, OWN.a.example/, 403",
        "same-site, -, OWN/console/, 403", // another port of this machine
        "cross-site, -, OWN/console/, 403",
        "none, -, OWN/console/, 403",
        "same-origin, -, OWN/, 403", // other pages of this address: engines' answers
        "same-origin, OWN, OWN/v1/chat/completions, 403",
        "same-origin, OWN, OWN/console, 403",
        "same-origin, OWN, OWN/consoles/, 403",
        "same-origin, OWN, OWN/x/console/, 403",
        "-, OWN, OWN/console/, 403"
    })
    void without_a_token_the_pages_of_this_very_address_may_ask(
            String site, String origin, String referer, int status) {
        RequestSpecification api = api(Optional.empty());
        String own = "http://127.0.0.1:" + server.actualPort();
        RequestSpecification asked = given().spec(api);
        Map.of("sec-fetch-site", site, "origin", origin, "referer", referer)
                .forEach(
                        (name, value) -> {
                            if (!value.equals("-")) {
                                asked.header(name, value.replace("OWN", own));
                            }
                        });
        asked.get("/workers").then().statusCode(status);
    }

    @ParameterizedTest
    @CsvSource({"page, 404", "pag, 403", "-, 403"})
    void what_changes_something_needs_the_page_that_was_given(String page, int status) {
        RequestSpecification api = api(Optional.empty());
        String own = "http://127.0.0.1:" + server.actualPort();
        for (String site : List.of("same-origin", "")) {
            RequestSpecification asked = given().spec(api);
            if (!site.isEmpty()) {
                asked.header("sec-fetch-site", site).header("referer", own + "/console/");
            }
            if (!page.equals("-")) {
                asked.header("x-warmpath-console", page);
            }
            int wanted = site.isEmpty() ? 404 : status; // curl shows no page
            asked.delete("/workers/nobody").then().statusCode(wanted);
            asked.post("/workers/nobody/drain").then().statusCode(wanted);
            asked.get("/workers").then().statusCode(200);
        }
    }

    @Test
    void two_tokens_are_none() {
        RequestSpecification api = api(Optional.of("t"));
        given().spec(api)
                .header("authorization", "Bearer t", "Bearer x")
                .get("/workers")
                .then()
                .statusCode(403);
    }

    private int status(String head) throws Exception {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), server.actualPort())) {
            socket.getOutputStream().write((head + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            BufferedReader in =
                    new BufferedReader(
                            new InputStreamReader(
                                    socket.getInputStream(), StandardCharsets.US_ASCII));
            return Integer.parseInt(in.readLine().substring(9, 12));
        }
    }

    /** A proxy that hides itself is another user's program. */
    @Test
    void without_a_token_only_the_gateways_user_may_ask(@TempDir Path proc) throws Exception {
        // An empty list has nobody's socket.
        Files.writeString(proc.resolve("tcp"), "  sl  local_address rem_address   st ...\n");
        RequestSpecification api =
                api(new AdminAccess(Optional.empty(), "page", new LocalPeers(proc)));
        given().spec(api)
                .get("/workers")
                .then()
                .statusCode(403)
                .body("error.message", containsString("own user"));
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{}")
                .post("/workers")
                .then()
                .statusCode(403);
        // Where no system tells, the other rules alone count; and a token needs none of this.
        Path none = proc.resolve("none");
        api = api(new AdminAccess(Optional.empty(), "page", new LocalPeers(none)));
        given().spec(api).get("/workers").then().statusCode(200);
        api = api(new AdminAccess(Optional.of("t"), "page", new LocalPeers(proc)));
        given().spec(api)
                .header("authorization", "Bearer t")
                .get("/workers")
                .then()
                .statusCode(200);
    }

    /** A proxy that adds no header still has a version of its own, or its clients' Host. */
    @Test
    void who_does_not_ask_this_machine_itself_is_passed_on_by_somebody() throws Exception {
        api(Optional.empty());
        for (String host :
                List.of("localhost", "localhost:8000", "LOCALHOST", "127.0.0.1:1", "[::1]:80")) {
            assertEquals(200, status("GET /workers HTTP/1.1\r\nHost: " + host), host);
        }
        for (String host :
                List.of("g.example.com", "localhost.evil.com", "127.0.0.1.evil.com", "10.0.0.1")) {
            assertEquals(403, status("GET /workers HTTP/1.1\r\nHost: " + host), host);
        }
        assertEquals(403, status("GET /workers HTTP/1.0\r\nHost: localhost"));
        assertEquals(403, status("GET /workers HTTP/1.0"));
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, true",
        "127.9.9.9, true",
        "::1, true",
        "::ffff:127.0.0.1, true",
        "10.0.0.1, false",
        "::ffff:10.0.0.1, false",
        "fe80::1, false",
        "0.0.0.0, false",
    })
    void addresses_of_this_machine_are_told_from_others(String address, boolean local) {
        assertEquals(local, LocalPeers.isLoopback(address));
    }

    @Test
    void a_patch_says_more_of_a_worker_and_takes_nothing_back() {
        RequestSpecification api = api(Optional.empty());
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{\"url\":\"http://a:1\",\"name\":\"x\",\"block_size\":32}")
                .post("/workers")
                .then()
                .statusCode(202)
                .body("sources", equalTo(List.of("api")));
        given().spec(api)
                .contentType(ContentType.JSON)
                .body("{\"taints\":[\"spot\"],\"labels\":{\"zone\":\"b\"}}")
                .patch("/workers/x")
                .then()
                .statusCode(202)
                .body("name", equalTo("x"))
                .body("taints", equalTo(List.of("spot")))
                .body("labels.zone", equalTo("b"))
                .body("engine_load[0].outside", equalTo(2));
        assertEquals(32, fleet.find("x").orElseThrow().spec().blockSize());
        for (String wrong : new String[] {"{\"url\":\"http://b:1\"}", "{\"size\":1}", "[]"}) {
            given().spec(api)
                    .contentType(ContentType.JSON)
                    .body(wrong)
                    .patch("/workers/x")
                    .then()
                    .statusCode(400);
        }
        given().spec(api).patch("/workers/nobody").then().statusCode(404);
    }
}
