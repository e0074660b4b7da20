package io.warmpath.lab.policy;

import io.warmpath.prefix.PrefixMatch;
import java.util.function.IntToDoubleFunction;

/** The rules that complaints about routers are about. Of equals all of them take the first. */
final class NaivePolicy extends IndexedPolicy {
    /** Chooses by what the policy knows. */
    @FunctionalInterface
    interface Rule {
        int pick(NaivePolicy of, Call call, PrefixMatch match);
    }

    /** What is in flight and what is missing; no chance. */
    static final Rule FIRST =
            (p, call, match) ->
                    p.first(i -> p.runningTokens[i] - (double) p.cachedTokens(call, match, i));

    /** Fewest requests. */
    static final Rule FEWEST = (p, call, match) -> p.first(i -> p.running[i]);

    /** Load is what has begun to answer. */
    static final Rule COUNTED_AT_FIRST_TOKEN = (p, call, match) -> p.first(i -> p.answering[i]);

    static final Rule LONGEST_PREFIX =
            (p, call, match) -> p.first(i -> -p.cachedTokens(call, match, i));

    /** The prefix, unless loads differ: then the shortest queue, whatever it holds. */
    static final Rule DROPS_AFFINITY =
            (p, call, match) -> {
                int most = 0;
                int least = Integer.MAX_VALUE;
                for (int i = 0; i < p.engines(); i++) {
                    most = Math.max(most, p.running[i]);
                    least = Math.min(least, p.running[i]);
                }
                boolean imbalanced = most - least > 32 && most > 1.1 * least;
                int longest = LONGEST_PREFIX.pick(p, call, match);
                return !imbalanced && p.isHalfCached(call, match, longest)
                        ? longest
                        : p.first(i -> p.running[i]);
            };

    /** Whoever holds least gets what nobody holds. */
    static final Rule SMALLEST_CACHE =
            (p, call, match) -> {
                int longest = LONGEST_PREFIX.pick(p, call, match);
                return p.isHalfCached(call, match, longest)
                        ? longest
                        : p.first(i -> p.world.engines().get(i).cache().held());
            };

    private final Rule rule;

    /** Of the running requests those whose first token has come. */
    private final int[] answering;

    NaivePolicy(World world, Rule rule) {
        super(world);
        this.rule = rule;
        this.answering = new int[world.mostEngines()];
    }

    @Override
    int pick(Call call, PrefixMatch match) {
        return rule.pick(this, call, match);
    }

    private boolean isHalfCached(Call call, PrefixMatch match, int engine) {
        return 2 * cachedTokens(call, match, engine) > call.promptTokens();
    }

    private int first(IntToDoubleFunction cost) {
        int best = -1;
        for (int i = 0; i < engines(); i++) {
            if (isHere(i) && (best < 0 || cost.applyAsDouble(i) < cost.applyAsDouble(best))) {
                best = i;
            }
        }
        return best;
    }

    @Override
    public void firstToken(Call call) {
        answering[engineOf(call)]++;
    }

    @Override
    public void ended(Call call) {
        super.ended(call);
        answering[engineOf(call)]--;
    }
}
