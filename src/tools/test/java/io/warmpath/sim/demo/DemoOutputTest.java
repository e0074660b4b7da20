package io.warmpath.sim.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What people see of a demo: lines of a terminal, a page. And what runs side by side. */
class DemoOutputTest {
    private static final int COLUMNS = 80;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    private List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static Played turn(String worker, int predicted, int reported, long millis) {
        return new Played(
                new DemoWorkload.Turn(999, 99, "?", 8),
                worker,
                123_456,
                6_000,
                600,
                50,
                predicted,
                reported,
                0,
                Duration.ofMillis(millis),
                Duration.ofMillis(millis + 100));
    }

    @Test
    void a_line_of_the_live_table_fits_a_terminal_and_comes_when_both_have_ended() {
        LiveTable table = new LiveTable(new Terminal(out, false, false), true);
        table.heading("kv + pool", "round-robin");
        int heading = lines().size();
        table.shown(turn("w63", 122_400, 122_400, 99_999));
        assertEquals(heading, lines().size(), "the other has not ended");
        table.compared(turn("w1", 0, 0, 12_345));
        assertEquals(heading + 1, lines().size());
        String line = lines().getLast();
        assertTrue(line.contains("122400 =") && line.endsWith("12345 ms"), line);
        lines().forEach(l -> assertTrue(l.length() < COLUMNS, l));
    }

    @Test
    void colour_is_for_terminals() {
        Terminal plain = new Terminal(out, true, false);
        assertEquals("x", plain.good("x"));
        assertEquals("\u001b[31mx\u001b[m", new Terminal(out, true, true).bad("x"));
    }

    @Test
    void progress_is_one_line_that_changes_or_a_line_each_quarter() {
        Terminal.Progress plain = new Terminal(out, false, false).progress("waiting", 40);
        for (int i = 0; i < 40; i++) {
            plain.step();
        }
        assertEquals(5, lines().size(), lines().toString());
        assertTrue(lines().get(1).startsWith("waiting: 10 of 40"), lines().get(1));
        bytes.reset();
        Terminal.Progress live = new Terminal(out, true, false).progress("waiting", 3);
        for (int i = 0; i < 3; i++) {
            live.step();
        }
        String text = bytes.toString(StandardCharsets.UTF_8);
        assertEquals(3, text.split("\r", -1).length - 1, text);
        assertTrue(text.endsWith("\n") && text.indexOf('\n') == text.length() - 1, text);
    }

    @Test
    void tables_are_aligned_and_long_lines_are_wrapped() {
        DemoTable table = new DemoTable(List.of("a", "number"), List.of(List.of("longer", "1")));
        assertEquals(List.of("a       number", "longer       1"), table.lines());
        assertTrue(table.html().contains("<td>longer</td><td>1</td>"), table.html());
        List<String> wrapped = Outcome.wrapped("word ".repeat(40).strip());
        assertEquals(3, wrapped.size());
        assertTrue(wrapped.stream().allMatch(l -> l.length() < COLUMNS));
        assertEquals("word ".repeat(40).strip(), String.join(" ", wrapped).replaceAll(" +", " "));
    }

    @Test
    void the_page_needs_nothing_else_and_shows_every_run_and_engine(@TempDir Path folder)
            throws Exception {
        StageRun run =
                new StageRun("a <b>", 2, List.of(turn("w0", 1, 1, 50), turn("w1", 1, 1, 70)));
        Page page = new Page("Demo & more");
        page.table(StageRun.comparison(List.of(run)));
        page.charts(List.of(run));
        page.engines(run);
        Path file = folder.resolve("page.html");
        page.write(file);
        String html = Files.readString(file);
        assertTrue(html.contains("<title>Demo &amp; more</title>"), html);
        assertTrue(html.contains(">a &lt;b&gt;<") && !html.contains("a <b>"), html);
        assertTrue(html.contains(">w0<") && html.contains(">w1<"), html);
        assertEquals(4, html.split("<svg", -1).length - 1);
        assertFalse(html.contains("src=") || html.contains("href="), html);
    }

    @Test
    void what_runs_together_ends_together_also_what_was_started_meanwhile() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(1);
        try (Together together = new Together()) {
            together.run(
                    () -> {
                        together.run(
                                () -> {
                                    started.await();
                                    ended.incrementAndGet();
                                });
                        started.countDown();
                        ended.incrementAndGet();
                    });
            together.await();
        }
        assertEquals(2, ended.get());
    }

    @Test
    void one_failure_ends_all() {
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch waiting = new CountDownLatch(1);
        DemoFailure failure =
                assertThrows(
                        DemoFailure.class,
                        () -> {
                            try (Together together = new Together()) {
                                together.run(
                                        () -> {
                                            waiting.countDown();
                                            try {
                                                never.await();
                                            } catch (InterruptedException e) {
                                                interrupted.set(true);
                                                throw e;
                                            }
                                        });
                                together.run(
                                        () -> {
                                            waiting.await();
                                            throw new DemoFailure("no");
                                        });
                                together.await();
                            }
                        });
        assertEquals("no", failure.getMessage());
        assertTrue(interrupted.get());
    }
}
