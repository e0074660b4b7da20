package io.warmpath.gateway.flow;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * How long engines took for their first tokens lately, as a histogram of eight steps an octave. Any
 * thread, without locks. When it is full all counts are halved, so what was is forgotten slowly;
 * counts that come meanwhile may be lost.
 */
final class FirstTokenTimes {
    /** Fewer say too little. */
    private static final int ENOUGH = 100;

    private static final int FULL = 20_000;
    private static final int STEPS = 8; // of an octave

    /** From 1 µs to half an hour. */
    private static final int BUCKETS = 32 * STEPS;

    private final AtomicIntegerArray counts = new AtomicIntegerArray(BUCKETS + 1);

    void add(long nanos) {
        counts.incrementAndGet(bucket(nanos));
        if (counts.incrementAndGet(BUCKETS) >= FULL) {
            halve();
        }
    }

    /**
     * @param percentile above 0, at most 100
     * @return nanoseconds; -1 as long as too little is known
     */
    long at(double percentile) {
        int all = counts.get(BUCKETS);
        if (all < ENOUGH) {
            return -1;
        }
        long wanted = (long) Math.ceil(all * percentile / 100);
        long seen = 0;
        for (int i = 0; i < BUCKETS; i++) {
            seen += counts.get(i);
            if (seen >= wanted) {
                return upper(i);
            }
        }
        return upper(BUCKETS - 1);
    }

    private synchronized void halve() {
        if (counts.get(BUCKETS) < FULL) {
            return;
        }
        int all = 0;
        for (int i = 0; i < BUCKETS; i++) {
            all += counts.updateAndGet(i, n -> n / 2);
        }
        counts.set(BUCKETS, all);
    }

    private static int bucket(long nanos) {
        double octaves = Math.log(Math.max(1, nanos / 1000.0)) / Math.log(2);
        return Math.min(BUCKETS - 1, (int) (octaves * STEPS));
    }

    private static long upper(int bucket) {
        return (long) (1000 * Math.pow(2, (bucket + 1.0) / STEPS));
    }
}
