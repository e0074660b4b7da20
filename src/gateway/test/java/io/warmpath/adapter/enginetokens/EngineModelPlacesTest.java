package io.warmpath.adapter.enginetokens;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FakeEngine;
import io.warmpath.fleet.ModelPlaces.Place;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EngineModelPlacesTest {
    private final FakeEngine engine = new FakeEngine();

    private Optional<Place> ask(EngineKind kind, String... models) throws IOException {
        return new EngineModelPlaces(engine)
                .of(
                        Worker.builder(1, "w", URI.create("http://w"))
                                .kind(kind)
                                .models(Set.of(models))
                                .blockSize(16)
                                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(1))))
                                .build());
    }

    @Test
    void recorded_answers_say_where_the_model_is() throws IOException {
        engine.recorded("/server_info", "sglang-server_info.json")
                .recorded("/v1/models", "vllm-models.json");
        Place tiny = new Place(Set.of("tiny"), "models/tiny-qwen3", "");
        assertEquals(Optional.of(tiny), ask(EngineKind.SGLANG, "tiny"));
        assertEquals(Optional.of(tiny), ask(EngineKind.VLLM, "tiny"));
        assertEquals(Optional.empty(), ask(EngineKind.OPENAI, "tiny"));
    }

    @Test
    void of_sglang_the_tokenizer_counts_and_a_template_of_its_own_forbids() throws IOException {
        engine.answer(
                "/server_info",
                "{\"model_path\":\"org/m\",\"tokenizer_path\":\"/t\",\"revision\":\"v1\","
                        + "\"served_model_name\":null,\"chat_template\":null}");
        assertEquals(
                Optional.of(new Place(Set.of("org/m"), "/t", "v1")),
                ask(EngineKind.SGLANG, "org/m"));
        assertEquals(Optional.empty(), ask(EngineKind.SGLANG, "other"));
        engine.answer("/server_info", "{\"model_path\":\"m\",\"chat_template\":\"chatml\"}");
        assertEquals(Optional.empty(), ask(EngineKind.SGLANG, "m"));
    }

    @Test
    void of_vllm_all_names_of_the_base_count_and_adapters_do_not() throws IOException {
        engine.answer(
                "/v1/models",
                "{\"data\":[{\"id\":\"a\",\"root\":\"/m\",\"parent\":null},"
                        + "{\"id\":\"b\",\"root\":\"/m\"},"
                        + "{\"id\":\"sql\",\"root\":\"/lora\",\"parent\":\"a\"}]}");
        assertEquals(
                Optional.of(new Place(Set.of("a", "b"), "/m", "")),
                ask(EngineKind.VLLM, "a", "b", "sql"));
        engine.answer("/v1/models", "{\"data\":[{\"id\":\"a\"}]}");
        assertEquals(Optional.empty(), ask(EngineKind.VLLM, "a"));
    }

    @Test
    void no_answer_is_a_failure() {
        assertThrows(IOException.class, () -> ask(EngineKind.SGLANG, "m"));
        engine.answer("/v1/models", "<html>");
        assertThrows(IOException.class, () -> ask(EngineKind.VLLM, "m"));
    }
}
