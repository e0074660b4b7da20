package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Counter;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A worker is killed under many streams: every one of them comes to its end, and says what it would
 * have said. {@code -Dtest.streams=N} runs N at once.
 */
@Tag("slow")
class MigrationFleetTest {
    private static final int STREAMS = Integer.getInteger("test.streams", 40);
    private static final int TOKENS = 60;

    /** What a client makes of one stream. */
    private record Read(String text, String finish, JsonObject usage, int roles, int ids) {}

    @ParameterizedTest
    @EnumSource(names = {"SGLANG_MAP", "VLLM_MAP"})
    void killing_a_worker_loses_no_stream_and_changes_no_text(WireFormat wire) throws Exception {
        SimOptions.Builder[] engines = new SimOptions.Builder[4];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder()
                            .wire(wire)
                            .maxBatch(STREAMS)
                            .answerTokens(TOKENS)
                            .interToken(Duration.ofMillis(15))
                            .seed(5);
        }
        SimGateway gateway = SimGateway.start(Map.of(), engines);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Read> undisturbed = results(streams(gateway, clients));
            SimEngine victim = gateway.engines.getFirst();
            victim.dieAfter(
                    TOKENS * 2 / 3); // in mid-stream for the first and those that came with it
            List<Future<Read>> disturbed = streams(gateway, clients);
            List<Read> read = results(disturbed);
            for (int i = 0; i < STREAMS; i++) {
                Read was = undisturbed.get(i);
                Read is = read.get(i);
                assertEquals(was.text(), is.text(), "stream " + i);
                assertEquals(was.finish(), is.finish(), "stream " + i);
                assertEquals(1, is.ids(), "ids in stream " + i);
                assertEquals(isChat(i) ? 1 : 0, is.roles(), "roles in stream " + i);
                for (String count : List.of("prompt_tokens", "completion_tokens", "total_tokens")) {
                    assertEquals(
                            was.usage().getInteger(count), is.usage().getInteger(count), count);
                }
            }
            assertTrue(victim.isDead());
            assertTrue(moved(gateway, "completed") >= STREAMS * 0.1, "streams were moved");
            assertEquals(moved(gateway, "moved"), moved(gateway, "completed"));
            assertEquals(0, moved(gateway, "failed") + moved(gateway, "refused"));
            assertEquals(0, gateway.gauge("warmpath.migration.kept.bytes"));
        } finally {
            gateway.close();
        }
    }

    private static double moved(SimGateway gateway, String result) {
        return gateway.meters.find("warmpath.migrations").tag("result", result).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    private static List<Read> results(List<Future<Read>> running) throws Exception {
        List<Read> results = new ArrayList<>();
        for (Future<Read> r : running) {
            results.add(r.get(60, TimeUnit.SECONDS));
        }
        return results;
    }

    private static List<Future<Read>> streams(SimGateway gateway, ExecutorService clients) {
        List<Future<Read>> running = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            boolean chat = isChat(i);
            String ask = "Please say something about number " + i + ".";
            String body =
                    "{\"model\":\"demo\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
                            + (chat
                                    ? "\"messages\":[{\"role\":\"user\",\"content\":\""
                                            + ask
                                            + "\"}]"
                                    : "\"max_tokens\":50,\"prompt\":\"" + ask + "\"")
                            + "}";
            String path = chat ? "/v1/chat/completions" : "/v1/completions";
            running.add(clients.submit(() -> read(gateway.post(path, body))));
        }
        return running;
    }

    /** Every other one is a completion. */
    private static boolean isChat(int stream) {
        return stream % 2 == 0;
    }

    private static Read read(HttpResponse<String> answer) {
        assertEquals(200, answer.statusCode(), answer.body());
        StringBuilder text = new StringBuilder();
        String finish = "";
        JsonObject usage = new JsonObject();
        int roles = 0;
        List<String> ids = new ArrayList<>();
        int ends = 0;
        for (String line : answer.body().split("\n", -1)) {
            if (line.equals("data: [DONE]")) {
                ends++;
            }
            if (!line.startsWith("data: {")) {
                continue;
            }
            JsonObject chunk = new JsonObject(line.substring(6));
            assertTrue(!chunk.containsKey("error"), line);
            String id = chunk.getString("id") + chunk.getValue("created");
            if (!ids.contains(id)) {
                ids.add(id);
            }
            JsonArray choices = chunk.getJsonArray("choices");
            if (choices.isEmpty()) {
                usage = chunk.getJsonObject("usage");
                continue;
            }
            JsonObject choice = choices.getJsonObject(0);
            JsonObject delta = choice.getJsonObject("delta", choice);
            roles += delta.containsKey("role") ? 1 : 0;
            String said = delta.getString(choice.containsKey("delta") ? "content" : "text");
            text.append(said == null ? "" : said);
            finish +=
                    choice.getValue("finish_reason") == null
                            ? ""
                            : choice.getString("finish_reason");
        }
        assertEquals(1, ends, "one [DONE]");
        return new Read(text.toString(), finish, usage, roles, ids.size());
    }
}
