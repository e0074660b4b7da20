package io.warmpath.events;

import io.warmpath.events.SourceTally.Of;

/**
 * A publisher that has been told to send again: which batches are waited for, and for how long. For
 * sources whose batches are refused when they are not the next ones. One thread.
 */
final class RefusedBatches {
    private final SourceStanding standing;
    private final EventCounters counters;
    private final SourceTally tally;
    private final long timeoutNanos;
    private long missing;
    private long since;

    RefusedBatches(
            SourceStanding standing, EventCounters counters, SourceTally tally, long timeoutNanos) {
        this.standing = standing;
        this.counters = counters;
        this.tally = tally;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * @param batches that have not come
     * @param why in words
     */
    void refused(long batches, String why, long now) {
        if (missing > 0) {
            return;
        }
        missing = batches;
        since = now;
        counters.gaps.increment();
        tally.add(Of.GAPS, 1);
        standing.repairing = true;
        standing.settle(why);
    }

    /**
     * A batch was taken.
     *
     * @param expected it is the one that was asked for
     */
    void came(boolean expected) {
        if (missing == 0) {
            return;
        }
        missing = 0;
        standing.repairing = false;
        if (expected) {
            tally.add(Of.REPAIRED, 1);
            counters.repaired.increment();
        }
    }

    boolean overdue(long now) {
        return missing > 0 && now - since >= timeoutNanos;
    }

    /** They are not waited for any more; how many they were. */
    long giveUp() {
        long n = missing;
        missing = 0;
        return n;
    }
}
