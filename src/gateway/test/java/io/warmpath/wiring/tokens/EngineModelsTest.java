package io.warmpath.wiring.tokens;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.ModelPlaces;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.model.ModelFolders;
import io.warmpath.tokens.model.ModelSources;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.wiring.Logs;
import io.warmpath.wiring.SimGateway;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tokenizers that are taken from where engines have them. */
class EngineModelsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Logs logs = new Logs(EngineModels.class);
    private ModelTokens tokens;
    private TokenOrigins origins;

    @BeforeEach
    void none() {
        tokens =
                new ModelTokens(
                        ModelSources.of(Map.of(), null),
                        new HuggingFaceModelLoader(),
                        TokensOptions.DEFAULT,
                        System::nanoTime,
                        EngineModelsTest::base);
        origins =
                new TokenOrigins(tokens::has, Map.of(), EngineModelsTest::base, true, worker -> {});
    }

    @AfterEach
    void close() {
        tokens.close();
        logs.close();
    }

    private static String base(String model) {
        return model.equals("sql") ? "m" : model;
    }

    private static Worker worker(EngineKind kind, WorkerState state) {
        return Worker.builder(1, "w1", URI.create("http://w1"))
                .kind(kind)
                .models(Set.of("m", "sql"))
                .blockSize(16)
                .state(state)
                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(1))))
                .build();
    }

    private EngineModels models(ModelPlaces places, EngineTokenizer engines, boolean trusted) {
        return new EngineModels(
                tokens,
                places,
                new ModelFolders(List.of()),
                engines,
                worker -> trusted,
                Runnable::run,
                origins);
    }

    private static ModelPlaces at(Path folder) {
        return worker ->
                Optional.of(
                        new ModelPlaces.Place(Set.of("m"), folder.toAbsolutePath().toString(), ""));
    }

    private Optional<int[]> ids() {
        return tokens.tokens("m", new PromptInput.Text("hello"), EngineProfile.VLLM);
    }

    private String origin(String model) {
        return origins.of(worker(EngineKind.VLLM, WorkerState.READY), model, false).word();
    }

    @Test
    void a_model_and_its_adapters_get_the_engines_files() {
        EngineModels models = models(at(DemoModel.directory()), EngineTokenizer.NONE, true);
        models.added(worker(EngineKind.VLLM, WorkerState.STARTING));
        assertTrue(ids().isEmpty());
        assertEquals("engine", origin("m"));
        models.added(worker(EngineKind.VLLM, WorkerState.READY));
        assertTrue(ids().isPresent());
        assertEquals("engine's files", origin("m"));
        assertEquals("engine's files", origin("sql"));
        assertEquals(
                List.of(
                        "Model m: tokens are made here, from the files of engine w1 ("
                                + DemoModel.directory().toAbsolutePath()
                                + ")"),
                logs.at(Level.INFO));
        assertEquals("m", tokens.reload().getFirst().models().getFirst());
    }

    @Test
    void files_that_give_other_tokens_than_the_engine_are_not_used_and_not_tried_again() {
        int[] asked = {0};
        EngineModels models =
                models(
                        at(DemoModel.directory()),
                        (worker, question) -> {
                            asked[0]++;
                            return Optional.of(new int[] {1, 2, 3});
                        },
                        true);
        models.added(worker(EngineKind.VLLM, WorkerState.READY));
        models.added(worker(EngineKind.VLLM, WorkerState.READY));
        assertEquals(1, asked[0]);
        assertTrue(ids().isEmpty());
        assertEquals("engine", origin("m"));
        assertEquals(1, logs.at(Level.INFO).size());
        assertTrue(
                logs.at(Level.INFO)
                        .getFirst()
                        .endsWith("not used here: the engine makes other tokens of a text"),
                logs.at(Level.INFO).toString());
    }

    @Test
    void a_worker_whose_word_does_not_count_is_not_even_asked() {
        ModelPlaces never =
                worker -> {
                    throw new AssertionError("asked");
                };
        models(never, EngineTokenizer.NONE, false)
                .added(worker(EngineKind.SGLANG, WorkerState.READY));
        models(never, EngineTokenizer.NONE, true)
                .added(worker(EngineKind.OPENAI, WorkerState.READY));
        assertTrue(ids().isEmpty());
    }

    @Test
    void a_worker_that_does_not_say_today_may_tomorrow() {
        boolean[] says = {false};
        EngineModels models =
                models(
                        worker -> {
                            if (!says[0]) {
                                throw new IOException("down");
                            }
                            return at(DemoModel.directory()).of(worker);
                        },
                        EngineTokenizer.NONE,
                        true);
        models.added(worker(EngineKind.VLLM, WorkerState.READY));
        assertTrue(ids().isEmpty());
        says[0] = true;
        models.added(worker(EngineKind.VLLM, WorkerState.READY));
        assertTrue(ids().isPresent());
    }

    /** Engines that were started with a path, as most are, and no tokenizer named here. */
    @Test
    void the_files_of_a_running_engine_make_predictions_exact() throws Exception {
        String model = DemoModel.directory().toAbsolutePath().normalize().toString();
        SimGateway gateway = sims(model, Map.of());
        try {
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> tokens(gateway, model).equals("engine's files"));
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(
                            () -> {
                                HttpResponse<String> answer = ask(gateway, model);
                                int cached =
                                        JSON.readTree(answer.body())
                                                .at("/usage/prompt_tokens_details/cached_tokens")
                                                .asInt(0);
                                assertTrue(cached > 0);
                                assertEquals(
                                        Integer.toString(cached),
                                        answer.headers()
                                                .firstValue("x-warmpath-predicted-cached-tokens")
                                                .orElse(""));
                                assertFalse(
                                        answer.headers()
                                                .firstValue("x-warmpath-tokens")
                                                .isPresent());
                            });
        } finally {
            gateway.close();
        }
    }

    @Test
    void it_can_be_switched_off() throws Exception {
        String model = DemoModel.directory().toAbsolutePath().normalize().toString();
        SimGateway gateway = sims(model, Map.of("warmpath.tokens.engine-files", "off"));
        try {
            assertEquals("engine", tokens(gateway, model));
            assertEquals(
                    "engine",
                    ask(gateway, model).headers().firstValue("x-warmpath-tokens").orElse(""));
            assertEquals("engine", tokens(gateway, model));
        } finally {
            gateway.close();
        }
    }

    private static SimGateway sims(String model, Map<String, String> settings) throws Exception {
        return SimGateway.start(
                settings,
                SimOptions.builder()
                        .models(List.of(model))
                        .wire(WireFormat.SGLANG_MAP)
                        .prefillTokensPerSecond(1e6)
                        .interToken(Duration.ofNanos(100_000)));
    }

    private static String tokens(SimGateway gateway, String model) throws Exception {
        JsonNode worker = JSON.readTree(gateway.get("/workers").body()).at("/data/0");
        return worker.path("tokens").path(model).asText();
    }

    private static HttpResponse<String> ask(SimGateway gateway, String model) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        "{\"model\":\""
                                + model
                                + "\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\""
                                + "word ".repeat(100)
                                + "\"}]}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }
}
