package io.warmpath.sim.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The demo's script and its arithmetic; the demo itself is played by {@code ./warmpath test}. */
class DemoPartsTest {
    private static final Workload.Turn TURN = new Workload.Turn(0, 0, "?", 8);

    @Test
    void the_same_seed_gives_the_same_script() {
        Workload one = new Workload(6, 4, 3);
        assertEquals(one.rounds(), new Workload(6, 4, 3).rounds());
        assertEquals(one.systemPrompt(), new Workload(6, 4, 3).systemPrompt());
        assertNotEquals(one.rounds(), new Workload(6, 4, 4).rounds());
    }

    @Test
    void every_conversation_has_one_turn_in_every_round() {
        List<List<Workload.Turn>> rounds = new Workload(7, 3, 1).rounds();
        assertEquals(3, rounds.size());
        for (int r = 0; r < rounds.size(); r++) {
            int number = r;
            assertTrue(rounds.get(r).stream().allMatch(t -> t.number() == number));
            assertEquals(
                    7,
                    rounds.get(r).stream()
                            .mapToInt(Workload.Turn::conversation)
                            .distinct()
                            .count());
        }
    }

    @Test
    void the_score_counts_what_was_reported_and_what_was_right() {
        List<Played> run = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            run.add(new Played(TURN, "w", 100, 0, 0, i, i == 7 ? 0 : i, Duration.ofMillis(i)));
        }
        Score score = Score.of(run);
        assertEquals(Duration.ofNanos(10_500_000), score.meanTtft());
        assertEquals(Duration.ofMillis(19), score.p95Ttft());
        assertEquals((210 - 7) / 2000.0, score.hitRate());
        assertEquals(19, score.asPredicted());
        assertEquals(20, score.turns());
    }

    @Test
    void a_prediction_that_was_not_made_is_not_right() {
        assertTrue(!new Played(TURN, "w", 10, 0, 0, -1, 0, Duration.ZERO).asPredicted());
    }

    @ParameterizedTest
    @CsvSource({
        "--nope, unknown flag --nope",
        "--port, --port needs a value",
        "--port 0, must be a number from 1 to 65535",
        "--engines x, must be a number",
        "--wire json, use one of sglang-array",
        "--pool --wire vllm-map, --pool needs one of SGLang's wire formats"
    })
    void a_wrong_flag_is_named(String line, String expected) {
        IllegalArgumentException e =
                assertThrows(
                        IllegalArgumentException.class, () -> DemoFlags.parse(line.split(" ", -1)));
        assertTrue(String.valueOf(e.getMessage()).contains(expected), e.getMessage());
    }

    @Test
    void with_a_pool_there_is_more_to_keep_than_engines_can_unless_told_otherwise() {
        DemoFlags flags = DemoFlags.parse("--pool");
        assertEquals(List.of(18, 600), List.of(flags.conversations, flags.hostBlocks));
        DemoFlags told = DemoFlags.parse("--conversations", "4", "--pool", "--host-blocks=500");
        assertEquals(List.of(4, 500), List.of(told.conversations, told.hostBlocks));
    }
}
