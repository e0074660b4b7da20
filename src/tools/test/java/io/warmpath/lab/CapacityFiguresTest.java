package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.report.CapacityPlot;
import io.warmpath.lab.report.CapacityTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README's plot of capacities shows what the table beside it holds, and both its command. */
class CapacityFiguresTest {
    private static final Path TABLE = Path.of("src/docs/images/capacity.csv");
    private static final Path PLOT = Path.of("src/docs/images/capacity.svg");
    private static final Path PAGE = Path.of("src/docs/how-to/lab.md");
    private static final Pattern COMMAND =
            Pattern.compile("(?m)^\\./warmpath lab capacity (.* --csv .*)$");

    private static List<Capacity> read() throws IOException {
        List<String> lines = Files.readAllLines(TABLE);
        List<String> names = List.of(lines.getFirst().split(",", -1));
        List<Capacity> all = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            List<String> row = List.of(line.split(",", -1));
            all.add(
                    new Capacity(
                            row.get(names.indexOf("scenario")),
                            row.get(names.indexOf("policy")),
                            (long) number(names, row, "seed"),
                            new Limits(
                                    (int) number(names, row, "percentile"),
                                    number(names, row, "ttft_limit_ms"),
                                    number(names, row, "itl_limit_ms")),
                            number(names, row, "requests_per_second"),
                            number(names, row, "rate"),
                            Capacity.Bound.valueOf(
                                    row.get(names.indexOf("binds")).toUpperCase(Locale.ROOT)),
                            number(names, row, "ttft_ms"),
                            number(names, row, "itl_ms"),
                            number(names, row, "window_s")));
        }
        return all;
    }

    private static double number(List<String> names, List<String> row, String name) {
        return Double.parseDouble(row.get(names.indexOf(name)));
    }

    @Test
    void the_plot_draws_the_table_and_a_changed_table_draws_another() throws IOException {
        List<Capacity> found = read();
        String again = "if the table is right, draw it again by the README's command";
        assertEquals(Files.readString(TABLE), CapacityTable.csv(found));
        assertEquals(Files.readString(PLOT), CapacityPlot.of(found), again);
        Capacity c = found.getFirst();
        found.set(
                0,
                new Capacity(
                        c.scenario(),
                        c.policy(),
                        c.seed(),
                        c.limits(),
                        c.perSecond() * 1.02,
                        c.rate(),
                        c.binds(),
                        c.ttft(),
                        c.itl(),
                        c.windowSeconds()));
        assertNotEquals(Files.readString(PLOT), CapacityPlot.of(found));
    }

    @Test
    void the_page_shows_the_plot_and_gives_the_command_that_the_table_is_from() throws IOException {
        String page = Files.readString(PAGE).replaceAll("\\\\\n +", "");
        Path shown = PAGE.getParent().relativize(PLOT);
        assertTrue(page.contains("](" + shown + ")"), PAGE + " shows no " + PLOT);
        Matcher command = COMMAND.matcher(page);
        assertTrue(command.find(), PAGE + " has no command for " + TABLE);
        LabFlags flags = LabFlags.parse(List.of(command.group(1).split(" ", -1)));
        assertEquals(TABLE, flags.csv);
        assertEquals(PLOT, flags.svg);
        List<String> asked = new ArrayList<>();
        flags.scenarios.forEach(
                s -> {
                    for (int seed = 1; seed <= flags.seeds; seed++) {
                        for (PolicyCatalog.Named p : flags.policies) {
                            asked.add(s.name() + " " + p.name() + " " + seed + flags.limits(s));
                        }
                    }
                });
        List<String> there = new ArrayList<>();
        for (Capacity c : read()) {
            there.add(c.scenario() + " " + c.policy() + " " + c.seed() + c.limits());
        }
        assertEquals(asked, there);
    }
}
