package io.warmpath.load;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sums of one slot number in one incarnation. Any thread. Blocks are counted in 1/65536: a block
 * that decays counts in part, and whole numbers come back to zero exactly.
 */
final class SlotLoad {
    /** One block. */
    static final int WHOLE = 1 << 16;

    private static final VarHandle PREFILL_TOKENS = handle("prefillTokens", long.class);
    private static final VarHandle UNITS = handle("units", long.class);
    private static final VarHandle REQUESTS = handle("requests", int.class);
    private static final VarHandle PEERS_REQUESTS = handle("peersRequests", int.class);
    private static final AtomicInteger KEYS = new AtomicInteger();

    final int index;

    /** Different for every incarnation; orders the ranks of a node. */
    final int key = KEYS.getAndIncrement();

    // Beside each other in this object, not in three of their own: a decision reads them for every
    // rank. Changed through the handles only.
    private volatile long prefillTokens;
    private volatile long units;
    private volatile int requests;
    private volatile int peersRequests;
    private volatile boolean current = true;

    /** What others have running here; replaced as a whole. */
    private volatile Outside outside = Outside.NONE;

    /** {@code units}: as {@link #WHOLE} says. */
    private record Outside(int requests, long units) {
        static final Outside NONE = new Outside(0, 0);
    }

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
        Outside others = outside;
        return new WorkerLoad(
                prefillTokens,
                (units + others.units()) / (double) WHOLE,
                requests + others.requests());
    }

    /** Requests that are booked here, peers' included. */
    int booked() {
        return requests;
    }

    int outside() {
        return outside.requests();
    }

    void outside(int others, double blocks) {
        outside = others == 0 ? Outside.NONE : new Outside(others, (long) (blocks * WHOLE));
    }

    /** Requests that this gateway sent itself. */
    int ownRequests() {
        return Math.max(0, requests - peersRequests);
    }

    void addPrefillTokens(long count) {
        PREFILL_TOKENS.getAndAdd(this, count);
    }

    void addUnits(long count) {
        UNITS.getAndAdd(this, count);
    }

    void addRequests(int count) {
        REQUESTS.getAndAdd(this, count);
    }

    /** Of those that {@link #addRequests} counts too. */
    void addPeersRequests(int count) {
        PEERS_REQUESTS.getAndAdd(this, count);
    }

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(SlotLoad.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
