package io.warmpath.gateway.observe;

import io.warmpath.gateway.observe.KeptDecision.End;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What has just been decided, and what has just ended, for somebody who comes by often. What does
 * not fit into the queue is counted. Any thread offers, one drains; nobody waits.
 */
public final class DecisionFeed {
    private static final int QUEUE = 4096;

    /** A decision, or its end. {@code end}: null: it was made just now. */
    public record Change(KeptDecision decision, @Nullable End end) {}

    private final ArrayBlockingQueue<Change> queue = new ArrayBlockingQueue<>(QUEUE);
    private final LongAdder missed = new LongAdder();
    private volatile boolean followed;

    /** Whether somebody comes by; what is there is dropped when nobody does any more. */
    public void follow(boolean wanted) {
        followed = wanted;
        if (!wanted) {
            queue.clear();
            missed.reset();
        }
    }

    void offer(KeptDecision decision, @Nullable End end) {
        if (followed && !queue.offer(new Change(decision, end))) {
            missed.increment();
        }
    }

    /**
     * @param to gets what came since the last time, in its order
     * @return how much more there was
     */
    public long drainTo(List<Change> to) {
        queue.drainTo(to);
        return missed.sumThenReset();
    }
}
