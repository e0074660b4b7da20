package io.warmpath.sim.wire;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The newest batches of one publisher. Any thread. */
public final class ReplayBuffer {
    /** One batch as it was published. */
    record Batch(long sequence, byte[] payload) {}

    private final int capacity;
    private final Deque<Batch> batches = new ArrayDeque<>();

    /** {@code capacity}: batches kept; older ones cannot be replayed. */
    public ReplayBuffer(int capacity) {
        this.capacity = capacity;
    }

    synchronized void add(long sequence, byte[] payload) {
        if (batches.size() == capacity) {
            batches.removeFirst();
        }
        batches.addLast(new Batch(sequence, payload));
    }

    synchronized List<Batch> from(long sequence) {
        List<Batch> found = new ArrayList<>();
        for (Batch batch : batches) {
            if (Long.compareUnsigned(batch.sequence(), sequence) >= 0) {
                found.add(batch);
            }
        }
        return found;
    }
}
