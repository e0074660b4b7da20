package io.warmpath.lab.policy;

import io.warmpath.prefix.PrefixMatch;
import io.warmpath.sim.virtual.EngineModel;

/**
 * Preble's E2: where the longest prefix lies if it is longer than what is missing, else the engine
 * with the least work of the last three minutes, this prompt's included. Work is prefill of what
 * was missing and the decoding that its answers took. Its rebalancing and its order inside an
 * engine are left out.
 */
final class PreblePolicy extends IndexedPolicy {
    private static final long WINDOW_NANOS = 180_000_000_000L;

    /** The window moves in so many parts. */
    private static final int PARTS = 36;

    private final double[][] work;
    private final double[] sum;
    private final Lowest lowest;
    private final Lowest longest;
    private int part;
    private double meanAnswer = 256;

    PreblePolicy(World world) {
        super(world);
        work = new double[world.mostEngines()][PARTS];
        sum = new double[world.mostEngines()];
        lowest = new Lowest(world.random());
        longest = new Lowest(world.random());
        world.time().after(WINDOW_NANOS / PARTS, this::move);
    }

    private void move() {
        part = (part + 1) % PARTS;
        for (int i = 0; i < engines(); i++) {
            work[i][part] = 0;
            sum[i] = 0;
            for (double w : work[i]) {
                sum[i] += w;
            }
        }
        world.time().after(WINDOW_NANOS / PARTS, this::move);
    }

    @Override
    int pick(Call call, PrefixMatch match) {
        lowest.begin();
        longest.begin();
        for (int i = 0; i < engines(); i++) {
            if (!isHere(i)) {
                continue;
            }
            int cached = cachedTokens(call, match, i);
            longest.offer(i, -cached);
            lowest.offer(i, sum[i] + cost(call, cached));
            note(call, i, "cached tokens", cached);
            note(call, i, "work of three minutes, ms", sum[i]);
            note(call, i, "with this request, ms", sum[i] + cost(call, cached));
        }
        boolean exploit = -longest.value() > call.promptTokens() + longest.value();
        because(call, exploit ? "more is cached than is missing" : "least work");
        return exploit ? longest.engine() : lowest.engine();
    }

    @Override
    void sent(Call call, PrefixMatch match, int engine) {
        double cost = cost(call, cachedTokens(call, match, engine));
        work[engine][part] += cost;
        sum[engine] += cost;
    }

    private double cost(Call call, int cached) {
        EngineModel m = world.model();
        return m.chunkMillis((double) call.promptTokens() - cached, cached)
                + meanAnswer * m.decodeMillis(1, call.promptTokens() + meanAnswer / 2);
    }

    @Override
    public void ended(Call call) {
        super.ended(call);
        meanAnswer += (call.answerTokens() - meanAnswer) / 64;
    }
}
