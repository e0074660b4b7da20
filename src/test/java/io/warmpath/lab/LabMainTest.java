package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativeBlockTracker;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.lab.policy.Indexes;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixIndex;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
            "run", "synth", "--policies", "all", "--loads", "0.6", "--quiet", "--json", ""
        };
        args[args.length - 1] = one.toString();
        assertEquals(0, lab(args), err());
        String table = out();
        args[args.length - 1] = two.toString();
        assertEquals(0, lab(args), err());
        assertEquals(table, out());
        String json = Files.readString(one);
        assertEquals(json, Files.readString(two));
        assertTrue(json.lines().count() >= 6, json);
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
        assertTrue(err().contains("unknown scenario chatt; warmpath lab list shows them"), err());
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
