package io.warmpath.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The commands of the tools' jar. */
class ToolsMainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... args) {
        return ToolsMain.run(
                args,
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void the_lab_plays_over_the_native_index() {
        assertEquals(
                0,
                run("lab", "run", "synth", "--policies", "latency,seed-002", "--loads", "0.3"),
                err());
        assertTrue(out().contains("synth at load 0.3"), out());
    }

    @Test
    void help_names_every_command() {
        assertEquals(0, run());
        for (String command :
                List.of(
                        "sim", "demo", "capture", "render", "lab", "status", "top", "why", "drain",
                        "resume", "ask", "audit", "help")) {
            assertTrue(out().contains("\n  " + command + " "), command);
        }
    }

    @Test
    void an_unknown_command_is_refused() {
        assertEquals(ToolsMain.USAGE, run("serve"));
        assertEquals(
                "warmpath-tools: unknown command `serve`; try `warmpath-tools help`.\n", err());
    }
}
