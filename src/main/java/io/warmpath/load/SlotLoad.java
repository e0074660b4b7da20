package io.warmpath.load;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sums of one slot number in one incarnation. Any thread.
 *
 * <p>Blocks are counted in 1/65536: a block that decays counts in part, and whole numbers come back
 * to zero exactly.
 */
final class SlotLoad {
    /** One block. */
    static final int WHOLE = 1 << 16;

    private static final AtomicInteger KEYS = new AtomicInteger();

    final int index;

    /** Different for every incarnation; orders the ranks of a node. */
    final int key = KEYS.getAndIncrement();

    final AtomicLong prefillTokens = new AtomicLong();
    final AtomicLong units = new AtomicLong();
    final AtomicLong requests = new AtomicLong();
    private volatile boolean current = true;

    SlotLoad(int index) {
        this.index = index;
    }

    /** False once the number went to another incarnation. */
    boolean isCurrent() {
        return current;
    }

    void retire() {
        current = false;
    }

    WorkerLoad read() {
        return new WorkerLoad(
                prefillTokens.get(), units.get() / (double) WHOLE, (int) requests.get());
    }
}
