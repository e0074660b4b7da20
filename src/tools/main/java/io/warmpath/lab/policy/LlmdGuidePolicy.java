package io.warmpath.lab.policy;

import io.warmpath.prefix.PrefixMatch;

/**
 * llm-d's guide "token load and affinity filter": those engines that hold 0.8 of the prompt, or all
 * when there is none, or when going there would cost 18 s more of queue at 15,928 tokens a second;
 * of them the one with the fewest tokens in flight.
 */
final class LlmdGuidePolicy extends IndexedPolicy {
    private static final double AFFINITY = 0.8;
    private static final double MOST_PENALTY_SECONDS = 18;
    private static final double TOKENS_PER_SECOND = 15_928;

    private final Lowest lowest;
    private final Lowest holders;

    LlmdGuidePolicy(World world) {
        super(world);
        lowest = new Lowest(world.random());
        holders = new Lowest(world.random());
    }

    @Override
    int pick(Call call, PrefixMatch match) {
        lowest.begin();
        holders.begin();
        for (int i = 0; i < engines(); i++) {
            if (!isHere(i)) {
                continue;
            }
            lowest.offer(i, (double) runningTokens[i]);
            note(
                    call,
                    i,
                    "part cached",
                    cachedTokens(call, match, i) / (double) call.promptTokens());
            note(call, i, "tokens in flight", (double) runningTokens[i]);
            if (cachedTokens(call, match, i) >= AFFINITY * call.promptTokens()) {
                holders.offer(i, (double) runningTokens[i]);
            }
        }
        boolean affine =
                holders.engine() >= 0
                        && holders.value() - lowest.value()
                                <= MOST_PENALTY_SECONDS * TOKENS_PER_SECOND;
        because(call, affine ? "fewest tokens of those that hold 0.8" : "fewest tokens of all");
        return affine ? holders.engine() : lowest.engine();
    }
}
