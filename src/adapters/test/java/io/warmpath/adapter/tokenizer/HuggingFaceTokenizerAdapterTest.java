package io.warmpath.adapter.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.tokens.text.UnencodableTextException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class HuggingFaceTokenizerAdapterTest {
    @Test
    void ids_equal_those_of_the_python_library() {
        JsonNode golden = DemoModel.resource("/tokens/golden.json");
        assertTrue(golden.size() > 150, "golden.json holds " + golden.size());
        try (HuggingFaceTokenizerAdapter tokenizer = demo()) {
            for (JsonNode one : golden) {
                String text = one.get("text").asText();
                assertArrayEquals(ids(one), tokenizer.encode(text, false), text);
            }
        }
    }

    @Test
    void many_threads_get_the_same_ids_as_one() throws Exception {
        JsonNode golden = DemoModel.resource("/tokens/golden.json");
        try (HuggingFaceTokenizerAdapter tokenizer = demo();
                ExecutorService pool = Executors.newFixedThreadPool(8)) {
            List<Future<?>> runs = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int offset = thread * 31;
                runs.add(
                        pool.submit(
                                () -> {
                                    for (int i = 0; i < golden.size(); i++) {
                                        JsonNode one = golden.get((i + offset) % golden.size());
                                        assertArrayEquals(
                                                ids(one),
                                                tokenizer.encode(one.get("text").asText(), false));
                                    }
                                }));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        }
    }

    @Test
    void truncation_and_padding_of_the_file_are_switched_off() {
        String json =
                DemoModel.json(
                        root -> {
                            TokenizerVariants.set(
                                    root,
                                    "truncation",
                                    "{\"direction\": \"Right\", \"max_length\": 4, \"strategy\":"
                                            + " \"LongestFirst\", \"stride\": 0}");
                            TokenizerVariants.set(
                                    root,
                                    "padding",
                                    "{\"strategy\": {\"Fixed\": 64}, \"direction\": \"Right\","
                                            + " \"pad_to_multiple_of\": null, \"pad_id\": 3069,"
                                            + " \"pad_type_id\": 0, \"pad_token\":"
                                            + " \"<|endoftext|>\"}");
                        });
        String text = "one two three four five six seven eight nine ten";
        try (HuggingFaceTokenizerAdapter changed = new HuggingFaceTokenizerAdapter(json);
                HuggingFaceTokenizerAdapter plain = demo()) {
            assertArrayEquals(plain.encode(text, true), changed.encode(text, true));
        }
    }

    @Test
    void a_lone_surrogate_is_refused_with_its_place() {
        try (HuggingFaceTokenizerAdapter tokenizer = demo()) {
            for (String text : List.of("ab\ud800", "ab\udc00c", "ab\ud800\ud800\udc00")) {
                UnencodableTextException refused =
                        assertThrows(
                                UnencodableTextException.class,
                                () -> tokenizer.encode(text, false));
                assertEquals(
                        "the text has an unpaired surrogate at character 2", refused.getMessage());
            }
        }
    }

    @Test
    void after_close_it_throws_and_a_second_close_does_nothing() {
        HuggingFaceTokenizerAdapter tokenizer = demo();
        tokenizer.close();
        tokenizer.close();
        assertThrows(IllegalStateException.class, () -> tokenizer.encode("a", false));
    }

    private static HuggingFaceTokenizerAdapter demo() {
        return new HuggingFaceTokenizerAdapter(DemoModel.json());
    }

    private static int[] ids(JsonNode one) {
        int[] ids = new int[one.get("ids").size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = one.get("ids").get(i).asInt();
        }
        return ids;
    }
}
