package io.warmpath.upstream;

import io.warmpath.fleet.SignsOfLife;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is waited for on one event loop, looked through from time to time.
 *
 * <p>A timer per call, moved with every chunk, would cost more than the chunk. Here a chunk moves
 * one field, and a call is cut off late by at most one sweep. One thread.
 */
public final class Deadlines {
    /** Member of the list; linked in itself, so that adding allocates nothing. */
    public abstract static class Entry {
        private @Nullable Entry previous;
        private @Nullable Entry next;
        private boolean linked;
        private long deadlineNanos;
        private long heardNanos;
        private long patienceNanos; // 0: the worker is well
        private boolean spoke; // since the last sweep

        /**
         * Something is waited for from now on.
         *
         * @param timeout nanoseconds
         */
        protected final void deadline(long now, long timeout) {
            heardNanos = now;
            deadlineNanos = now + timeout;
        }

        /**
         * Something has come from the worker, and more is waited for.
         *
         * @param timeout nanoseconds
         */
        protected final void heard(long now, long timeout) {
            deadline(now, timeout);
            spoke = true;
        }

        /** Name of the worker that is waited for; null: it is none. */
        @Nullable String worker() {
            return null;
        }

        /** The worker is unwell, and has been silent for as long as that is put up with. */
        void silent() {}

        /** The deadline has passed; the entry has been removed, and may be added again. */
        protected abstract void expired();
    }

    /**
     * A sweep costs little and a deadline should not be missed by much: an eighth of the shortest.
     */
    private static final int SWEEPS_PER_LIMIT = 8;

    private static final long MIN_SWEEP_MILLIS = 5;
    private static final long MAX_SWEEP_MILLIS = 500;

    private final Map<String, Long> unwell = new HashMap<>(); // nanoseconds to put up with
    private final SignsOfLife signs;
    private @Nullable Entry first;

    /** For what is no worker. */
    public Deadlines() {
        this(new SignsOfLife());
    }

    /**
     * @param signs told, at each sweep, which workers have been heard since the last one
     */
    public Deadlines(SignsOfLife signs) {
        this.signs = signs;
    }

    /**
     * How often to sweep when these are the time-outs; a deadline is noticed late by this at most.
     */
    static long sweepMillis(Duration... limits) {
        long shortest = Long.MAX_VALUE;
        for (Duration limit : limits) {
            shortest = Math.min(shortest, limit.toMillis());
        }
        return Math.clamp(shortest / SWEEPS_PER_LIMIT, MIN_SWEEP_MILLIS, MAX_SWEEP_MILLIS);
    }

    /** It must not be in a list. */
    public void add(Entry e) {
        e.linked = true;
        String worker = unwell.isEmpty() ? null : e.worker();
        e.patienceNanos = worker == null ? 0 : unwell.getOrDefault(worker, 0L);
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

    /**
     * From now on, until {@link #well}, its calls are told of each such time of silence.
     *
     * @param patience nanoseconds
     */
    void unwell(String worker, long now, long patience) {
        unwell.put(worker, patience);
        for (Entry e = first; e != null; e = e.next) {
            if (worker.equals(e.worker())) {
                e.patienceNanos = patience;
                e.heardNanos = now;
            }
        }
    }

    void well(String worker) {
        unwell.remove(worker);
        for (Entry e = first; e != null; e = e.next) {
            if (worker.equals(e.worker())) {
                e.patienceNanos = 0;
            }
        }
    }

    private void tell(Entry e) {
        e.spoke = false;
        String worker = e.worker();
        if (worker != null) {
            signs.heard(worker, e.heardNanos);
        }
    }

    void sweep(long now) {
        Entry e = first;
        while (e != null) {
            Entry next = e.next;
            boolean ran = true;
            if (e.spoke) {
                tell(e);
            }
            if (e.deadlineNanos - now < 0) {
                remove(e);
                e.expired();
            } else if (e.patienceNanos > 0 && now - e.heardNanos > e.patienceNanos) {
                e.heardNanos = now;
                e.silent();
            } else {
                ran = false;
            }
            // What ran may have removed others; a removed entry no longer knows its next.
            if (ran && next != null && !next.linked) {
                return;
            }
            e = next;
        }
    }
}
