package io.warmpath.gateway.request;

import io.vertx.core.Context;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that the bodies of all requests take together, and its limit. Any thread; one addition per
 * piece that arrives.
 */
public final class BodyMemory {
    private static final Object KEY = new Object();

    private final long limit;
    private final AtomicLong held = new AtomicLong();
    private volatile boolean full;

    /** {@code limit}: in bytes, from 1. */
    public BodyMemory(long limit) {
        this.limit = limit;
    }

    /** Bytes that all together may take. */
    public long limit() {
        return limit;
    }

    /** Bytes now. */
    public long held() {
        return held.get();
    }

    /**
     * @param now whether no more is taken, however little there is: the process has no memory left
     */
    public void full(boolean now) {
        full = now;
    }

    /** Whether nothing more is taken. */
    public boolean full() {
        return full;
    }

    /**
     * More of what the running request of this context has in memory: an answer that is gathered,
     * also while the process takes nothing new. Given back when the request has ended.
     *
     * @return false: there is no room
     */
    public static boolean take(Context context, int bytes) {
        Reservation mine = context.getLocal(KEY);
        return mine == null || mine.take(bytes, true);
    }

    /** For one request. */
    public Reservation reserve() {
        return new Reservation();
    }

    /** The request of this context no longer needs its body; nothing where it has none. */
    public static void answered(Context context) {
        Reservation mine = context.getLocal(KEY);
        if (mine != null) {
            mine.free();
        }
    }

    /** What one request's body takes. On its event loop. */
    public final class Reservation {
        private long taken;

        /**
         * @param bytes that have arrived
         * @return false when that is more than all together may take, or the process has none left;
         *     they are not counted then
         */
        public boolean take(int bytes) {
            return take(bytes, false);
        }

        /** {@code runs}: for the answer of a request that runs, which shall end. */
        public boolean take(int bytes, boolean runs) {
            if (full && !runs) {
                return false;
            }
            if (held.addAndGet(bytes) > limit) {
                held.addAndGet(-bytes);
                return false;
            }
            taken += bytes;
            return true;
        }

        /** Freed when the answer has begun, too. */
        public void belongsTo(Context context) {
            context.putLocal(KEY, this);
        }

        /** May be called again. */
        public void free() {
            held.addAndGet(-taken);
            taken = 0;
        }
    }
}
