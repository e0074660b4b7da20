package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many engines should compute prompts, from a gateway's file of decisions. */
@Tag("slow")
class RolesTest {
    private static final long SEED = 20261127;
    private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");
    private static final Pattern ADVICE = Pattern.compile("(\\d+) of \\d+ engines for prompts");

    @TempDir Path folder;
    private final StringBuilder log = new StringBuilder();
    private final Random random = new Random(SEED);
    private double millis;
    private int number;

    /** For a minute; nothing is shared. */
    private void minuteOf(int perSecond, int prompt, int answer) {
        for (double until = millis + 60_000; millis < until; ) {
            millis += -Math.log(1 - random.nextDouble()) * 1000 / perSecond;
            log.append(
                    ("{\"number\":%d,\"time\":\"%s\",\"model\":\"m\",\"decision\":"
                                    + "{\"prompt_tokens\":%d,\"candidates\":[{},{}]}}%n"
                                    + "{\"ended\":%d,\"time\":\"%s\",\"status\":200,"
                                    + "\"output_tokens\":%d}%n")
                            .formatted(number, now(), prompt, number, now(), answer));
            number++;
        }
    }

    private Instant now() {
        return START.plusNanos((long) (millis * 1e6));
    }

    private String roles(String... more) throws IOException {
        Path file = Files.writeString(folder.resolve("decisions.jsonl"), log);
        String[] args = new String[5 + more.length];
        System.arraycopy(more, 0, args, 5, more.length);
        args[0] = "roles";
        args[1] = "--from-log";
        args[2] = file.toString();
        args[3] = "--quiet";
        args[4] = "--engines=6";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code =
                LabMain.run(
                        args,
                        LabMainTest.NATIVE,
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8));
        assertEquals(0, code, err.toString(StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }

    private static int prefills(String told) {
        Matcher m = ADVICE.matcher(told);
        assertTrue(m.find(), told);
        return Integer.parseInt(m.group(1));
    }

    @Test
    void long_prompts_want_more_engines_for_prompts_than_long_answers() throws IOException {
        minuteOf(12, 8000, 30);
        String prompts = roles("--apart");
        log.setLength(0);
        number = 0;
        minuteOf(60, 300, 600);
        String answers = roles("--apart");
        String told = prompts + answers + "seed " + SEED;
        assertTrue(prefills(prompts) >= prefills(answers) + 2, told);
        for (int p = 1; p < 6; p++) {
            assertTrue(prompts.contains("pair-apart=" + p + "@100 "), told);
        }
        assertTrue(prompts.contains("  latency "), told);
    }

    @Test
    void only_the_last_minutes_count() throws IOException {
        minuteOf(60, 300, 600);
        minuteOf(12, 8000, 30);
        String all = roles("--apart");
        String last = roles("--apart", "--last", "1");
        assertTrue(prefills(last) > prefills(all), all + last + "seed " + SEED);
    }
}
