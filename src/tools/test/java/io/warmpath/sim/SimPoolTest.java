package io.warmpath.sim;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.model.SimTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines that share a pool, and what its master says. */
@Timeout(60)
class SimPoolTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PROMPT = 8 * 16;

    private final HttpClient http = HttpClient.newHttpClient();

    private static SimOptions.Builder engine(SimPool pool) {
        return SimOptions.builder().hostBlocks(64).pool(pool).answerTokens(2);
    }

    private String get(int port, String path) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** Prompt tokens that the engine had not to compute. */
    private int cached(SimEngine engine) throws Exception {
        StringBuilder ids = new StringBuilder();
        for (int i = 0; i < PROMPT; i++) {
            ids.append(i == 0 ? "" : ",").append(100 + i);
        }
        HttpResponse<String> answer =
                http.send(
                        HttpRequest.newBuilder(engine.url().resolve("/generate"))
                                .header("content-type", "application/json")
                                .POST(
                                        HttpRequest.BodyPublishers.ofString(
                                                "{\"input_ids\":["
                                                        + ids
                                                        + "],\"sampling_params\":"
                                                        + "{\"max_new_tokens\":2}}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), answer.body());
        return JSON.readTree(answer.body()).path("meta_info").path("cached_tokens").asInt();
    }

    @Test
    void what_one_engine_has_written_another_fetches() throws Exception {
        try (SimTokenizer tokenizer = SimTokenizer.demo();
                SimPool pool = SimPool.start("127.0.0.1", 0, "demo", 100, 1e6);
                SimEngine first = SimEngine.start(engine(pool).build(), tokenizer);
                SimEngine second = SimEngine.start(engine(pool).build(), tokenizer)) {
            assertEquals(0, cached(first));
            await().until(() -> pool.pages() == 8);
            // The last block of a prompt is always computed.
            assertEquals(PROMPT - 16, cached(second));
            assertEquals(PROMPT - 16, cached(second), "now from its own memory");
        }
    }

    @Test
    void its_master_answers_by_the_keys_that_sglang_writes() throws Exception {
        try (SimTokenizer tokenizer = SimTokenizer.demo();
                SimPool pool = SimPool.start("127.0.0.1", 0, "a/b", 100, 1e6);
                SimEngine engine = SimEngine.start(engine(pool).build(), tokenizer)) {
            cached(engine);
            await().until(() -> pool.pages() == 8);
            assertEquals("leader", get(pool.port(), "/role"));
            assertTrue(get(pool.port(), "/health").contains("\"service_ready\":true"));
            List<String> keys = new ArrayList<>(get(pool.port(), "/get_all_keys").lines().toList());
            assertEquals(16, keys.size());
            assertTrue(keys.getFirst().startsWith("a-b_"), keys.getFirst());
            String absent = "a-b_" + "0".repeat(64) + "_0_k";
            JsonNode data =
                    JSON.readTree(
                                    get(
                                            pool.port(),
                                            "/batch_query_keys?keys="
                                                    + keys.getFirst()
                                                    + ","
                                                    + absent))
                            .path("data");
            assertTrue(data.path(keys.getFirst()).path("ok").asBoolean());
            assertFalse(data.path(absent).path("ok").asBoolean());
            assertEquals("OBJECT_NOT_FOUND", data.path(absent).path("error").asText());
            String many = String.join(",", Collections.nCopies(500, absent));
            assertTrue(get(pool.port(), "/batch_query_keys?keys=" + many).contains("\"data\""));
            JsonNode info = JSON.readTree(get(engine.port(), "/server_info"));
            assertTrue(info.path("enable_hierarchical_cache").asBoolean());
            assertEquals("mooncake", info.path("hicache_storage_backend").asText());
            JsonNode extra =
                    JSON.readTree(info.path("hicache_storage_backend_extra_config").asText());
            assertEquals(pool.port(), extra.path("master_metrics_port").asInt());
        }
    }
}
