package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import io.warmpath.lab.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Our routing does not get worse unnoticed: mean time to the first token and hit rate of a few
 * scenarios against figures that are kept in the tree. Virtual time, so they are the same on every
 * machine.
 */
class FiguresTest {
    private static final Path FIGURES = Path.of("src/test/resources/lab/figures.csv");
    private static final double WORSE = 1.03;
    private static final double LOAD = 0.7;

    private static boolean isWorse(String[] known, double ttft, double e2e, double hitRate) {
        return !(ttft <= WORSE * Double.parseDouble(known[2])
                && e2e <= WORSE * Double.parseDouble(known[3])
                && hitRate >= Double.parseDouble(known[4]) / WORSE);
    }

    @Test
    void what_is_worse_is_seen() {
        String[] known = {"chat", "kv", "100", "1000", "0.5"};
        assertFalse(isWorse(known, 102.9, 1029, 0.486));
        assertTrue(isWorse(known, 103.1, 1000, 0.5));
        assertTrue(isWorse(known, 100, 1031, 0.5));
        assertTrue(isWorse(known, 100, 1000, 0.485));
        assertTrue(isWorse(known, Double.NaN, 1000, 0.5));
    }

    @Test
    @Tag("slow")
    void no_figure_of_ours_is_worse_by_more_than_three_percent() throws IOException {
        List<String> known = Files.readAllLines(FIGURES);
        List<String> measured = new ArrayList<>(List.of(known.getFirst()));
        List<String> worse = new ArrayList<>();
        String drawn = "";
        Workload workload = null;
        for (String line : known.subList(1, known.size())) {
            String[] words = line.split(",", -1);
            Scenario scenario = Scenarios.find(words[0]).orElseThrow();
            if (!words[0].equals(drawn)) {
                workload = scenario.draw().apply(1);
                drawn = words[0];
            }
            PolicyCatalog.Named policy = PolicyCatalog.find(words[1]).orElseThrow();
            Result r =
                    CellRun.play(new Cell(scenario, policy, LOAD, 1), workload, LabMainTest.NATIVE);
            measured.add(
                    String.format(
                            Locale.ROOT,
                            "%s,%s,%.1f,%.1f,%.4f",
                            words[0],
                            words[1],
                            r.ttft().mean(),
                            r.e2e().mean(),
                            r.hitRate()));
            if (isWorse(words, r.ttft().mean(), r.e2e().mean(), r.hitRate())) {
                worse.add(line + " is now " + measured.getLast());
            }
        }
        assertTrue(known.size() > 8, "only " + known);
        assertEquals(
                List.of(),
                worse,
                "if that is meant, say why in RESULTS.md and make "
                        + FIGURES
                        + "\n"
                        + String.join("\n", measured));
    }
}
