package io.warmpath.upstream;

import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.net.Deadlines;
import java.util.HashMap;
import java.util.Map;

/**
 * {@link Deadlines} of the calls of one event loop. They also report when a worker was heard, and
 * call {@link Entry#silent} when a worker that is unwell keeps silent. One thread.
 */
final class WorkerDeadlines {
    /** What waits for a worker. */
    abstract static class Entry extends Deadlines.Entry {
        private final WorkerDeadlines all;
        private final String worker;
        private long heardNanos;
        private long patienceNanos; // 0: the worker is well
        private boolean spoke; // since the last sweep

        /** {@code all}: that it will be added to. {@code worker}: its name. */
        Entry(WorkerDeadlines all, String worker) {
            this.all = all;
            this.worker = worker;
        }

        final String worker() {
            return worker;
        }

        @Override
        protected final void deadline(long now, long timeout) {
            heardNanos = now;
            super.deadline(now, timeout);
        }

        /**
         * Something has come from the worker, and more is waited for. {@code timeout}: nanoseconds.
         */
        final void heard(long now, long timeout) {
            deadline(now, timeout);
            spoke = true;
        }

        private void tell() {
            if (spoke) {
                spoke = false;
                all.signs.heard(worker, heardNanos);
            }
        }

        @Override
        protected final boolean waits(long now) {
            tell();
            if (patienceNanos == 0 || now - heardNanos <= patienceNanos) {
                return false;
            }
            heardNanos = now;
            silent();
            return true;
        }

        @Override
        protected final void expired() {
            tell();
            late();
        }

        /** The worker is unwell, and has been silent for as long as that is put up with. */
        abstract void silent();

        /** The deadline has passed; the entry has been removed. */
        abstract void late();
    }

    private final Deadlines entries = new Deadlines();
    private final Map<String, Long> unwell = new HashMap<>(); // nanoseconds to put up with
    private final SignsOfLife signs;

    /** {@code signs}: gets, at each sweep, the workers that were heard since the last one. */
    WorkerDeadlines(SignsOfLife signs) {
        this.signs = signs;
    }

    /** It must not be in a list. */
    void add(Entry e) {
        e.patienceNanos = unwell.isEmpty() ? 0 : unwell.getOrDefault(e.worker, 0L);
        entries.add(e);
    }

    /** Harmless when it is not in the list. */
    void remove(Entry e) {
        entries.remove(e);
    }

    /**
     * From now on, until {@link #well}, each such time of silence is reported to its calls.
     *
     * @param patience nanoseconds
     */
    void unwell(String worker, long now, long patience) {
        unwell.put(worker, patience);
        entries.forEach(
                entry -> {
                    if (entry instanceof Entry e && e.worker.equals(worker)) {
                        e.patienceNanos = patience;
                        e.heardNanos = now;
                    }
                });
    }

    void well(String worker) {
        unwell.remove(worker);
        entries.forEach(
                entry -> {
                    if (entry instanceof Entry e && e.worker.equals(worker)) {
                        e.patienceNanos = 0;
                    }
                });
    }

    void sweep(long now) {
        entries.sweep(now);
    }
}
