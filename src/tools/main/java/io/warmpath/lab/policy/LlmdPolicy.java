package io.warmpath.lab.policy;

import io.warmpath.prefix.PrefixMatch;

/**
 * llm-d's weighted scorers over the precise index: 3 for the part of the prompt that is cached, 2
 * for a short queue, 2 for free memory; the best sum wins. Queue and memory are the engines' own
 * numbers, scraped every 50 ms.
 */
final class LlmdPolicy extends IndexedPolicy {
    private static final long SCRAPE_NANOS = 50_000_000;
    private static final double PREFIX = 3;
    private static final double QUEUE = 2;
    private static final double MEMORY = 2;

    private final int[] waiting;
    private final double[] memoryUse;
    private final Lowest lowest;

    LlmdPolicy(World world) {
        super(world);
        waiting = new int[world.mostEngines()];
        memoryUse = new double[world.mostEngines()];
        lowest = new Lowest(world.random());
        world.time().after(SCRAPE_NANOS, this::scrape);
    }

    private void scrape() {
        for (int i = 0; i < engines(); i++) {
            waiting[i] = world.engines().get(i).waiting();
            memoryUse[i] = world.engines().get(i).memoryUse();
        }
        world.time().after(SCRAPE_NANOS, this::scrape);
    }

    @Override
    int pick(Call call, PrefixMatch match) {
        int least = Integer.MAX_VALUE;
        int most = 0;
        for (int i = 0; i < engines(); i++) {
            if (isHere(i)) {
                least = Math.min(least, waiting[i]);
                most = Math.max(most, waiting[i]);
            }
        }
        lowest.begin();
        for (int i = 0; i < engines(); i++) {
            if (!isHere(i)) {
                continue;
            }
            double prefix = (double) cachedTokens(call, match, i) / call.promptTokens();
            double queue = most == least ? 1 : (double) (most - waiting[i]) / (most - least);
            double score = PREFIX * prefix + QUEUE * queue + MEMORY * (1 - memoryUse[i]);
            lowest.offer(i, -score);
            note(call, i, "prefix score", prefix);
            note(call, i, "waiting, scraped", waiting[i]);
            note(call, i, "queue score", queue);
            note(call, i, "memory score", 1 - memoryUse[i]);
            note(call, i, "sum, highest wins", score);
        }
        return lowest.engine();
    }
}
