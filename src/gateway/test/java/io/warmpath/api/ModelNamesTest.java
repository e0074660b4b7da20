package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.load.ActiveAdapters;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that stand for something else, from the client to the engine. */
class ModelNamesTest {
    private static final ModelNames NAMES =
            new ModelNames(
                    Map.of(
                            "fast", new ModelName("fast", "m", "m", ""),
                            "org/a+b", new ModelName("org/a+b", "m", "m", ""),
                            "gone", new ModelName("gone", "not-served", "not-served", ""),
                            "sql", new ModelName("sql", "sql", "m", ""),
                            "m:sql", new ModelName("m:sql", "sql", "m", ""),
                            "db", new ModelName("db", "sql", "m", ""),
                            "team", new ModelName("team", "m", "m", "blue")));

    /** Tells under which name it was asked. */
    private static final Tokenizing ECHO =
            new Tokenizing() {
                @Override
                public Answer tokenize(
                        String model, PromptInput prompt, EngineProfile engine, Boolean special) {
                    return new Tokens(new int[] {7}, model + " on " + engine);
                }

                @Override
                public Answer detokenize(String model, int[] ids) {
                    return new Tokens(ids, model);
                }
            };

    private Gateway gateway;
    private StubEngine engine;

    private void start(EngineKind kind) throws Exception {
        start(kind, NAMES);
    }

    private void start(EngineKind kind, ModelNames names) throws Exception {
        gateway = new Gateway(EnginePath.RAW, ECHO, names);
        engine = new StubEngine(call -> call.json(200, "{}"));
        Worker w = Gateway.worker(0, engine.url(), kind, WorkerState.READY, 1);
        gateway.fleet.workers(List.of(w.toBuilder().models(Set.of(Gateway.MODEL, "sql")).build()));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    @Test
    void an_adapter_is_active_where_a_request_for_it_runs() throws Exception {
        start(EngineKind.VLLM);
        Candidate there = gateway.fleet.snapshot().candidates("sql").getFirst();
        List<Double> seen = new ArrayList<>();
        engine.script(
                call -> {
                    seen.add(gateway.adapters.turns(there, "sql"));
                    call.json(200, "{}");
                });
        sent("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
        sent("{\"model\":\"db\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
        assertEquals(List.of(0.0, ActiveAdapters.ACTIVE), seen);
        await().until(() -> gateway.adapters.turns(there, "sql") == 0);
    }

    private String sent(String body) throws Exception {
        assertEquals(200, gateway.post(body).status());
        return engine.calls.getLast().bodyText();
    }

    private PrefixSpace space() {
        PrefixQuery last = gateway.index.queries.getLast();
        return last.space();
    }

    @Test
    void an_alias_reaches_the_engine_under_its_own_name_and_nothing_else_changes()
            throws Exception {
        start(EngineKind.VLLM);
        String body = "{\"odd\":1e400,%s\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}] }";
        assertEquals(
                body.formatted("\"model\":\"m\", "), sent(body.formatted("\"model\":\"fast\", ")));
        assertEquals(PrefixSpace.NONE, space());
        // Escapes are another way to write the same name.
        assertEquals(
                body.formatted("\"model\":\"m\","),
                sent(body.formatted("\"model\":\"f\\u0061st\",")));
        assertEquals(body.formatted("\"model\":\"m\","), sent(body.formatted("\"model\":\"m\",")));
    }

    @Test
    void an_adapter_that_nobody_configured_is_known_by_what_its_engine_tells() throws Exception {
        AdapterBases told = new AdapterBases();
        start(EngineKind.SGLANG, new ModelNames(Map.of(), told));
        told.take(
                new FleetSnapshot(
                        1,
                        List.of(
                                gateway.fleet.snapshot().workers().getFirst().toBuilder()
                                        .served(
                                                new ServedModels(
                                                        Set.of("m", "sql"), Map.of("sql", "m")))
                                        .build())));
        String body = "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        for (String name : List.of("sql", "m:sql")) {
            assertEquals(body.formatted("m:sql"), sent(body.formatted(name)));
            assertEquals(new PrefixSpace("sql", ""), space());
        }
        JsonObject listed =
                new JsonObject(RawClient.request(gateway.port, "GET", "/v1/models").body())
                        .getJsonArray("data").stream()
                                .map(JsonObject.class::cast)
                                .filter(m -> m.getString("id").equals("sql"))
                                .findFirst()
                                .orElseThrow();
        assertEquals("m", listed.getString("parent"));
    }

    @Test
    void an_adapter_has_blocks_of_its_own_and_the_name_that_its_engine_understands()
            throws Exception {
        String body = "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        start(EngineKind.VLLM);
        for (String name : List.of("sql", "m:sql", "db")) {
            assertEquals(body.formatted("sql"), sent(body.formatted(name)));
            assertEquals(new PrefixSpace("sql", ""), space());
        }
        stop();
        start(EngineKind.SGLANG);
        for (String name : List.of("sql", "m:sql", "db")) {
            assertEquals(body.formatted("m:sql"), sent(body.formatted(name)));
            assertEquals(new PrefixSpace("sql", ""), space());
        }
    }

    @Test
    void a_namespace_is_the_salt_of_every_request_and_stands_before_the_clients_own()
            throws Exception {
        start(EngineKind.VLLM);
        String rest = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        assertEquals(
                "{\"cache_salt\":\"blue\",\"model\":\"m\"," + rest,
                sent("{\"model\":\"team\"," + rest));
        assertEquals(new PrefixSpace("", "blue"), space());
        assertEquals(
                "{\"model\":\"m\",\"cache_salt\":\"blue:x\"," + rest,
                sent("{\"model\":\"team\",\"cache_salt\":\"x\"," + rest));
        assertEquals(new PrefixSpace("", "blue:x"), space());
        // Other APIs know no salt.
        RawClient.Answer answer =
                RawClient.post(gateway.port, "/v1/embeddings", "{\"model\":\"team\"}");
        assertEquals(200, answer.status());
        assertEquals("{\"model\":\"m\"}", engine.calls.getLast().bodyText());
    }

    @Test
    void the_alias_in_a_form_is_replaced_in_its_place() throws Exception {
        start(EngineKind.OPENAI);
        String form =
                String.join(
                        "\r\n",
                        "--b",
                        "Content-Disposition: form-data; name=\"model\"",
                        "",
                        "%s",
                        "--b",
                        "Content-Disposition: form-data; name=\"file\"",
                        "",
                        "xyz",
                        "--b--",
                        "");
        byte[] body = form.formatted("fast").getBytes(StandardCharsets.UTF_8);
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: g\r\nContent-Type:"
                            + " multipart/form-data; boundary=b\r\nContent-Length: "
                            + body.length
                            + "\r\n\r\n");
            client.socket.getOutputStream().write(body);
            assertEquals(200, client.readAnswer().status());
        }
        assertEquals(form.formatted("m"), engine.calls.getLast().bodyText());
    }

    @Test
    void models_lists_what_is_served_under_every_name() throws Exception {
        start(EngineKind.VLLM);
        JsonArray data =
                new JsonObject(RawClient.request(gateway.port, "GET", "/v1/models").body())
                        .getJsonArray("data");
        List<String> lines =
                data.stream()
                        .map(JsonObject.class::cast)
                        .map(
                                m ->
                                        m.getString("id")
                                                + " "
                                                + m.getString("root")
                                                + " "
                                                + m.getString("parent"))
                        .toList();
        assertEquals(
                List.of(
                        "db sql m",
                        "fast m null",
                        "m null null",
                        "org/a+b m null",
                        "sql null m",
                        "team m null"),
                lines);
    }

    @ParameterizedTest
    @ValueSource(strings = {"org/a+b", "org%2Fa+b", "org%2fa%2Bb"})
    void one_model_is_told_by_its_name_however_that_is_encoded(String path) throws Exception {
        start(EngineKind.VLLM);
        RawClient.Answer answer = RawClient.request(gateway.port, "GET", "/v1/models/" + path);
        assertEquals(200, answer.status());
        assertEquals(
                new JsonObject()
                        .put("id", "org/a+b")
                        .put("object", "model")
                        .put("created", 0)
                        .put("owned_by", "warmpath")
                        .put("root", "m"),
                new JsonObject(answer.body()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/gone", "/org", "/m/"})
    void a_model_that_is_not_listed_is_not_found(String path) throws Exception {
        start(EngineKind.VLLM);
        RawClient.Answer answer = RawClient.request(gateway.port, "GET", "/v1/models" + path);
        assertEquals(404, answer.status(), answer.body());
        assertTrue(answer.body().contains("model_not_found"), answer.body());
    }

    @Test
    void tokenize_and_the_direct_api_know_aliases_too() throws Exception {
        start(EngineKind.VLLM);
        RawClient.Answer told =
                RawClient.post(
                        gateway.port,
                        "/tokenize",
                        "{\"model\":\"fast\",\"prompt\":\"x\",\"return_text\":true}");
        assertTrue(told.body().contains("\"text\":\"m on VLLM\""), told.body());
        RawClient.Answer best =
                RawClient.post(
                        gateway.port,
                        "/router/best_worker",
                        "{\"model\":\"db\",\"token_ids\":[1,2,3]}");
        assertEquals(200, best.status(), best.body());
        assertEquals(new PrefixSpace("sql", ""), space());
    }

    @Test
    void an_alias_of_what_nobody_serves_yet_is_refused_as_the_client_wrote_it() throws Exception {
        start(EngineKind.VLLM);
        RawClient.Answer answer =
                gateway.post(
                        "{\"model\":\"gone\",\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}");
        assertEquals(503, answer.status(), "it is configured");
        assertEquals("1", answer.header("retry-after"));
        assertTrue(answer.body().contains("`gone`"), answer.body());
        assertTrue(answer.body().contains("\"no_healthy_worker\""), answer::body);
        assertEquals(404, gateway.post(Gateway.ASK.replace("\"m\"", "\"nobody\"")).status());
        assertEquals(0, engine.requests.get());
    }
}
