package io.warmpath.sim.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a demo says at its start and at its end, on the terminal and on its page. One thread. */
final class Outcome {
    private static final int WIDTH = 79;

    private final Page page;

    Outcome(String title) {
        page = new Page(title);
    }

    /** What is played, and on what. */
    void about(Terminal terminal, List<String> workload, List<Stage.Setup> setups) {
        workload.forEach(line -> terminal.say("%s", line));
        terminal.say("");
        List<String> fleets = new ArrayList<>();
        fleets.add(
                "%d fleets of %d simulated engines play it side by side. Their gateways run with:"
                        .formatted(setups.size(), setups.getFirst().engines()));
        for (Stage.Setup setup : setups) {
            List<String> words = new ArrayList<>(setup.mode());
            setup.settings().entrySet().stream()
                    .map(e -> e.getKey() + "=" + e.getValue())
                    .sorted()
                    .forEach(words::add);
            fleets.add("  " + setup.name() + ": " + String.join(" ", words));
        }
        fleets.forEach(line -> wrapped(line).forEach(l -> terminal.say("%s", l)));
        terminal.say("");
        page.say(workload);
        page.say(fleets);
    }

    void tables(Terminal terminal, List<DemoTable> tables) {
        for (DemoTable table : tables) {
            terminal.say("");
            table.lines().forEach(line -> terminal.say("%s", line));
            page.table(table);
        }
    }

    /** {@code good}: what is said when there are no problems. Returns the exit code. */
    int verdict(Terminal terminal, DemoVerdict verdict, String good) {
        List<String> problems = verdict.problems();
        terminal.say("");
        if (!verdict.remark().isEmpty()) {
            wrapped(verdict.remark()).forEach(line -> terminal.say("%s", line));
            page.say(List.of(verdict.remark()));
        }
        for (String problem : problems) {
            wrapped(problem).forEach(line -> terminal.say("%s", terminal.bad(line)));
        }
        if (problems.isEmpty()) {
            wrapped(good).forEach(line -> terminal.say("%s", terminal.good(line)));
        }
        page.verdict(problems.isEmpty(), problems.isEmpty() ? List.of(good) : problems);
        return problems.isEmpty() ? 0 : 1;
    }

    void page(Terminal terminal, List<StageRun> runs, Path file) throws IOException {
        page.charts(runs);
        page.say(
                List.of(
                        "Each engine's turns: a colour for each conversation, full until the first"
                                + " token, pale while the answer grows."));
        runs.forEach(page::engines);
        page.write(file);
        terminal.say("Plots: %s", file.toUri());
    }

    /** Lines of less than 80 columns, further ones indented. */
    static List<String> wrapped(String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > WIDTH) {
                lines.add(line.toString());
                line = new StringBuilder("   ");
            }
            if (!line.isEmpty() || !lines.isEmpty() || word.isEmpty()) {
                line.append(' ');
            }
            line.append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
