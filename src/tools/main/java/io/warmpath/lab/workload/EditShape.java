package io.warmpath.lab.workload;

/**
 * Code completion: an editor sends the file again and again with every few key strokes. What stands
 * before an edit stays the same, what is behind it is new; most edits are near the end of what was
 * sent, some go back. Answers are short.
 *
 * @param sessions files that are worked on; one is opened a second at rate 1
 * @param projects different preambles, the i-th with weight 1 / i
 * @param preambleTokens mean length of what a project's files begin with
 * @param fileTokens mean length of a file
 * @param edits mean number of requests of a session
 * @param pauseSeconds mean time between an answer and the next edit
 * @param back chance that an edit is anywhere in the file
 */
public record EditShape(
        int sessions,
        int projects,
        int preambleTokens,
        int fileTokens,
        int edits,
        double pauseSeconds,
        double back) {
    private static final int BLOCK = 64;
    private static final int TYPED = 24;
    private static final int OUTPUT = 24;

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        Segments[] preambles = new Segments[projects];
        for (int i = 0; i < projects; i++) {
            int blocks = ChatShape.blocks(d.length(preambleTokens, 0.5, BLOCK, 32_000));
            preambles[i] = Segments.EMPTY.plus(to.newIds(blocks), blocks, BLOCK);
        }
        Draws.Zipf which = new Draws.Zipf(projects, 1);
        double t = 0;
        for (int s = 1; s <= sessions; s++) {
            t += d.exponential(1000);
            session(d, to, preambles[which.draw(d.random)], t, s);
        }
        return to.build();
    }

    private void session(Draws d, WorkloadBuilder to, Segments preamble, double t, int session) {
        int tokens = preamble.tokens() + d.length(fileTokens, 0.8, 2 * BLOCK, 60_000);
        int behind = preamble.tokens() / BLOCK;
        int[] blocks = grown(to, preamble.ids(behind, 0), tokens);
        int count = 1 + (int) Math.min(400, d.exponential(edits));
        int[] last = {};
        for (int i = 0; i < count; i++) {
            int out = d.length(OUTPUT, 0.7, 1, 256);
            int pause = i == 0 ? 0 : d.length(pauseSeconds * 1000, 1.2, 100, 120_000);
            // Nobody asks for an answer's blocks: it is taken over or not, and typed on.
            last = new int[] {to.add(session, t, tokens, out, pause, last, blocks)};
            int at = d.random.nextDouble() < back ? d.random.nextInt(blocks.length) : blocks.length;
            int kept = Math.max(behind, at - d.random.nextInt(3));
            tokens += d.length(TYPED, 1, 1, 600);
            blocks = grown(to, java.util.Arrays.copyOf(blocks, Math.min(kept, at)), tokens);
        }
    }

    /** The kept blocks, and new ones behind them. */
    private static int[] grown(WorkloadBuilder to, int[] kept, int tokens) {
        int[] all = java.util.Arrays.copyOf(kept, tokens / BLOCK);
        int first = to.newIds(Math.max(0, all.length - kept.length));
        for (int i = kept.length; i < all.length; i++) {
            all[i] = first + i - kept.length;
        }
        return all;
    }
}
