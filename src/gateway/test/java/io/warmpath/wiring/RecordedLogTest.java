package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A gateway writes down what it decides, and the lab plays that. */
class RecordedLogTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONVERSATIONS = 6;
    private static final int TURNS = 6;
    private static final int ANSWER = 24;

    /** The lab may miss what engines reported by this much: ties are drawn. */
    private static final double TOLERANCE = 0.01;

    @TempDir Path folder;

    /** Conversations over two system prompts, in turn; every prompt has all answers before it. */
    private void converse(SimGateway gateway, boolean sessions) throws Exception {
        List<List<Integer>> texts = new ArrayList<>();
        for (int turn = 0; turn < TURNS; turn++) {
            for (int c = 0; c < CONVERSATIONS; c++) {
                Random random = new Random(100L * c + turn);
                if (turn == 0) {
                    List<Integer> text = new ArrayList<>();
                    new Random(7 + c % 2).ints(165, 10, 5000).forEach(text::add);
                    texts.add(text);
                }
                random.ints(43, 10, 5000).forEach(texts.get(c)::add);
                String[] headers =
                        sessions
                                ? new String[] {"x-session-id", "s" + c}
                                : new String[] {"x-other", "1"};
                HttpResponse<String> answer =
                        gateway.post(
                                "/router/generate",
                                "{\"token_ids\":"
                                        + texts.get(c)
                                        + ",\"stop_conditions\":{\"ignore_eos\":true,\"max_tokens\":"
                                        + ANSWER
                                        + "}}",
                                headers);
                assertEquals(200, answer.statusCode(), answer.body());
                for (String line : answer.body().lines().toList()) {
                    if (line.startsWith("data: {")) {
                        for (JsonNode id : JSON.readTree(line.substring(6)).get("token_ids")) {
                            texts.get(c).add(id.intValue());
                        }
                    }
                }
            }
        }
    }

    private void record(Path log, boolean sessions) throws Exception {
        SimOptions.Builder one = engine();
        SimOptions.Builder two = engine();
        SimGateway gateway =
                SimGateway.start(
                        Map.of("warmpath.explain.decisions-file", log.toString()), one, two);
        try {
            converse(gateway, sessions);
            await().untilAsserted(
                            () ->
                                    assertEquals(
                                            2 * CONVERSATIONS * TURNS,
                                            Files.readAllLines(log).size()));
        } finally {
            gateway.close();
        }
    }

    private static SimOptions.Builder engine() {
        return SimOptions.builder()
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private static double number(String form, String text) {
        Matcher m = Pattern.compile(form).matcher(text);
        assertTrue(m.find(), text);
        return Double.parseDouble(m.group(1));
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int lab(String... args) {
        out.reset();
        err.reset();
        return io.warmpath.tools.ToolsMain.run(
                Stream.concat(Stream.of("lab"), Arrays.stream(args)).toArray(String[]::new),
                System.in,
                print(out),
                print(err));
    }

    private static PrintStream print(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void the_lab_plays_a_gateways_log_and_hits_as_much_as_its_engines_reported(boolean sessions)
            throws Exception {
        Path log = folder.resolve("decisions.jsonl");
        record(log, sessions);
        // Slowed down, however fast this machine recorded: the lab's engines decode slower than the
        // simulated ones did, and a turn is to find the turn before it done.
        String[] args = {
            "run",
            "--from-log",
            log.toString(),
            "--policies",
            "latency",
            "--loads",
            "0.005",
            "--quiet"
        };
        assertEquals(0, lab(args), err.toString(StandardCharsets.UTF_8));
        String told = err.toString(StandardCharsets.UTF_8);
        assertTrue(told.contains("36 requests"), told);
        assertTrue(told.contains("2 engines, blocks of 16 tokens"), told);
        double reported = number("hit rate (\\S+)", told);
        double played = number("latency( +[0-9.]+){7} +([0-9.]+) ", told, out);
        assertTrue(reported > 0.7, told);
        assertEquals(reported, played, TOLERANCE, told + out);
    }

    private static double number(String form, String told, ByteArrayOutputStream out) {
        String text = out.toString(StandardCharsets.UTF_8);
        Matcher m = Pattern.compile(form).matcher(text);
        assertTrue(m.find(), told + text);
        return Double.parseDouble(m.group(2));
    }

    @Test
    void a_log_names_prompts_blocks_sessions_and_what_became_of_each_request() throws Exception {
        Path log = folder.resolve("decisions.jsonl");
        record(log, true);
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(log)) {
            lines.add(JSON.readTree(line));
        }
        JsonNode first = lines.getFirst();
        assertEquals(16, first.get("block_tokens").intValue());
        assertEquals("s0", first.get("session").textValue());
        // 165 and 43 tokens are 13 blocks, of which every other conversation shares 10.
        String names = first.get("prompt_blocks").textValue();
        assertEquals(13 * 8, names.length());
        JsonNode other =
                lines.stream().filter(l -> l.path("number").asInt() == 2).findFirst().orElseThrow();
        assertTrue(other.get("prompt_blocks").textValue().startsWith(names.substring(0, 80)));
        assertTrue(!other.get("prompt_blocks").textValue().startsWith(names.substring(0, 88)));
        JsonNode end =
                lines.stream()
                        .filter(l -> l.path("ended").asInt(-1) == CONVERSATIONS)
                        .findFirst()
                        .orElseThrow();
        assertEquals(200, end.get("status").intValue());
        assertEquals(165 + 43 + ANSWER + 43, end.get("prompt_tokens").intValue());
        assertEquals(ANSWER, end.get("output_tokens").intValue());
        assertTrue(end.get("cached_tokens").intValue() >= 208, end::toString);
        assertTrue(end.get("first_token_ms").doubleValue() > 0, end::toString);
        assertTrue(
                end.get("total_ms").doubleValue() > end.get("first_token_ms").doubleValue(),
                end::toString);
    }
}
