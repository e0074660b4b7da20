package io.warmpath.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.wire.WireFormat;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SimFlagsTest {
    @Test
    void every_flag_reaches_its_option() {
        SimOptions o =
                SimFlags.parse(
                                "--host=0.0.0.0 --port 41 --events-port 42 --replay-port 43 --topic t"
                                        .concat(" --buffer-steps 44 --model a --model b")
                                        .concat(" --block-size 32 --gpu-blocks 45 --host-blocks 46")
                                        .concat(" --wire vllm-array --hash-form bytes")
                                        .concat(" --hash-seed 0 --dp-size 2 --max-batch 47")
                                        .concat(" --answer-tokens 48 --itl 2.5ms --speed 3")
                                        .concat(" --prefill-tokens-per-second 49 --seed 51")
                                        .concat(" --host-load-tokens-per-second 50")
                                        .split(" ", -1))
                        .engine()
                        .build();
        assertEquals("0.0.0.0", o.host());
        assertEquals(List.of(41, 42, 43), List.of(o.port(), o.eventsPort(), o.replayPort()));
        assertEquals("t", o.topic());
        assertEquals(44, o.bufferSteps());
        assertEquals(List.of("a", "b"), o.models());
        assertEquals(List.of(32, 45, 46), List.of(o.blockSize(), o.gpuBlocks(), o.hostBlocks()));
        assertEquals(WireFormat.VLLM_ARRAY, o.wire());
        assertTrue(o.rawHashes());
        assertEquals("0", o.hashSeed());
        assertEquals(List.of(2, 47, 48), List.of(o.ranks(), o.maxBatch(), o.answerTokens()));
        assertEquals(Duration.ofNanos(2_500_000), o.timing().interToken());
        assertEquals(3, o.timing().speed());
        assertEquals(49, o.timing().prefillTokensPerSecond());
        assertEquals(50, o.timing().hostLoadTokensPerSecond());
        assertEquals(51, o.seed());
    }

    @Test
    void a_switch_takes_no_value() {
        SimOptions o = SimFlags.parse("--enable-streaming-session", "--seed", "2").engine().build();
        assertEquals(AgentFeatures.NONE.withStreamingSessions(), o.agents());
        assertEquals(2, o.seed());
        o = SimFlags.parse("--enable-session-radix-cache").engine().build();
        assertEquals(AgentFeatures.NONE.withRadixSessions(), o.agents());
        o =
                SimFlags.parse(
                                "--enable-priority-scheduling",
                                "--schedule-low-priority-values-first",
                                "--radix-eviction-policy=priority",
                                "--hicache-max-pinned-ratio",
                                "0.25")
                        .engine()
                        .build();
        assertEquals(
                AgentFeatures.NONE
                        .withPriorityScheduling(true)
                        .withPriorityEviction()
                        .withPins(0.25),
                o.agents());
    }

    @Test
    void without_flags_the_defaults_of_the_help_hold() {
        SimOptions o = SimFlags.parse().engine().build();
        Matcher number =
                Pattern.compile("--(block-size|gpu-blocks|max-batch) N.*\\((\\d+)\\)")
                        .matcher(SimFlags.HELP);
        int seen = 0;
        while (number.find()) {
            int shown = Integer.parseInt(number.group(2));
            int real =
                    switch (number.group(1)) {
                        case "block-size" -> o.blockSize();
                        case "gpu-blocks" -> o.gpuBlocks();
                        default -> o.maxBatch();
                    };
            assertEquals(shown, real, number.group(1));
            seen++;
        }
        assertEquals(3, seen);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--portt 1 | unknown flag --portt",
                "8000 | unknown flag 8000",
                "-- | unknown flag --",
                "--port | --port needs a value",
                "--port 65536 | must be a number from 0 to 65535",
                "--port x | must be a number from 0 to 65535",
                "--itl 10 | must be a duration such as 10ms",
                "--speed 0 | must be a number above 0",
                "--speed NaN | must be a number above 0",
                "--wire json | use one of sglang-array, sglang-map, vllm-array, vllm-map",
                "--hash-form hex | must be int or bytes",
                "--enable-streaming-session=1 | --enable-streaming-session takes no value",
                "--radix-eviction-policy lfu | must be lru or priority",
                "--hicache-max-pinned-ratio 1 | must be from 0 to below 1",
                "--schedule-low-priority-values-first | needs --enable-priority-scheduling",
                "--wire vllm-map --enable-session-radix-cache | needs one of SGLang's"
            })
    void a_wrong_flag_stops_with_a_sentence_that_names_it(String line, String expected) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code =
                SimMain.run(
                        line.split(" ", -1),
                        new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8));
        assertEquals(2, code);
        assertTrue(err.toString(StandardCharsets.UTF_8).contains(expected), err::toString);
    }
}
