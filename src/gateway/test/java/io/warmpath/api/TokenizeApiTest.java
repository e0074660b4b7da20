package io.warmpath.api;

import static io.restassured.RestAssured.given;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.restassured.response.ValidatableResponse;
import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.model.ModelSources;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With the demo model's real tokenizer. */
class TokenizeApiTest {
    private static final String HI = "'messages':[{'role':'user','content':'Hi'}]";
    private static final String OPEN =
            "'messages':[{'role':'user','content':'Hi'},{'role':'assistant','content':'Hel'}]";

    @TempDir static Path strict;
    private ModelTokens tokens;
    private ExecutorService threads;
    private Gateway gateway;

    @BeforeEach
    void start() throws Exception {
        Files.copy(
                DemoModel.directory().resolve("tokenizer.json"),
                strict.resolve("tokenizer.json"),
                java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        Files.writeString(
                strict.resolve("chat_template.jinja"),
                "{% for m in messages %}{% if m.role == 'system' %}"
                        + "{{ raise_exception('System role not supported!') }}{% endif %}"
                        + "{{ m.role }}{% endfor %}{{ tools | tojson }}{{ x }}");
        tokens =
                new ModelTokens(
                        ModelSources.of(
                                Map.of(Gateway.MODEL, DemoModel.directory(), "strict", strict),
                                null),
                        new HuggingFaceModelLoader(),
                        TokensOptions.DEFAULT,
                        System::nanoTime);
        threads = Executors.newSingleThreadExecutor();
        gateway = new Gateway(EnginePath.RAW, tokens, threads);
        workers(EngineKind.VLLM);
    }

    private void workers(EngineKind... kinds) {
        gateway.fleet.workers(
                java.util.stream.IntStream.range(0, kinds.length)
                        .mapToObj(
                                i ->
                                        Gateway.worker(
                                                i,
                                                URI.create("http://127.0.0.1:9"),
                                                kinds[i],
                                                WorkerState.READY,
                                                1))
                        .toList());
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        threads.shutdown();
        tokens.close();
    }

    /** The product's loader, which runs the demo model natively. */
    @Test
    void a_natively_run_model_answers_the_same_both_ways() throws Exception {
        HuggingFaceModelLoader loader =
                new HuggingFaceModelLoader(
                        parts -> new NativeBpeTokenizer(Optional.empty(), parts));
        String text = "Gr\u00fc\u00dfe, <|im_start|>\u65e5\u672c\n";
        List<Integer> ids =
                post("/tokenize", "{'model':'m','prompt':'" + text.replace("\n", "\\n") + "'}")
                        .statusCode(200)
                        .extract()
                        .path("tokens");
        String cut = "{'model':'m','tokens':" + ids.subList(0, ids.size() - 2) + "}";
        String known = post("/detokenize", cut).statusCode(200).extract().path("prompt");
        try (ModelTokens fast =
                        new ModelTokens(
                                ModelSources.of(Map.of(Gateway.MODEL, DemoModel.directory()), null),
                                loader,
                                TokensOptions.DEFAULT,
                                System::nanoTime);
                Gateway other = new Gateway(EnginePath.RAW, fast, threads)) {
            given().port(other.port)
                    .body("{\"model\":\"m\",\"tokens\":" + ids + "}")
                    .post("/detokenize")
                    .then()
                    .statusCode(200)
                    .body("prompt", equalTo(text));
            given().port(other.port)
                    .body(cut.replace('\'', '"'))
                    .post("/detokenize")
                    .then()
                    .statusCode(200)
                    .body("prompt", equalTo(known));
        }
    }

    private ValidatableResponse post(String path, String json) {
        return given().port(gateway.port)
                .contentType("application/json")
                .body(json.replace('\'', '"'))
                .post(path)
                .then();
    }

    private ValidatableResponse tokenize(String json) {
        return post("/tokenize", "{'return_text':true," + json + "}");
    }

    @Test
    void a_text_becomes_its_tokens_and_they_the_text() {
        List<Integer> ids =
                post("/tokenize", "{'model':'m','prompt':'Grüße, Welt'}")
                        .statusCode(200)
                        .body("text", equalTo(null))
                        .extract()
                        .path("tokens");
        assertTrue(ids.size() > 1, ids::toString);
        post("/tokenize", "{'model':'m','prompt':'Grüße, Welt'}")
                .body("count", equalTo(ids.size()));
        post("/detokenize", "{'model':'m','tokens':" + ids + "}")
                .statusCode(200)
                .body("prompt", equalTo("Grüße, Welt"));
    }

    @Test
    void a_chat_is_rendered_as_the_models_workers_do_unless_an_engine_is_named() {
        String prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>%s\nHel<|im_end|>\n";
        String end = "<|im_start|>assistant\n";
        tokenize(OPEN).body("text", equalTo(prompt.formatted("assistant") + end));
        workers(EngineKind.SGLANG);
        tokenize(OPEN).body("text", equalTo(prompt.formatted("user") + end));
        tokenize("'engine':'vllm'," + OPEN)
                .body("text", equalTo(prompt.formatted("assistant") + end));
        tokenize("'engine':'none','add_generation_prompt':false," + OPEN)
                .body("text", equalTo(prompt.formatted("assistant")));
        tokenize("'continue_final_message':true," + OPEN)
                .body("text", equalTo("<|im_start|>user\nHi<|im_end|>\n" + end + "Hel"));
    }

    @Test
    void a_chat_on_which_workers_of_several_kinds_differ_needs_an_engine() {
        workers(EngineKind.SGLANG, EngineKind.VLLM);
        tokenize(HI).statusCode(200);
        tokenize(OPEN)
                .statusCode(400)
                .body("error.message", containsString("engines differ on this chat"))
                .body("error.param", equalTo("messages"));
    }

    @Test
    void tools_and_arguments_reach_the_template() {
        String more =
                "'model':'strict','tools':[{'function':{'name':'f'}}],"
                        + "'chat_template_kwargs':{'x':7},";
        tokenize("'engine':'vllm'," + more + HI)
                .body(
                        "text",
                        equalTo(
                                "user[{\"type\": \"function\", \"function\": {\"name\": \"f\","
                                        + " \"description\": null, \"parameters\": null}}]7"));
        tokenize("'engine':'none'," + more + HI)
                .body("text", equalTo("user[{\"function\": {\"name\": \"f\"}}]7"));
    }

    @Test
    void a_templates_own_refusal_is_a_400_with_its_words() {
        tokenize("'model':'strict','messages':[{'role':'system','content':'s'}]")
                .statusCode(400)
                .body("error.message", equalTo("System role not supported!"));
    }

    @Test
    void what_an_engine_refuses_is_a_400_with_the_members_path() {
        tokenize("'engine':'sglang','messages':[{'role':'critic','content':'s'}]")
                .statusCode(400)
                .body("error.param", equalTo("messages[0].role"));
    }

    @Test
    void wrong_bodies_are_told_what_is_wrong() {
        post("/tokenize", "{'prompt':1}").statusCode(400).body("error.param", equalTo("prompt"));
        post("/tokenize", "{}").statusCode(400).body("error.param", equalTo("prompt"));
        post("/tokenize", "{'prompt':'a'," + HI + "}")
                .statusCode(400)
                .body("error.param", equalTo("messages"));
        post("/tokenize", "{'engine':'tgi'," + HI + "}")
                .statusCode(400)
                .body("error.param", equalTo("engine"));
        post("/tokenize", "{'messages':[]}").statusCode(400);
        post("/tokenize", "{'tools':3," + HI + "}")
                .statusCode(400)
                .body("error.param", equalTo("tools"));
        post("/tokenize", "[")
                .statusCode(400)
                .body("error.message", startsWith("The request body must be a JSON object"));
        post("/detokenize", "{}").statusCode(400).body("error.param", equalTo("tokens"));
        post("/detokenize", "{'tokens':[-1]}")
                .statusCode(400)
                .body("error.param", equalTo("tokens"));
        post("/tokenize", "{'model':'x','prompt':'a'}")
                .statusCode(404)
                .body("error.code", equalTo("model_not_found"));
        given().port(gateway.port).get("/tokenize").then().statusCode(405);
    }

    @Test
    void bodies_are_not_read_on_the_event_loop_and_a_full_queue_is_an_overload() throws Exception {
        try (Gateway full =
                new Gateway(
                        EnginePath.RAW,
                        tokens,
                        work -> {
                            throw new RejectedExecutionException();
                        })) {
            assertEquals(
                    529,
                    given().port(full.port).body("not even JSON").post("/tokenize").statusCode());
        }
    }
}
