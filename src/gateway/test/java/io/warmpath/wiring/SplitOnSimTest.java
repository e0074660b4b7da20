package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.SimStats;
import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.half.Disaggregation.Mode;
import io.warmpath.sim.model.SimTokenizer;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests whose prompt is computed by one engine and whose answer is decoded by another, before
 * simulated SGLangs, that tell their roles themselves: no setting names one. Closing the gateway
 * checks that nothing is left booked, each test that nobody is left in a room.
 */
class SplitOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String SPLIT = "x-warmpath-prefill-worker";
    private static final String SYSTEM =
            "Always answer in rhyme, and never twice alike. ".repeat(12);

    private SimGateway gateway;

    private static SimOptions.Builder whole() {
        return SimOptions.builder()
                .answerTokens(24)
                .prefillTokensPerSecond(200_000)
                .interToken(Duration.ofMillis(2));
    }

    private static SimOptions.Builder half(Mode mode) {
        return whole().disaggregation(Disaggregation.of(mode, 0));
    }

    private void start(SimOptions.Builder... engines) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.models.\"demo\".path", "src/tokens/main/resources/demo-model");
        gateway = SimGateway.start(settings, engines);
    }

    @AfterEach
    void stop() throws Exception {
        try {
            await().atMost(SOON)
                    .untilAsserted(
                            () -> {
                                for (SimEngine e : gateway.engines) {
                                    if (!e.isDead()) {
                                        SimStats stats = e.stats();
                                        assertEquals(0, stats.rooms());
                                        assertEquals(0, stats.sum(SimStats.RankStats::running));
                                        assertEquals(0, stats.sum(SimStats.RankStats::waiting));
                                    }
                                }
                            });
        } finally {
            gateway.close();
        }
    }

    private static String ask(String question, boolean stream, String more) {
        return "{\"model\":\"demo\",\"stream\":"
                + stream
                + more
                + ",\"messages\":[{\"role\":\"system\",\"content\":\""
                + SYSTEM
                + "\"},{\"role\":\"user\",\"content\":\""
                + question
                + "\"}]}";
    }

    private HttpResponse<String> chat(String question, boolean stream) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        ask(question, stream, ",\"nvext\":{\"extra_fields\":[\"worker_id\"]}"),
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private CompletableFuture<HttpResponse<String>> chatLater(String question, boolean stream) {
        CompletableFuture<HttpResponse<String>> later = new CompletableFuture<>();
        Thread.ofVirtual()
                .start(
                        () -> {
                            try {
                                later.complete(chat(question, stream));
                            } catch (Throwable e) {
                                later.completeExceptionally(e);
                            }
                        });
        return later;
    }

    private static String text(HttpResponse<String> answer) throws Exception {
        if (!answer.headers().firstValue("content-type").orElse("").contains("event-stream")) {
            return JSON.readTree(answer.body()).at("/choices/0/message/content").asText();
        }
        assertTrue(answer.body().endsWith("data: [DONE]\n\n"), answer.body());
        StringBuilder text = new StringBuilder();
        for (String line : answer.body().lines().toList()) {
            if (line.startsWith("data: {")) {
                JsonNode event = JSON.readTree(line.substring(6));
                assertTrue(event.path("error").isMissingNode(), line);
                text.append(event.at("/choices/0/delta/content").asText(""));
            }
        }
        return text.toString();
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    /** What an engine that does all of it answers. */
    private String reference(SimEngine whole, String question) throws Exception {
        try (var client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer =
                    client.send(
                            HttpRequest.newBuilder(whole.url().resolve("/v1/chat/completions"))
                                    .POST(
                                            HttpRequest.BodyPublishers.ofString(
                                                    ask(question, false, "")))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            return text(answer);
        }
    }

    private JsonNode workers() throws Exception {
        return JSON.readTree(gateway.get("/workers").body());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void answers_are_those_of_one_engine_and_prefill_goes_where_the_prefix_is(int ranks)
            throws Exception {
        start(
                half(Mode.PREFILL).ranks(ranks),
                half(Mode.PREFILL).ranks(ranks),
                half(Mode.DECODE),
                half(Mode.DECODE));
        try (SimTokenizer tokenizer = SimTokenizer.demo();
                SimEngine alone = SimEngine.start(whole().build(), tokenizer)) {
            Set<String> texts = new HashSet<>();
            Set<String> prefills = new HashSet<>();
            for (int i = 0; i < 8; i++) {
                String question = "What rhymes with number " + i % 4 + "?";
                HttpResponse<String> answer = chat(question, i % 2 == 0);
                String said = text(answer);
                assertEquals(reference(alone, question), said);
                texts.add(said);
                prefills.add(header(answer, SPLIT));
                if (i > 0) {
                    assertNotEquals("0", header(answer, "x-warmpath-overlap-tokens"));
                }
                awaitEvents();
            }
            assertEquals(4, texts.size());
            assertEquals(1, prefills.size(), "the system prompt is cached by one of them");
        }
        JsonNode prefill = workers().at("/data/0");
        assertEquals("prefill", prefill.path("role").asText(), prefill.toString());
        assertEquals(
                gateway.engines.getFirst().bootstrapPort(), prefill.path("bootstrap_port").asInt());
        assertEquals(
                8,
                gateway.meters
                        .get("warmpath.disagg.decisions")
                        .tag("plan", "split")
                        .counter()
                        .count());
        double moved = gateway.meters.get("warmpath.disagg.transfer.tokens").counter().count();
        assertTrue(moved > 800);
        for (String path : List.of("/workers", "/fleet")) {
            JsonNode all = JSON.readTree(gateway.get(path).body());
            JsonNode rows = all.path(path.equals("/fleet") ? "workers" : "data");
            assertEquals(List.of(8L, (long) moved), exchanged(rows, "prefill", "decode"), path);
            assertEquals(List.of(8L, (long) moved), exchanged(rows, "decode", "prefill"), path);
        }
        for (String role : List.of("prefill", "decode")) {
            Gauge pressure = gateway.meters.get("warmpath.role.pressure").tag("role", role).gauge();
            assertTrue(pressure.value() > 0, role);
        }
    }

    /** Splits and tokens that workers of one role have had with those of the other. */
    private static List<Long> exchanged(JsonNode workers, String role, String other) {
        Map<String, String> roles = new HashMap<>();
        workers.forEach(w -> roles.put(w.path("name").asText(), w.path("role").asText()));
        long splits = 0;
        long tokens = 0;
        for (JsonNode worker : workers) {
            for (JsonNode pair : worker.path("pairs")) {
                if (worker.path("role").asText().equals(role)) {
                    assertEquals(other, roles.get(pair.path("worker").asText()));
                    splits += pair.path("splits").asLong();
                    tokens += pair.path("tokens").asLong();
                }
            }
        }
        return List.of(splits, tokens);
    }

    /** A cache takes seconds from zone to zone, and no time within one. */
    @Test
    void both_halves_are_in_one_zone_and_the_explanation_says_so() throws Exception {
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.models.\"demo\".path",
                                "src/tokens/main/resources/demo-model",
                                "warmpath.disaggregation.transfer-rate",
                                "0.1",
                                "warmpath.disaggregation.transfer-rate-zone",
                                "400"),
                        half(Mode.PREFILL),
                        half(Mode.PREFILL),
                        half(Mode.DECODE),
                        half(Mode.DECODE));
        for (int i = 0; i < 4; i++) {
            String labels = "{\"labels\":{\"zone\":\"" + (i % 2 == 0 ? "a" : "b") + "\"}}";
            assertEquals(202, gateway.patch("/workers/w" + i, labels).statusCode());
        }
        Set<String> pairs = new HashSet<>();
        for (int i = 0; i < 12; i++) {
            HttpResponse<String> answer = chat(i + " is what number?", true);
            pairs.add(header(answer, SPLIT) + " " + header(answer, "x-warmpath-worker"));
            String link = "\"transfer\":{\"within\":\"zone\",\"gbit_per_second\":400.0,";
            assertTrue(answer.body().contains(link), answer.body());
        }
        assertTrue(Set.of("w0 w2", "w1 w3").containsAll(pairs), pairs.toString());
    }

    /** So that the lab plays one request where two workers did the parts of it. */
    @Test
    void the_file_of_decisions_says_which_part_a_line_is_about(@TempDir Path folder)
            throws Exception {
        Path log = folder.resolve("decisions.jsonl");
        Map<String, String> settings =
                Map.of(
                        "warmpath.models.\"demo\".path",
                        "src/tokens/main/resources/demo-model",
                        "warmpath.explain.decisions-file",
                        log.toString());
        gateway = SimGateway.start(settings, half(Mode.PREFILL), half(Mode.DECODE));
        chat("What rhymes with file?", false);
        List<String> parts = new ArrayList<>();
        await().atMost(SOON)
                .untilAsserted(
                        () -> {
                            parts.clear();
                            for (String line : Files.readAllLines(log)) {
                                JsonNode read = JSON.readTree(line);
                                if (read.has("number")) {
                                    parts.add(read.path("part").asText("whole"));
                                }
                            }
                            assertEquals(List.of("prefill", "decode"), parts);
                        });
    }

    /** The index knows what the last answer has left in caches. */
    private void awaitEvents() {
        await().atMost(SOON)
                .until(
                        () -> {
                            long published = 0;
                            for (SimEngine e : gateway.engines) {
                                published += e.stats().sum(SimStats.RankStats::publishedBatches);
                            }
                            return gateway
                                            .meters
                                            .find("warmpath.events.batches")
                                            .functionCounters()
                                            .stream()
                                            .mapToDouble(c -> c.count())
                                            .sum()
                                    >= published;
                        });
    }

    @Test
    void a_prefill_engine_that_dies_is_not_seen() throws Exception {
        start(
                half(Mode.PREFILL).prefillTokensPerSecond(2_000),
                half(Mode.PREFILL).prefillTokensPerSecond(2_000),
                half(Mode.DECODE));
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            all.add(chatLater("Who is number " + i + "?", i % 2 == 0));
        }
        SimEngine first = gateway.engines.getFirst();
        await().atMost(SOON).until(() -> first.stats().sum(SimStats.RankStats::running) > 0);
        first.kill();
        for (var each : all) {
            assertTrue(!text(each.get(30, TimeUnit.SECONDS)).isEmpty());
        }
        assertTrue(failedPrefills() > 0, "the engine died while it was needed");
    }

    private double failedPrefills() {
        return gateway.meters.find("warmpath.disagg.prefill.failures").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void a_decode_engine_that_dies_in_mid_answer_is_replaced_with_the_prompt_computed_anew()
            throws Exception {
        start(half(Mode.PREFILL), half(Mode.DECODE), half(Mode.DECODE));
        SimEngine dying = gateway.engines.get(1);
        dying.dieAfter(9);
        try (SimTokenizer tokenizer = SimTokenizer.demo();
                SimEngine alone = SimEngine.start(whole().build(), tokenizer)) {
            for (int i = 0; i < 20 && !dying.isDead(); i++) {
                String question = "Who was number " + i + "?";
                HttpResponse<String> answer = chat(question, true);
                assertEquals(reference(alone, question), text(answer));
            }
        }
        assertTrue(dying.isDead(), "it died in mid-answer");
        assertTrue(
                gateway.engines.getFirst().stats().sum(SimStats.RankStats::finished)
                        > gateway.engines.get(2).stats().sum(SimStats.RankStats::finished),
                "the rest of an answer has its prompt computed too");
    }

    @Test
    void with_one_role_gone_those_that_do_all_of_it_do_it() throws Exception {
        start(half(Mode.PREFILL), half(Mode.DECODE), whole());
        gateway.engines.getFirst().kill();
        for (int i = 0; i < 5; i++) {
            HttpResponse<String> answer = chat("Is number " + i + " there?", i % 2 == 0);
            assertTrue(!text(answer).isEmpty());
            assertEquals("", header(answer, SPLIT));
        }
    }
}
