package io.warmpath.upstream;

import org.jspecify.annotations.Nullable;

/**
 * The running calls of one event loop, looked through from time to time.
 *
 * <p>A timer per call, moved with every chunk, would cost more than the chunk. Here a chunk moves
 * one field, and a call is cut off late by at most one sweep. One thread.
 */
final class Deadlines {
    /** Member of the list; linked in itself, so that adding allocates nothing. */
    abstract static class Entry {
        private @Nullable Entry previous;
        private @Nullable Entry next;
        private boolean linked;
        private long deadlineNanos;

        final void deadline(long nanos) {
            deadlineNanos = nanos;
        }

        /** The deadline has passed; the entry has been removed. */
        abstract void expired();
    }

    private @Nullable Entry first;

    void add(Entry e) {
        e.linked = true;
        e.previous = null;
        e.next = first;
        if (first != null) {
            first.previous = e;
        }
        first = e;
    }

    /** Harmless when it is not in the list. */
    void remove(Entry e) {
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

    void sweep(long now) {
        Entry e = first;
        while (e != null) {
            Entry next = e.next;
            if (e.deadlineNanos - now < 0) {
                remove(e);
                e.expired();
                // What ran may have removed others; a removed entry no longer knows its next.
                if (next != null && !next.linked) {
                    return;
                }
            }
            e = next;
        }
    }
}
