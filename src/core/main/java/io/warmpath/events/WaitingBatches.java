package io.warmpath.events;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Batches of the live stream that came before their turn: behind a replay that is still running, or
 * behind one that may have been overtaken on the way. One thread.
 */
final class WaitingBatches {
    record Batch(long sequence, byte[] payload) {}

    /** How long, and how many behind it, an overtaken batch is waited for without a replay. */
    static final long OVERTAKEN_NANOS = 100_000_000;

    private static final int OVERTAKEN_BATCHES = 64;

    private final ArrayDeque<Batch> batches = new ArrayDeque<>();

    void add(Batch batch) {
        batches.add(batch);
    }

    /** Before those with higher numbers at the end. O(those). */
    void insert(Batch batch) {
        ArrayDeque<Batch> higher = new ArrayDeque<>();
        while (!batches.isEmpty()
                && Long.compareUnsigned(batches.getLast().sequence, batch.sequence) > 0) {
            higher.addFirst(batches.removeLast());
        }
        batches.add(batch);
        batches.addAll(higher);
    }

    void addFirst(Batch batch) {
        batches.addFirst(batch);
    }

    void clear() {
        batches.clear();
    }

    boolean isEmpty() {
        return batches.isEmpty();
    }

    int size() {
        return batches.size();
    }

    /** So many have come that the one before them will not. */
    boolean tooMany() {
        return batches.size() >= OVERTAKEN_BATCHES;
    }

    Batch removeFirst() {
        return batches.removeFirst();
    }

    /** The one with this number, null when it is not here. O(waiting). */
    @Nullable Batch remove(long sequence) {
        for (Iterator<Batch> i = batches.iterator(); i.hasNext(); ) {
            Batch b = i.next();
            if (b.sequence == sequence) {
                i.remove();
                return b;
            }
        }
        return null;
    }
}
