package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.virtual.EngineModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Equal requests at equal distances, one after the other to each engine: what that can carry. */
class CapacitySearchTest {
    private static final int ENGINES = 3;
    private static final int PROMPT = 8000;
    private static final int ANSWER = 20;

    /** The search stops when what keeps the limits and what breaks them are so close. */
    private static final double PRECISION = 0.015;

    @TempDir Path folder;
    private Path even;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void requests() throws IOException {
        even = file("even.csv", 2000);
    }

    private Path file(String name, int requests) throws IOException {
        StringBuilder table = new StringBuilder("timestamp,input_length,output_length\n");
        for (int i = 0; i < requests; i++) {
            table.append("%d,%d,%d%n".formatted(i * 200, PROMPT, ANSWER));
        }
        return Files.writeString(folder.resolve(name), table);
    }

    private int lab(String... args) {
        out.reset();
        err.reset();
        return LabMain.run(args, LabMainTest.NATIVE, print(out), print(err));
    }

    private static PrintStream print(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    /** The rows of the table that was found, without its head. */
    private List<String[]> capacity(Path workload, String... more) throws IOException {
        Path csv = folder.resolve("found.csv");
        String[] args = {
            "capacity",
            workload.toString(),
            "--engines",
            String.valueOf(ENGINES),
            "--csv",
            csv.toString(),
            "--quiet"
        };
        int code = lab(Stream.concat(Arrays.stream(args), Stream.of(more)).toArray(String[]::new));
        assertEquals(0, code, err.toString(StandardCharsets.UTF_8));
        return Files.readAllLines(csv).stream().skip(1).map(l -> l.split(",", -1)).toList();
    }

    private String[] roundRobin(String... more) throws IOException {
        String[] all = Arrays.copyOf(more, more.length + 2);
        all[more.length] = "--policies";
        all[more.length + 1] = "round-robin";
        List<String[]> rows = capacity(even, all);
        assertEquals(1, rows.size());
        return rows.getFirst();
    }

    private static void assertRate(double expected, String[] row) {
        double found = Double.parseDouble(row[6]);
        assertTrue(
                found > expected * (1 - PRECISION) / 1.01 && found < expected * 1.01,
                expected + " expected: " + String.join(",", row));
    }

    private static double prefillSeconds() {
        EngineModel m = EngineModel.SMALL;
        double n = PROMPT;
        return (m.stepMillis() + n * m.millisPerToken() + n * n / 2 * m.millisPerPair()) / 1000;
    }

    /** What each answer that is under way adds to a step. */
    private static double answerSeconds() {
        EngineModel m = EngineModel.SMALL;
        return (m.millisPerSequence() + (PROMPT + ANSWER / 2.0) * m.millisPerHeldToken()) / 1000;
    }

    @Test
    void while_prompts_alone_count_every_step_of_an_engine_computes_one() throws IOException {
        String[] row = roundRobin("--ttft", "1000", "--itl", "1000");
        assertEquals("ttft", row[8], String.join(",", row));
        assertRate(ENGINES / (prefillSeconds() + (ANSWER - 1) * answerSeconds()), row);
        assertTrue(Double.parseDouble(row[9]) < 1000, String.join(",", row));
    }

    @Test
    void while_no_answer_may_be_held_up_a_prompt_comes_when_the_last_answer_has_ended()
            throws IOException {
        String[] row = roundRobin("--ttft", "1000", "--itl", "12");
        assertEquals("itl", row[8], String.join(",", row));
        EngineModel m = EngineModel.SMALL;
        double token = (m.stepMillis() + m.weightsMillis()) / 1000 + answerSeconds();
        assertRate(ENGINES / (prefillSeconds() + (ANSWER - 1) * token), row);
    }

    @Test
    void the_percentile_says_how_many_may_be_late() throws IOException {
        double most = Double.parseDouble(roundRobin("--ttft", "4000", "--percentile", "50")[6]);
        double few = Double.parseDouble(roundRobin("--ttft", "4000", "--percentile", "99")[6]);
        assertTrue(most >= few, most + " and " + few);
        assertEquals(2, lab("capacity", even.toString(), "--percentile", "94"));
        String told = err.toString(StandardCharsets.UTF_8);
        assertTrue(told.contains("--percentile 94: is out of range"), told);
    }

    @Test
    void limits_that_are_kept_at_no_rate_are_a_capacity_of_nothing() throws IOException {
        String[] row = roundRobin("--ttft", "100");
        assertEquals("0.00000", row[6], String.join(",", row));
        assertEquals("ttft", row[8], String.join(",", row));
        String[] both = roundRobin("--ttft", "100", "--itl", "1");
        assertEquals("both", both[8], String.join(",", both));
    }

    @Test
    void a_workload_that_ends_before_queues_build_up_is_refused_or_told() throws IOException {
        Path tiny = file("tiny.csv", 3);
        assertEquals(2, lab("capacity", tiny.toString(), "--quiet"));
        String told = err.toString(StandardCharsets.UTF_8);
        assertTrue(told.contains("tiny.csv keeps its limits at every rate: it ends"), told);
        capacity(file("short.csv", 200), "--policies", "round-robin");
        assertTrue(out.toString(StandardCharsets.UTF_8).contains("overload of"), "not told");
        capacity(even, "--policies", "round-robin", "--ttft", "1000");
        assertTrue(!out.toString(StandardCharsets.UTF_8).contains("overload of"), "told");
    }

    @Test
    void the_table_compares_with_round_robin_and_the_best_peer_and_all_forms_agree()
            throws IOException {
        Path json = folder.resolve("found.json");
        Path svg = folder.resolve("found.svg");
        List<String[]> rows =
                capacity(
                        even,
                        "--policies",
                        "kv,round-robin,smg,llm-d",
                        "--seeds",
                        "2",
                        "--ttft",
                        "1000",
                        "--json",
                        json.toString(),
                        "--svg",
                        svg.toString());
        assertEquals(8, rows.size(), "four policies, two seeds");
        String told = out.toString(StandardCharsets.UTF_8);
        assertTrue(told.startsWith("even.csv: p95 TTFT < 1 s, ITL < 50 ms\n"), told);
        double base = mean(rows, "round-robin");
        double peer = Math.max(mean(rows, "smg"), mean(rows, "llm-d"));
        for (String policy : List.of("kv", "round-robin", "smg", "llm-d")) {
            double own = mean(rows, policy);
            String line =
                    told.lines().filter(l -> l.startsWith("  " + policy)).findFirst().orElseThrow();
            assertTrue(
                    line.matches(
                            "  %s +%.2f +[0-9.]+ to [0-9.]+ +%.2f +%.2f +(ttft|itl|both) .*"
                                    .formatted(policy, own, own / base, own / peer)),
                    line + " for " + own);
        }
        List<String> lines = Files.readAllLines(json);
        assertEquals(8, lines.size());
        assertTrue(lines.getFirst().contains("\"requests_per_second\":" + rows.getFirst()[6]));
        assertTrue(Files.readString(svg).contains("even.csv"), "the plot names its workload");
        String csv = Files.readString(folder.resolve("found.csv"));
        capacity(even, "--policies", "kv,round-robin,smg,llm-d", "--seeds", "2", "--ttft", "1000");
        assertEquals(csv, Files.readString(folder.resolve("found.csv")), "byte for byte");
    }

    private static double mean(List<String[]> rows, String policy) {
        return rows.stream()
                .filter(r -> r[1].equals(policy))
                .mapToDouble(r -> Double.parseDouble(r[6]))
                .average()
                .orElseThrow();
    }
}
