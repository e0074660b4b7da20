package io.warmpath.lab.workload;

/**
 * Requests and what they wait for. Immutable as long as nobody writes to the arrays; shared by all
 * runs.
 *
 * <p>A request without dependencies comes at its start time; others come their pause after the last
 * of their dependencies has ended, which no rate changes. Block ids name a block's content and all
 * before it, 0 up to {@code ids}.
 *
 * @param blockTokens tokens per block
 * @param startMillis of requests without dependencies, not decreasing among them
 * @param prompt tokens
 * @param answer tokens
 * @param pauseMillis after the last dependency
 * @param dependencies how many
 * @param dependents requests that wait for this one
 * @param blocks complete blocks of prompt and answer, as far as others can share them
 * @param session requests of one conversation
 */
public record Workload(
        int blockTokens,
        int ids,
        double[] startMillis,
        int[] prompt,
        int[] answer,
        int[] pauseMillis,
        int[] dependencies,
        int[][] dependents,
        int[][] blocks,
        int[] session) {
    public int size() {
        return prompt.length;
    }

    /** When the last request without dependencies comes, at rate 1. */
    public double spanMillis() {
        double last = 0;
        for (int i = 0; i < size(); i++) {
            last = dependencies[i] == 0 ? Math.max(last, startMillis[i]) : last;
        }
        return last;
    }

    public double meanPrompt() {
        return mean(prompt);
    }

    public double meanAnswer() {
        return mean(answer);
    }

    private static double mean(int[] values) {
        double sum = 0;
        for (int v : values) {
            sum += v;
        }
        return sum / values.length;
    }
}
