package io.warmpath.net;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is waited for on one event loop, looked through from time to time. A timer per call, moved
 * with every chunk, would cost more than the chunk. Here a chunk moves one field, and a call is cut
 * off late by at most one sweep. One thread.
 */
public final class Deadlines {
    /** Member of the list; linked in itself, so that adding allocates nothing. */
    public abstract static class Entry {
        private @Nullable Entry previous;
        private @Nullable Entry next;
        private boolean linked;
        private long deadlineNanos;

        /** Something is waited for from now on. {@code timeout}: nanoseconds. */
        protected void deadline(long now, long timeout) {
            deadlineNanos = now + timeout;
        }

        /**
         * A sweep has come by before the deadline.
         *
         * @return true when that may have added or removed entries
         */
        protected boolean waits(long now) {
            return false;
        }

        /** The deadline has passed; the entry has been removed, and may be added again. */
        protected abstract void expired();
    }

    /**
     * A sweep costs little and a deadline should not be missed by much: an eighth of the shortest.
     */
    private static final int SWEEPS_PER_LIMIT = 8;

    private static final long MIN_SWEEP_MILLIS = 5;
    private static final long MAX_SWEEP_MILLIS = 500;

    private @Nullable Entry first;

    /**
     * How often to sweep when these are the time-outs; a deadline is noticed late by this at most.
     */
    public static long sweepMillis(Duration... limits) {
        long shortest = Long.MAX_VALUE;
        for (Duration limit : limits) {
            shortest = Math.min(shortest, limit.toMillis());
        }
        return Math.clamp(shortest / SWEEPS_PER_LIMIT, MIN_SWEEP_MILLIS, MAX_SWEEP_MILLIS);
    }

    /** It must not be in a list. */
    public void add(Entry e) {
        e.linked = true;
        e.previous = null;
        e.next = first;
        if (first != null) {
            first.previous = e;
        }
        first = e;
    }

    /** Harmless when it is not in the list. */
    public void remove(Entry e) {
        if (!e.linked) {
            return;
        }
        e.linked = false;
        if (e.previous == null) {
            first = e.next;
        } else {
            e.previous.next = e.next;
        }
        if (e.next != null) {
            e.next.previous = e.previous;
        }
        e.previous = null;
        e.next = null;
    }

    /** {@code action}: adds and removes none. */
    public void forEach(Consumer<Entry> action) {
        for (Entry e = first; e != null; e = e.next) {
            action.accept(e);
        }
    }

    public void sweep(long now) {
        Entry e = first;
        while (e != null) {
            Entry next = e.next;
            boolean ran = true;
            if (e.deadlineNanos - now < 0) {
                remove(e);
                e.expired();
            } else {
                ran = e.waits(now);
            }
            // What ran may have removed others; a removed entry no longer knows its next.
            if (ran && next != null && !next.linked) {
                return;
            }
            e = next;
        }
    }
}
