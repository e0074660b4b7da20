package io.warmpath.routing;

import io.warmpath.fleet.EngineKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What engines report as cached of a request with several prompts, or several answers to a prompt,
 * as their code has it (src/docs/reference/engines.md). Pure.
 *
 * <p>vLLM makes every answer to every prompt a request of its own, in their order, and each finds
 * what the ones before it have: blocks are in its cache from when they are scheduled. It reports
 * one of these requests: the one that ended last among the last prompt's, of a stream the first one
 * that was heard of. SGLang reports the sum over the prompts, of the first answer to each; before
 * there are several answers it computes the prompt once by itself. Prompts that run beside each
 * other find there what the other has computed or not, as they happen to be scheduled.
 */
public final class ReportedCache {
    private ReportedCache() {}

    /**
     * One prompt on the worker that gets it, in the worker's blocks.
     *
     * @param tokens of it
     * @param depth leading blocks that the worker holds
     * @param common leading blocks that an earlier prompt of the request has, too
     */
    public record Prompt(int tokens, int depth, int common) {
        /** Blocks that its last answer finds: all but the one with the last token. */
        private int all(int blockSize) {
            return Math.max(0, tokens - 1) / blockSize;
        }

        private int found(int blockSize) {
            return Math.min(Math.max(depth, common), all(blockSize));
        }

        private boolean findsOthers(int blockSize) {
            return Math.min(common, all(blockSize)) > depth;
        }
    }

    /**
     * @param cachedTokens what is reported; where that is not known, what is known of it
     * @param reason why it is not known; null: it is
     */
    public record Report(int cachedTokens, @Nullable NotExact reason) {}

    /**
     * @param stream the answer is one
     * @param answers to each prompt, at least 1
     * @param blockSize at least 1
     * @param prompts at least one, in the request's order
     */
    public static Report of(
            EngineKind kind, boolean stream, int answers, int blockSize, List<Prompt> prompts) {
        return switch (kind) {
            case VLLM -> ofVllm(stream, answers, blockSize, prompts);
            case SGLANG -> ofSglang(answers, blockSize, prompts);
            case TRTLLM, OPENAI ->
                    new Report(
                            prompts.stream().mapToInt(p -> p.found(blockSize)).sum() * blockSize,
                            answers > 1 ? NotExact.SEVERAL_ANSWERS : NotExact.SEVERAL_PROMPTS);
        };
    }

    private static Report ofVllm(boolean stream, int answers, int blockSize, List<Prompt> prompts) {
        if (stream) {
            int first = prompts.getFirst().found(blockSize);
            boolean alike = prompts.stream().allMatch(p -> p.found(blockSize) == first);
            return new Report(first * blockSize, alike ? null : NotExact.SEVERAL_PROMPTS);
        }
        Prompt last = prompts.getLast();
        int found = last.found(blockSize);
        boolean any = answers == 1 || found == last.all(blockSize);
        return new Report(found * blockSize, any ? null : NotExact.SEVERAL_ANSWERS);
    }

    private static Report ofSglang(int answers, int blockSize, List<Prompt> prompts) {
        if (answers > 1) {
            return new Report(
                    prompts.stream().mapToInt(p -> p.all(blockSize)).sum() * blockSize, null);
        }
        boolean meet = prompts.stream().anyMatch(p -> p.findsOthers(blockSize));
        return new Report(
                prompts.stream().mapToInt(p -> Math.min(p.depth, p.all(blockSize))).sum()
                        * blockSize,
                meet ? NotExact.SHARED_PROMPTS : null);
    }
}
