package io.warmpath.adapter.enginetokens;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FakeEngine;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineTokenizer.Question;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EngineTokenizersTest {
    private static final String CHAT =
            "{'model':'alias','temperature':1,'messages':[{'role':'user','content':"
                    + "[{'type':'text','text':'hi'}]}],'tools':[{'type':'function'}],"
                    + "'tool_choice':'auto','documents':[{'a':1}],'reasoning_effort':'low',"
                    + "'chat_template_kwargs':{'x':true},'continue_final_message':false,"
                    + "'add_generation_prompt':null,'stream':true}";

    private final FakeEngine engine =
            new FakeEngine()
                    .answer("/tokenize", "{\"count\":2,\"tokens\":[5,4294967295],\"x\":null}");

    private long now;
    private final EngineTokenizers tokenizers = new EngineTokenizers(engine, 4096, () -> now);

    private Optional<int[]> ask(EngineKind kind, String request) throws IOException {
        Worker worker =
                Worker.builder(1, "w", URI.create("http://w"))
                        .kind(kind)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                        .build();
        return tokenizers.tokens(
                worker,
                new Question(
                        "m",
                        request.replace('\'', '"').getBytes(StandardCharsets.UTF_8),
                        "Bearer key"));
    }

    private String question() {
        return engine.posted().getLast().replace('"', '\'');
    }

    @Test
    void vllm_gets_what_its_tokenize_reads_and_the_rest_as_template_arguments() throws IOException {
        assertArrayEquals(new int[] {5, -1}, ask(EngineKind.VLLM, CHAT).orElseThrow());
        assertEquals(
                "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'hi'}]}],"
                        + "'tools':[{'type':'function'}],'continue_final_message':false,"
                        + "'chat_template_kwargs':{'x':true,'documents':[{'a':1}],"
                        + "'reasoning_effort':'low'}}",
                question());
    }

    @Test
    void sglang_gets_what_its_tokenize_reads() throws IOException {
        ask(EngineKind.SGLANG, CHAT);
        assertEquals(
                "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'hi'}]}],"
                        + "'tools':[{'type':'function'}],'tool_choice':'auto',"
                        + "'reasoning_effort':'low','continue_final_message':false,"
                        + "'chat_template_kwargs':{'x':true}}",
                question());
    }

    @Test
    void a_text_is_asked_with_the_tokens_that_the_tokenizer_adds() throws IOException {
        for (EngineKind kind : List.of(EngineKind.VLLM, EngineKind.SGLANG)) {
            ask(kind, "{'prompt':'hi'}");
            assertEquals("{'model':'m','prompt':'hi'}", question());
            ask(kind, "{'prompt':['ho']}");
            assertEquals("{'model':'m','prompt':'ho'}", question());
        }
    }

    @Test
    void what_an_engine_cannot_be_asked_is_not_sent() throws IOException {
        assertTrue(ask(EngineKind.OPENAI, CHAT).isEmpty());
        assertTrue(ask(EngineKind.VLLM, "{'prompt':[1,2]}").isEmpty());
        assertTrue(ask(EngineKind.VLLM, "{'prompt':['a','b']}").isEmpty());
        String image =
                "{'messages':[{'role':'user','content':[{'type':'image_url','image_url':{}}]}]}";
        assertTrue(ask(EngineKind.SGLANG, image).isEmpty());
        assertEquals(List.of(), engine.posted());
    }

    @Test
    void an_answer_is_remembered_for_five_minutes_whatever_else_the_request_says()
            throws IOException {
        int[] first = ask(EngineKind.VLLM, "{'prompt':'hi','temperature':1}").orElseThrow();
        assertArrayEquals(
                first, ask(EngineKind.VLLM, "{'stream':true,'prompt':'hi'}").orElseThrow());
        assertEquals(1, engine.posted().size());
        assertEquals(List.of("Bearer key"), engine.authorized());
        assertEquals(1, tokenizers.remembered());
        ask(EngineKind.SGLANG, "{'prompt':'hi'}");
        assertEquals(2, engine.posted().size(), "another kind, another answer");
        now += 300_000_000_001L;
        ask(EngineKind.VLLM, "{'prompt':'hi'}");
        assertEquals(3, engine.posted().size());
    }

    @Test
    void memory_is_bounded_and_what_was_used_last_stays() throws IOException {
        ask(EngineKind.VLLM, "{'prompt':'kept'}");
        for (int i = 0; i < 1000; i++) {
            ask(EngineKind.VLLM, "{'prompt':'" + i + "'}");
            ask(EngineKind.VLLM, "{'prompt':'kept'}");
        }
        assertEquals(1001, engine.posted().size());
        assertTrue(tokenizers.cacheBytes() <= 4096 && tokenizers.cacheBytes() > 3072);
    }

    @Test
    void a_prompt_that_the_engine_finds_wrong_has_no_ids_and_is_no_failure() throws IOException {
        engine.status("/tokenize", 400);
        assertTrue(ask(EngineKind.SGLANG, "{'prompt':'hi'}").isEmpty());
    }

    @Test
    void an_answer_that_is_no_list_of_ids_is_a_failure() {
        for (String answer :
                List.of("no", "{}", "{\"tokens\":[]}", "{\"tokens\":[1.5]}", "{\"tokens\":[-1]}")) {
            engine.answer("/tokenize", answer);
            assertThrows(IOException.class, () -> ask(EngineKind.VLLM, "{'prompt':'hi'}"), answer);
        }
        engine.status("/tokenize", 404);
        String told =
                assertThrows(IOException.class, () -> ask(EngineKind.VLLM, "{'prompt':'hi'}"))
                        .getMessage();
        assertEquals("POST /tokenize answered 404", told);
    }
}
