package io.warmpath.lab.workload;

import java.util.ArrayList;
import java.util.List;

/**
 * Programs of agents: a lead takes steps with tools, and every few steps sends out sub-agents and
 * waits for them; some of those start from the lead's whole context.
 *
 * @param programs how many; one begins a second at rate 1
 * @param steps mean of a lead
 * @param taskTokens mean of the first message
 * @param toolTokens mean of a tool's answer
 * @param outputTokens mean of a step's answer
 * @param pauseSeconds mean time of a tool
 * @param fork part of the sub-agents that start from the lead's context
 */
public record AgentShape(
        int programs,
        int steps,
        int taskTokens,
        int toolTokens,
        int outputTokens,
        double pauseSeconds,
        double fork) {
    private static final int BLOCK = 64;
    private static final int KINDS = 4;
    private static final int LEAD_SYSTEM = 8000;
    private static final int SUB_SYSTEM = 5000;
    private static final int SPAWN_EVERY = 5;
    private static final int LEAST_SUBS = 3;
    private static final int MOST_SUBS = 5;
    private static final int SUB_STEPS = 6;

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        List<Segments> leads = systems(d, to, LEAD_SYSTEM);
        List<Segments> subs = systems(d, to, SUB_SYSTEM);
        double t = 0;
        int session = 0;
        for (int s = 0; s < programs; s++) {
            t += d.exponential(1000);
            session = program(d, to, leads, subs, t, session + 1);
        }
        return to.build();
    }

    /** Answers the last session's number. */
    private int program(
            Draws d,
            WorkloadBuilder to,
            List<Segments> leads,
            List<Segments> subs,
            double t,
            int firstSession) {
        int session = firstSession;
        Segments system = leads.get(d.random.nextInt(KINDS));
        List<Chain.Turn> turns = turns(d, Math.max(2, d.length(steps, 0.5, 2, 80)));
        int total = system.tokens();
        for (Chain.Turn turn : turns) {
            total += turn.in() + turn.out();
        }
        int systemBlocks = system.tokens() / BLOCK;
        int own = to.newIds(total / BLOCK - systemBlocks + 1);
        int tokens = system.tokens();
        int[] last = {};
        for (int i = 0; i < turns.size(); i++) {
            Chain.Turn turn = turns.get(i);
            tokens += turn.in();
            int[] blocks = system.ids((tokens + turn.out()) / BLOCK, own);
            last =
                    new int[] {
                        to.add(
                                firstSession,
                                t,
                                tokens,
                                turn.out(),
                                turn.pauseMillis(),
                                last,
                                blocks)
                    };
            tokens += turn.out();
            if (i > 0 && i % SPAWN_EVERY == 0 && i + 1 < turns.size()) {
                int[] ends = new int[LEAST_SUBS + d.random.nextInt(MOST_SUBS - LEAST_SUBS + 1)];
                for (int k = 0; k < ends.length; k++) {
                    session++;
                    Segments from = subs.get(d.random.nextInt(KINDS));
                    List<Chain.Turn> of = turns(d, Math.max(1, d.length(SUB_STEPS, 0.5, 1, 40)));
                    if (d.random.nextDouble() < fork) {
                        from = system.plus(own, tokens / BLOCK - systemBlocks, BLOCK);
                    }
                    ends[k] = Chain.add(to, from, of, t, session, last).request();
                }
                last = ends;
            }
        }
        return session;
    }

    private List<Chain.Turn> turns(Draws d, int count) {
        List<Chain.Turn> turns = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            turns.add(
                    new Chain.Turn(
                            d.length(i == 0 ? taskTokens : toolTokens, 1.2, 16, 16_000),
                            d.length(outputTokens, 0.8, 8, 3000),
                            i == 0 ? 0 : d.length(pauseSeconds * 1000, 1.5, 50, 120_000)));
        }
        return turns;
    }

    private static List<Segments> systems(Draws d, WorkloadBuilder to, int mean) {
        List<Segments> all = new ArrayList<>();
        for (int i = 0; i < KINDS; i++) {
            int blocks = ChatShape.blocks(d.length(mean, 0.3, 1024, 64_000));
            all.add(Segments.EMPTY.plus(to.newIds(blocks), blocks, BLOCK));
        }
        return all;
    }
}
