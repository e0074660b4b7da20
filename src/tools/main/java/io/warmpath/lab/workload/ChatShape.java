package io.warmpath.lab.workload;

import java.util.ArrayList;
import java.util.List;

/**
 * Conversations over shared system prompts.
 *
 * @param sessions how many; one begins a second at rate 1, as a Poisson process
 * @param systems different system prompts, the i-th with weight 1 / i
 * @param systemTokens mean length of one
 * @param turns mean of a conversation, geometric
 * @param firstTokens what the first message has besides
 * @param userTokens mean of a message
 * @param outputTokens mean of an answer
 * @param thinkSeconds mean pause before the next message
 * @param diurnal the rate goes up and down by a half, with spikes of twice as much
 */
public record ChatShape(
        int sessions,
        int systems,
        int systemTokens,
        int turns,
        int firstTokens,
        int userTokens,
        int outputTokens,
        double thinkSeconds,
        boolean diurnal) {
    private static final int BLOCK = 64;
    private static final int MOST_TURNS = 30;
    private static final double PERIOD_SECONDS = 650;
    private static final double SWING = 0.5;
    private static final double SPIKE = 2;

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        List<Segments> prompts = new ArrayList<>();
        for (int i = 0; i < systems; i++) {
            int blocks = blocks(d.length(systemTokens, 0.4, BLOCK, 64_000));
            prompts.add(Segments.EMPTY.plus(to.newIds(blocks), blocks, BLOCK));
        }
        Draws.Zipf zipf = new Draws.Zipf(systems, 1);
        double t = 0;
        for (int s = 1; s <= sessions; s++) {
            t = next(d, t);
            Segments system = prompts.get(zipf.draw(d.random));
            int n = 1 + Math.min(MOST_TURNS, (int) d.exponential(Math.max(1e-9, turns - 1)));
            List<Chain.Turn> list = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                int in = d.length(userTokens, 1, 8, 32_000);
                if (i == 0 && firstTokens > 0) {
                    in += d.length(firstTokens, 1.5, 0, 64_000);
                }
                int out = d.length(outputTokens, 0.8, 4, 4000);
                int pause = i == 0 ? 0 : d.length(thinkSeconds * 1000, 1, 500, 600_000);
                list.add(new Chain.Turn(in, out, pause));
            }
            Chain.add(to, system, list, t, s, new int[0]);
        }
        return to.build();
    }

    /** The next start, by thinning where the rate changes. */
    private double next(Draws d, double from) {
        double t = from;
        double most = diurnal ? (1 + SWING) * SPIKE : 1;
        while (true) {
            t += d.exponential(1000) / most;
            if (!diurnal) {
                return t;
            }
            double phase = t / 1000 % PERIOD_SECONDS / PERIOD_SECONDS;
            double rate = 1 + SWING * StrictMath.sin(2 * Math.PI * phase);
            if (phase >= 0.2 && phase < 0.26) {
                rate *= SPIKE;
            }
            if (d.random.nextDouble() < rate / most) {
                return t;
            }
        }
    }

    static int blocks(int tokens) {
        return Math.max(1, (int) Math.round((double) tokens / BLOCK));
    }
}
