package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.warmpath.adapter.nativeindex.NativeBlockTracker;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.sim.virtual.EngineModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class LabMainTest {
    static final Indexes NATIVE =
            new Indexes() {
                @Override
                public PrefixIndex index(DecisionLimits limits) {
                    return new NativePrefixIndex(
                            Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT, limits);
                }

                @Override
                public BlockTracker tracker(BlockTracker.Options options) {
                    return new NativeBlockTracker(Optional.empty(), options);
                }
            };

    @TempDir Path folder;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int lab(String... args) {
        out.reset();
        err.reset();
        return LabMain.run(args, NATIVE, print(out), print(err));
    }

    private static PrintStream print(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void the_same_arguments_give_the_same_report_byte_for_byte() throws IOException {
        Path one = folder.resolve("1");
        Path two = folder.resolve("2");
        String[] args = {
            "run",
            "synth",
            "--policies",
            "all",
            "--loads",
            "0.6",
            "--quiet",
            "--html",
            "",
            "--json",
            ""
        };
        args[args.length - 3] = folder.resolve("1.html").toString();
        args[args.length - 1] = one.toString();
        assertEquals(0, lab(args), err());
        String table = out();
        args[args.length - 3] = folder.resolve("2.html").toString();
        args[args.length - 1] = two.toString();
        assertEquals(0, lab(args), err());
        assertEquals(table, out());
        String json = Files.readString(one);
        assertEquals(json, Files.readString(two));
        String page = Files.readString(folder.resolve("1.html"));
        assertEquals(page, Files.readString(folder.resolve("2.html")));
        assertTrue(page.contains("engine 7") && page.endsWith("</html>\n"), page);
        assertFalse(page.contains("NaN") || page.contains("http"), "something is missing");
        assertTrue(json.lines().count() >= 6, json);
        eachDisagreementTellsTheNumbersOfBothRules(page);
    }

    private static void eachDisagreementTellsTheNumbersOfBothRules(String page) throws IOException {
        String lead = "id=\"decisions\">";
        int from = page.indexOf(lead) + lead.length();
        JsonNode pairs = new JsonMapper().readTree(page.substring(from, page.indexOf('\n', from)));
        long rules =
                PolicyCatalog.ALL.stream()
                        .filter(p -> p.kind() != PolicyCatalog.Kind.REFERENCE)
                        .map(PolicyCatalog.Named::name)
                        .distinct()
                        .count();
        assertEquals(rules - 1, pairs.size(), "ours against each of the others");
        for (JsonNode pair : pairs) {
            assertEquals("latency", pair.get("one").textValue());
            assertEquals(12, pair.get("examples").size(), pair::toString);
            double last = Double.POSITIVE_INFINITY;
            for (JsonNode e : pair.get("examples")) {
                JsonNode one = e.get("one");
                JsonNode other = e.get("other");
                assertTrue(one.get("engine").intValue() != other.get("engine").intValue());
                assertEquals(8, one.get("terms").get("cost").size());
                other.get("terms").forEach(t -> assertEquals(8, t.size(), pair::toString));
                double apart =
                        Math.abs(
                                Double.parseDouble(one.get("ttft").textValue())
                                        - Double.parseDouble(other.get("ttft").textValue()));
                assertTrue(apart <= last * 1.01, "largest difference first: " + pair);
                last = apart;
            }
            JsonNode terms = pair.get("examples").get(0).get("other").get("terms");
            String mustHave =
                    switch (pair.get("other").textValue()) {
                        case "smg" -> "requests";
                        case "llm-d" -> "sum, highest wins";
                        case "lmetric" -> "product, lowest wins";
                        case "kv", "dynamo", "agentic" -> "decode_blocks";
                        default -> "";
                    };
            assertTrue(mustHave.isEmpty() || terms.has(mustHave), pair::toString);
        }
        assertTrue(
                page.contains("<tr data-p=\"0\" data-d=\"11\" tabindex=\"0\">"), "rows to click");
    }

    @Test
    void the_list_names_scenarios_and_policies() {
        assertEquals(0, lab("list"));
        assertTrue(out().contains("conv70"), out());
        assertTrue(out().contains("latency"), out());
    }

    @Test
    void wrong_arguments_are_named_with_what_to_do() {
        assertEquals(2, lab("run", "chatt"));
        assertTrue(err().contains("no scenario and no file chatt; warmpath lab list shows"), err());
        assertEquals(2, lab("run", "chat", "--policies", "best"));
        assertTrue(err().contains("unknown policy best"), err());
        assertEquals(2, lab("run", "chat", "--loads", "much"));
        assertTrue(err().contains("--loads much: must be a number"), err());
        assertEquals(2, lab("run"));
        assertTrue(err().contains("which scenario?"), err());
        assertEquals(2, lab("runn", "chat"));
        assertTrue(err().contains("unknown command runn"), err());
    }

    @Test
    void a_recorded_workload_is_played_at_its_own_rate() throws IOException {
        Path jsonl = folder.resolve("mine.jsonl");
        Path csv = folder.resolve("mine.csv");
        StringBuilder json = new StringBuilder();
        StringBuilder table = new StringBuilder();
        table.append("timestamp,input_length,output_length,hash_ids,session\n");
        for (int i = 0; i < 40; i++) {
            json.append(
                    "{\"timestamp\":%d,\"input_length\":1100,\"output_length\":%d,"
                                    .formatted(i * 100, i + 1)
                            + "\"hash_ids\":[7,8],\"session\":\"a\"}\n");
            table.append("%d,1100,%d,7 8,a%n".formatted(i * 100, i + 1));
        }
        Files.writeString(jsonl, json);
        Files.writeString(csv, table);
        String[] args = {"run", "", "--policies", "latency", "--loads", "1", "--quiet"};
        args[1] = jsonl.toString();
        assertEquals(0, lab(args), err());
        String played = out();
        assertTrue(played.startsWith("mine.jsonl at load 1"), played);
        assertTrue(played.contains("0.931"), "two of 2.15 blocks are cached: " + played);
        args[1] = csv.toString();
        assertEquals(0, lab(args), err());
        assertEquals(played, out().replace("mine.csv", "mine.jsonl"));

        Files.writeString(csv, "timestamp,output_length\n1,2\n");
        assertEquals(2, lab(args));
        assertTrue(err().contains("mine.csv, line 2: there is no column input_length"), err());
    }

    @Test
    void a_fleet_is_sized_so_that_one_engine_fewer_would_not_do() throws IOException {
        Path file = folder.resolve("even.csv");
        StringBuilder table = new StringBuilder("timestamp,input_length,output_length\n");
        for (int i = 0; i < 200; i++) {
            table.append(i * 100).append(",8000,1\n"); // 0.2997 s of work every 0.1 s
        }
        Files.writeString(file, table);
        String[] args = {
            "size", file.toString(), "--policies", "round-robin", "--loads", "1,2", "--slo", "400"
        };
        assertEquals(0, lab(args), err());
        assertTrue(out().matches("(?s).*load 1.0 +round-robin +3 engines.*"), out());
        assertTrue(out().matches("(?s).*load 2.0 +round-robin +6 engines.*"), out());
        assertEquals(2, lab("size", "chat-join"));
        assertTrue(err().contains("chat-join is about single engines"), err());
    }

    @Tag("long")
    @Test
    void pressure_tells_from_which_rate_on_queues_grow_and_what_it_is_there() {
        assertEquals(0, lab("pressure", "long-answers", "--quiet"), err());
        assertTrue(
                out().matches(
                                "(?s)long-answers: queues grow from 4\\d\\.\\d/s on, the pressure is 1"
                                        + " at [01]\\.\\d+ of it\n.*"),
                out());
        assertEquals(9, out().lines().filter(l -> l.endsWith("%")).count(), out());
        assertEquals(2, lab("pressure", "tiny", "--quiet"));
        assertTrue(err().contains("tiny is over after"), err());
    }

    @Test
    void weights_are_searched_on_one_part_and_reported_on_the_other() throws IOException {
        Path file = folder.resolve("mine.csv");
        StringBuilder table = new StringBuilder("timestamp,input_length,output_length,hash_ids\n");
        for (int i = 0; i < 300; i++) {
            int document = i * 7919 % 13;
            table.append(
                    "%d,2400,20,%d %d %d %d%n"
                            .formatted(i * 60, document, document, document, 100 + i));
        }
        Files.writeString(file, table);
        String[] args = {
            "tune",
            file.toString(),
            "--engines",
            "3",
            "--loads",
            "1",
            "--seeds",
            "2",
            "--budget",
            "12",
            "--quiet",
            "--policy",
            "kv"
        };
        assertEquals(0, lab(args), err());
        String told = out();
        assertTrue(told.contains("blocks of 512 tokens"), told);
        assertTrue(told.contains("mean TTFT against kv on the held-back part\n  tuned "), told);
        assertTrue(told.contains("  agentic ") && told.contains("  latency "), told);
        assertTrue(told.contains("\n\n# -") ^ told.contains("\n\nkeep kv: "), told);
        assertEquals(0, lab(args), err());
        assertEquals(told, out());

        // Unless told otherwise it searches for the cost that holds unless told otherwise.
        assertEquals(0, lab(java.util.Arrays.copyOf(args, args.length - 2)), err());
        assertTrue(out().contains("against latency on the held-back part\n"), out());
        String[] other = args.clone();
        other[args.length - 1] = "smg";
        assertEquals(2, lab(other));
        assertTrue(err().contains("--policy smg: must be kv or latency"), err());
        assertEquals(2, lab("tune", file.toString(), "--budget", "1", "--quiet"));
        assertTrue(err().contains("a budget of 1 plays is not enough for 8 cells"), err());
        assertEquals(2, lab("tune", "chat", "conv70", "--quiet"));
        assertTrue(err().contains("chat and conv70 have other engines"), err());
        assertEquals(2, lab("tune", file.toString(), "hot", "--policy", "kv", "--quiet"));
        assertTrue(err().contains("mine.csv has blocks of 512 tokens and hot of 64"), err());
    }

    @Test
    void a_difference_is_told_from_the_spread_over_seeds() throws IOException {
        Path a = folder.resolve("a");
        Path b = folder.resolve("b");
        String form =
                "{\"scenario\":\"%s\",\"policy\":\"kv\",\"load\":0.7,\"seed\":%d,"
                        + "\"ttft_mean_ms\":%d}%n";
        Files.writeString(
                a,
                form.formatted("x", 1, 100)
                        + form.formatted("x", 2, 200)
                        + form.formatted("x", 3, 150)
                        + form.formatted("y", 1, 100)
                        + form.formatted("y", 2, 100)
                        + form.formatted("y", 3, 100));
        Files.writeString(
                b,
                form.formatted("x", 1, 90)
                        + form.formatted("x", 2, 181)
                        + form.formatted("x", 3, 134)
                        + form.formatted("y", 1, 80)
                        + form.formatted("y", 2, 130)
                        + form.formatted("y", 3, 85));
        assertEquals(0, lab("compare", a.toString(), b.toString()), err());
        String[] lines = out().split("\n", -1);
        assertTrue(lines[1].startsWith("x, kv, 0.7") && lines[1].endsWith("B is faster"), out());
        assertTrue(lines[2].endsWith("within the spread"), out());
        assertEquals(2, lab("compare", a.toString()));
        assertTrue(err().contains("compare takes two files"), err());
    }

    private String refused(String... yaml) throws IOException {
        Path file = folder.resolve("engine.yaml");
        Files.write(file, List.of(yaml));
        assertEquals(2, lab("run", "chat", "--engine-file", file.toString()));
        return err();
    }

    @Test
    void an_engine_model_is_printed_as_it_is_read() throws IOException {
        Path file = folder.resolve("engine.yaml");
        for (EngineModel preset : EngineModel.PRESETS) {
            assertEquals(0, lab("model", preset.name()), err());
            Files.writeString(file, out());
            assertEquals(preset, EngineFile.read(file));
        }
        Files.writeString(file, "preset: 70b\nkv-tokens: 760000\nprefill-micros-per-token: 43\n");
        EngineModel own = EngineFile.read(file);
        assertEquals("own, from 70b", own.name());
        assertEquals(760_000, own.kvTokens());
        assertEquals(0.043, own.millisPerToken());
        assertEquals(EngineModel.LARGE.millisPerPair(), own.millisPerPair());
        assertEquals(2, lab("model", "13b"));
        assertTrue(err().contains("preset 13b: there are 8b, 70b"), err());
    }

    @Test
    void an_engine_of_ones_own_is_put_before_scenarios_and_files() throws IOException {
        Path file = folder.resolve("engine.yaml");
        Files.writeString(file, "preset: 8b\nprefill-micros-per-token: 320\n");
        String[] args = {
            "run", "synth", "--policies", "round-robin", "--loads", "0.05", "--quiet", "--csv", ""
        };
        args[8] = folder.resolve("a").toString();
        assertEquals(0, lab(args), err());
        String[] own = java.util.Arrays.copyOf(args, 11);
        own[8] = folder.resolve("b").toString();
        own[9] = "--engine-file";
        own[10] = file.toString();
        assertEquals(0, lab(own), err());
        double ratio = ttft(folder.resolve("b")) / ttft(folder.resolve("a"));
        assertTrue(ratio > 4 && ratio < 30, "prefill is ten times as slow: " + ratio);
    }

    private static double ttft(Path csv) throws IOException {
        return Double.parseDouble(Files.readAllLines(csv).get(1).split(",", -1)[5]);
    }

    @Test
    void what_is_wrong_in_an_engine_file_is_named_with_its_key() throws IOException {
        assertTrue(refused("kv-tokens: 5").contains("step-fixed-millis is missing; set it, or a"));
        assertTrue(refused("preset: 8b", "kv_tokens: 5").contains("unknown key kv_tokens; there"));
        assertTrue(refused("preset: 9b").contains("engine.yaml: preset 9b: there are 8b, 70b"));
        assertTrue(refused("preset: 8b", "kv-tokens: much").contains("kv-tokens must be a number"));
        assertTrue(refused("preset: 8b", "kv-tokens: 0").contains("kv-tokens is 0; it must be ab"));
        assertTrue(refused("preset: 8b", "sequences: 1.5").contains("sequences is 1.5; it must"));
        assertTrue(refused("preset: 8b", "preset: 70b").contains("found duplicate key preset"));
        assertTrue(refused("- 8b").contains("keys and values are expected"), err());
        assertEquals(2, lab("run", "chat", "--engine-file", folder + "/no.yaml"));
        assertTrue(err().contains("there is no file"), err());
    }

    @Test
    void help_is_given_with_and_without_a_command() {
        assertEquals(0, lab());
        String help = out();
        assertEquals(0, lab("run", "--help"));
        assertEquals(help, out());
        assertTrue(help.contains("--policies"), help);
    }

    @Test
    void progress_goes_to_the_other_stream_and_ends_empty() {
        assertEquals(0, lab("run", "synth", "--policies", "random", "--loads", "0.5"));
        assertTrue(err().contains("%"), err());
        assertTrue(out().startsWith("synth at load 0.5"), out());
    }
}
