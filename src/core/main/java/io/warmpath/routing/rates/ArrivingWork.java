package io.warmpath.routing.rates;

import io.warmpath.routing.rates.WorkerRates.Work;

/** What came to one rank within the last minute. Not for several threads. */
final class ArrivingWork {
    static final long WINDOW_NANOS = 60_000_000_000L;

    private long window = Long.MIN_VALUE;
    private WorkSum current = new WorkSum();
    private WorkSum before = new WorkSum();

    void add(Work work, LatencyPriors priors, long now) {
        turn(now);
        current.add(work, priors);
    }

    /** All of the window that is running and, as if it had come evenly, the rest of a minute. */
    WorkSum lastMinute(long now) {
        turn(now);
        double passed = (double) Math.floorMod(now, WINDOW_NANOS) / WINDOW_NANOS;
        WorkSum sum = new WorkSum();
        sum.add(current, 1);
        sum.add(before, 1 - passed);
        return sum;
    }

    private void turn(long now) {
        long running = Math.floorDiv(now, WINDOW_NANOS);
        if (running != window) {
            before = running == window + 1 ? current : new WorkSum();
            current = new WorkSum();
            window = running;
        }
    }
}
