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
 * @param special what few workloads have besides
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
        int[] session,
        Special special) {
    /**
     * What few workloads have.
     *
     * @param engines by request, where others than the routers have sent it, as if its client had
     *     asked for it; negative: the router decides
     * @param counted requests that results are about; empty: those that come after the first
     *     quarter of the arrivals' time
     * @param atOnce clients keep to so many requests at once, the others wait with them; 0: no
     *     limit
     */
    record Special(int[] engines, boolean[] counted, int atOnce) {
        static final Special NONE = new Special(new int[0], new boolean[0], 0);
    }

    /** The engine that is asked for; negative: none is. */
    public int engine(int request) {
        return special.engines[request];
    }

    /** It says itself which requests count. */
    public boolean saysWhatCounts() {
        return special.counted.length > 0;
    }

    public boolean counts(int request) {
        return special.counted[request];
    }

    /** Requests that may run at once. */
    public int atOnce() {
        return special.atOnce > 0 ? special.atOnce : Integer.MAX_VALUE;
    }

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
