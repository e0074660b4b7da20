package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;

/**
 * When each worker was last chosen, for those who take turns, and for ties that no prefix decides:
 * whose turn lies furthest back is next, so that prompts which nobody knows spread over an idle
 * fleet instead of meeting by chance. Any thread; lock-free but where the table grows. 8 bytes per
 * slot number. A new worker in an old number takes over its place in the order.
 */
final class LastTurns {
    private static final int FIRST_CAPACITY = 64;

    private final AtomicLong turn = new AtomicLong();

    /** By slot number, 0 = none yet. Replaced by a larger one under the monitor only. */
    private volatile AtomicLongArray last = new AtomicLongArray(FIRST_CAPACITY);

    void taken(Candidate candidate) {
        int slot = candidate.slot().index();
        (slot < last.length() ? last : grown(slot)).setOpaque(slot, turn.incrementAndGet());
    }

    /** The earliest of the last turns of these candidates; 0 when one had none yet. */
    long earliest(List<Candidate> candidates, IntPredicate among) {
        long earliest = Long.MAX_VALUE;
        for (int i = 0; i < candidates.size(); i++) {
            if (among.test(i)) {
                earliest = Math.min(earliest, of(candidates.get(i)));
            }
        }
        return earliest;
    }

    /** Number of the candidate's last turn; 0 = none yet. */
    long of(Candidate candidate) {
        int slot = candidate.slot().index();
        AtomicLongArray all = last;
        return slot < all.length() ? all.getOpaque(slot) : 0;
    }

    /** A turn that is taken meanwhile may be forgotten: it costs one place in the order. */
    private synchronized AtomicLongArray grown(int slot) {
        if (slot >= last.length()) {
            AtomicLongArray larger = new AtomicLongArray(Math.max(slot + 1, 2 * last.length()));
            for (int i = 0; i < last.length(); i++) {
                larger.set(i, last.get(i));
            }
            last = larger;
        }
        return last;
    }
}
