package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many tokens sessions keep out of each rank's eviction. Any thread, no waiting. Tokens that
 * fill an engine stop it for good: never more than a share of what a rank has, and none where the
 * rank does not say how many that are.
 */
final class PinnedTokens {
    private final double share;

    /** By incarnation of a rank. */
    private final Map<Integer, AtomicLong> bySlot = new ConcurrentHashMap<>();

    /** {@code share}: of a rank's tokens, 0 to 1. */
    PinnedTokens(double share) {
        this.share = share;
    }

    /** Whether a rank may pin so many tokens more. */
    boolean may(Candidate at, int tokens) {
        long all = at.worker().capacity().kvBlocks() * at.worker().blockSize();
        return of(at.slot().value()) + tokens <= all * share;
    }

    /** Counts so many where that may be; until they are added with a minus. */
    boolean take(Candidate at, int tokens) {
        int slot = at.slot().value();
        add(slot, tokens);
        if (may(at, 0)) {
            return true;
        }
        add(slot, -tokens);
        return false;
    }

    void add(int slot, int tokens) {
        if (tokens != 0) {
            bySlot.compute(
                    slot,
                    (k, sum) -> {
                        AtomicLong now = sum == null ? new AtomicLong() : sum;
                        return now.addAndGet(tokens) == 0 ? null : now;
                    });
        }
    }

    long of(int slot) {
        AtomicLong tokens = bySlot.get(slot);
        return tokens == null ? 0 : tokens.get();
    }
}
