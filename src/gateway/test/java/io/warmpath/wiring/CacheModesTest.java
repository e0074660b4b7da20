package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.SimOptions;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Routing without KV events, by the whole gateway in front of two simulated engines. */
class CacheModesTest {
    private static final int BLOCKS = 20;

    private SimGateway gateway;

    @AfterEach
    void close() throws Exception {
        gateway.close();
    }

    private void start(Map<String, String> more) throws Exception {
        gateway = SimGateway.start(more, SimOptions.builder(), SimOptions.builder());
    }

    /** The answer to a prompt that only this {@code number} has. */
    private HttpResponse<String> ask(int number) throws IOException, InterruptedException {
        String ids =
                IntStream.range(0, BLOCKS * 16 + 1)
                        .mapToObj(i -> Integer.toString(number * 100 + i % 90))
                        .collect(Collectors.joining(","));
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":[" + ids + "]}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElseThrow();
    }

    /** Each prompt is asked twice: the second time it goes where it went, as something is known. */
    private void the_second_time_a_prompt_goes_where_it_went(String reason) throws Exception {
        for (int number = 1; number <= 4; number++) {
            HttpResponse<String> first = ask(number);
            assertTrue(
                    header(first, "x-warmpath-matched-blocks").startsWith("gpu=0;"),
                    header(first, "x-warmpath-matched-blocks"));
            HttpResponse<String> second = ask(number);
            assertTrue(
                    header(second, "x-warmpath-matched-blocks").startsWith("gpu=" + BLOCKS + ";"),
                    header(second, "x-warmpath-matched-blocks"));
            assertEquals(header(first, "x-warmpath-worker"), header(second, "x-warmpath-worker"));
            assertTrue(
                    header(second, "x-warmpath-reason").contains(reason),
                    header(second, "x-warmpath-reason"));
        }
    }

    @Test
    void a_decision_says_how_far_its_workers_events_are_trusted() throws Exception {
        start(Map.of());
        // Until both publishers have been asked for what they said before.
        await().untilAsserted(() -> assertEquals("exact", header(ask(1), "x-warmpath-events")));
    }

    @Test
    void without_events_a_prompt_goes_where_it_went() throws Exception {
        start(Map.of("warmpath.router.use-kv-events", "false"));
        assertEquals("off", header(ask(9), "x-warmpath-events"));
        the_second_time_a_prompt_goes_where_it_went("lowest cost");
    }

    @Test
    void what_was_sent_to_workers_is_counted_where_decisions_count() throws Exception {
        start(Map.of("warmpath.router.predicted-ttl", "60s"));
        ask(1);
        // Scrapes may see the sizes of half a second ago.
        await().untilAsserted(() -> assertEquals(1, gateway.gauge("warmpath.predicted.prompts")));
        assertEquals(BLOCKS, gateway.gauge("warmpath.predicted.residencies"));
        assertEquals(1, gateway.counted("warmpath.predicted.recorded"));
        assertEquals(BLOCKS, gateway.counted("warmpath.predicted.recorded.blocks"));
        assertTrue(gateway.gauge("warmpath.predicted.bytes") > 0);
    }

    @Test
    void with_an_overlap_weight_of_0_there_is_no_index_and_nobody_listens() throws Exception {
        start(Map.of("warmpath.router.overlap-score-weight", "0"));
        assertNull(gateway.meters.find("warmpath.index.slots").gauge());
        assertNull(gateway.meters.find("warmpath.events.sources").gauge());
        assertNull(gateway.meters.find("warmpath.predicted.prompts").gauge());
        HttpResponse<String> answer = ask(1);
        assertTrue(header(ask(1), "x-warmpath-matched-blocks").startsWith("gpu=0;"));
        assertEquals(200, answer.statusCode());
        assertTrue(
                gateway.get("/workers").body().contains("\"events_followed\":false"),
                gateway.get("/workers").body());
    }

    @Test
    void in_mode_vllm_cache_aware_a_prompt_goes_where_it_went() throws Exception {
        start(Map.of("warmpath.router.mode", "vllm-cache-aware"));
        // The fleet is idle: no load is below the mean, and of equal loads the longer prefix wins.
        the_second_time_a_prompt_goes_where_it_went("the cache hit, 20 of 20 blocks (1.00) at");
    }
}
