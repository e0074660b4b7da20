package io.warmpath.upstream;

import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.net.Deadlines;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * {@link Deadlines} of the calls of one event loop. They also report when a worker was heard, and
 * call {@link Entry#silent} when a worker that is unwell, or has left, keeps silent. A worker is
 * its URL; what is said of one that has left holds for its calls, whoever has the address
 * afterwards. One thread.
 */
final class WorkerDeadlines {
    /** What waits for a worker. */
    abstract static class Entry extends Deadlines.Entry {
        private final WorkerDeadlines all;
        private final URI worker;
        private Standing standing = Standing.WELL;
        private long heardNanos;
        private boolean spoke; // since the last sweep

        /** {@code all}: that it will be added to. */
        Entry(WorkerDeadlines all, URI worker) {
            this.all = all;
            this.worker = worker;
        }

        /** The worker has left the fleet and fails: nobody will say that it is well again. */
        final boolean isLost() {
            return standing.lost;
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
            if (standing.patience == 0 || now - heardNanos <= standing.patience) {
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

        /** The worker has been silent for as long as that is put up with. */
        abstract void silent();

        /** The deadline has passed; the entry has been removed. */
        abstract void late();
    }

    /** How its worker stands. {@code patience}: nanoseconds of silence to put up with, 0: any. */
    private record Standing(long patience, boolean left, boolean lost) {
        static final Standing WELL = new Standing(0, false, false);
    }

    private final Deadlines entries = new Deadlines();
    private final Map<URI, Standing> standings = new HashMap<>(); // of those that are not well
    private final SignsOfLife signs;

    /** {@code signs}: gets, at each sweep, the workers that were heard since the last one. */
    WorkerDeadlines(SignsOfLife signs) {
        this.signs = signs;
    }

    /** It must not be in a list. */
    void add(Entry e) {
        e.standing =
                standings.isEmpty()
                        ? Standing.WELL
                        : standings.getOrDefault(e.worker, Standing.WELL);
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
    void unwell(URI worker, long now, long patience) {
        standings.put(worker, new Standing(patience, false, false));
        forEach(
                worker,
                e -> {
                    if (!e.standing.left) {
                        e.standing = new Standing(patience, false, false);
                        e.heardNanos = now;
                    }
                });
    }

    /** Its calls that run now and are {@link #left} stay so. */
    void well(URI worker) {
        standings.remove(worker);
        forEach(
                worker,
                e -> {
                    if (!e.standing.left) {
                        e.standing = Standing.WELL;
                    }
                });
    }

    /**
     * It has left the fleet. Silence of its calls is reported, that which has been counts.
     *
     * @param patience nanoseconds
     */
    void left(URI worker, long patience) {
        Standing now = new Standing(patience, true, false);
        standings.put(worker, now);
        forEach(
                worker,
                e -> {
                    if (!e.standing.left) {
                        e.standing = now;
                    }
                });
    }

    /** It fails since it has left. */
    void lost(URI worker, long patience) {
        Standing now = new Standing(patience, true, true);
        standings.computeIfPresent(worker, (w, standing) -> standing.left ? now : standing);
        forEach(
                worker,
                e -> {
                    if (e.standing.left) {
                        e.standing = now;
                    }
                });
    }

    private void forEach(URI worker, Consumer<Entry> action) {
        entries.forEach(
                entry -> {
                    if (entry instanceof Entry e && e.worker.equals(worker)) {
                        action.accept(e);
                    }
                });
    }

    void sweep(long now) {
        entries.sweep(now);
    }
}
