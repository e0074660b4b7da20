package io.warmpath.lab.policy;

import static io.warmpath.plot.Plain.plain;

import java.util.Arrays;

/**
 * The cache-aware rule of the SGLang gateways: the engine that got this prefix last, if that is
 * more than 0.3 of the prompt, else the one with the fewest requests; and always that one when the
 * chosen one's requests exceed the mean by 64 and by 1.5 times. Goes by its own choices alone.
 */
final class SmgPolicy extends Policy {
    private static final double THRESHOLD = 0.3;
    private static final int ABSOLUTE = 64;
    private static final double RELATIVE = 1.5;
    private static final int NOBODY = -1;

    private final World world;
    private final int[] running;
    private final int[] engineOf;
    private final int[] lastByBlock;
    private final Lowest lowest;
    private int total;

    SmgPolicy(World world) {
        this.world = world;
        running = new int[world.mostEngines()];
        engineOf = new int[world.calls()];
        lastByBlock = new int[world.ids()];
        Arrays.fill(lastByBlock, NOBODY);
        lowest = new Lowest(world.random());
    }

    @Override
    public int choose(Call call) {
        int depth = 0;
        while (depth < call.promptBlocks() && isKnown(call.blocks()[depth])) {
            depth++;
        }
        double share = (double) depth * world.blockTokens() / call.promptTokens();
        int to = share > THRESHOLD ? lastByBlock[call.blocks()[depth - 1]] : fewest();
        double mean = (double) total / here();
        boolean overloaded = running[to] - mean > ABSOLUTE && running[to] > RELATIVE * mean;
        if (overloaded) {
            to = fewest();
        }
        if (explains(call)) {
            tell(call, share, overloaded);
        }
        sentByPeer(call, to);
        return to;
    }

    private void tell(Call call, double share, boolean overloaded) {
        for (int i = 0; i < world.engines().size(); i++) {
            if (isHere(i)) {
                note(call, i, "requests", running[i]);
            }
        }
        because(
                call,
                plain(
                        "%.2f of the prompt was sent somewhere before: %s",
                        share,
                        overloaded
                                ? "but there is too much load, so fewest requests"
                                : share > THRESHOLD ? "there" : "too little, so fewest requests"));
    }

    /** Tree and load, whoever sends it. */
    @Override
    public void sentByPeer(Call call, int engine) {
        for (int i = 0; i < call.promptBlocks(); i++) {
            lastByBlock[call.blocks()[i]] = engine;
        }
        engineOf[call.number()] = engine;
        running[engine]++;
        total++;
    }

    private boolean isKnown(int block) {
        return lastByBlock[block] != NOBODY && isHere(lastByBlock[block]);
    }

    private int here() {
        int n = 0;
        for (int i = 0; i < world.engines().size(); i++) {
            n += isHere(i) ? 1 : 0;
        }
        return n;
    }

    private int fewest() {
        lowest.begin();
        for (int i = 0; i < world.engines().size(); i++) {
            if (isHere(i)) {
                lowest.offer(i, running[i]);
            }
        }
        return lowest.engine();
    }

    @Override
    public void ended(Call call) {
        running[engineOf[call.number()]]--;
        total--;
    }
}
