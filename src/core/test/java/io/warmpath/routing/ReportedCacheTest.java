package io.warmpath.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fleet.EngineKind;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of both engines, on blocks of 10 tokens; recordings of real ones say the same. */
class ReportedCacheTest {
    /**
     * @param prompts each as tokens, blocks that the worker holds, blocks that an earlier prompt
     *     has: {@code 45:2:0 61:0:3}
     */
    private static ReportedCache.Report report(
            EngineKind kind, boolean stream, int answers, String prompts) {
        List<ReportedCache.Prompt> all =
                Arrays.stream(prompts.split(" "))
                        .map(p -> Arrays.stream(p.split(":")).mapToInt(Integer::parseInt).toArray())
                        .map(p -> new ReportedCache.Prompt(p[0], p[1], p[2]))
                        .toList();
        return ReportedCache.of(kind, stream, answers, 10, all);
    }

    @ParameterizedTest
    @CsvSource({
        // One prompt with one answer, as everywhere: the last token is always computed.
        "VLLM,   false, 1, 45:2:0,        20,",
        "SGLANG, true,  1, 40:4:0,        30,",
        // vLLM reports the last prompt, which finds what those before it have.
        "VLLM,   false, 1, 45:2:0 61:1:0, 10,",
        "VLLM,   false, 1, 45:2:0 61:1:3, 30,",
        "VLLM,   false, 1, 40:0:0 40:0:4, 30,",
        "VLLM,   false, 1, 45:2:0 8:0:0,  0,",
        // Of a stream one of them.
        "VLLM,   true,  1, 45:0:0 61:0:0, 0,",
        "VLLM,   true,  1, 45:2:0 61:1:2, 20,",
        "VLLM,   true,  1, 45:2:0 61:1:0, 20, SEVERAL_PROMPTS",
        // The last answer finds all of the prompt, the first one what was there.
        "VLLM,   false, 3, 45:4:0,        40,",
        "VLLM,   false, 3, 45:2:0,        20, SEVERAL_ANSWERS",
        "VLLM,   true,  3, 45:2:0,        20,",
        "VLLM,   false, 2, 45:2:0 61:6:0, 60,",
        // SGLang sums up; what runs beside each other may meet.
        "SGLANG, false, 1, 45:2:0 61:1:0, 30,",
        "SGLANG, true,  1, 40:4:0 61:6:4, 90,",
        "SGLANG, false, 1, 45:0:0 61:1:3, 10, SHARED_PROMPTS",
        "SGLANG, false, 1, 45:2:0 61:3:3, 50,",
        // It has computed each prompt once before it answers.
        "SGLANG, false, 2, 45:0:0,        40,",
        "SGLANG, true,  4, 40:0:0 61:0:3, 90,",
        // Of others nothing is known.
        "OPENAI, false, 2, 45:2:0,        20, SEVERAL_ANSWERS",
        "OPENAI, false, 1, 45:2:0 61:1:0, 30, SEVERAL_PROMPTS"
    })
    void each_engine_reports(
            EngineKind kind,
            boolean stream,
            int answers,
            String prompts,
            int cached,
            NotExact why) {
        ReportedCache.Report report = report(kind, stream, answers, prompts);
        assertEquals(cached, report.cachedTokens());
        assertEquals(why, report.reason());
    }

    @Test
    void a_prompt_shorter_than_a_block_is_computed() {
        for (EngineKind kind : List.of(EngineKind.VLLM, EngineKind.SGLANG)) {
            assertEquals(0, report(kind, false, 2, "9:0:0 0:0:0").cachedTokens(), kind.name());
        }
    }
}
