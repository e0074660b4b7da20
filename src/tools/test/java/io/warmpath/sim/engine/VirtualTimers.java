package io.warmpath.sim.engine;

import java.util.Comparator;
import java.util.PriorityQueue;

/** Time that moves only when told to; timers of one instant run in the order they were set. */
public final class VirtualTimers implements Timers {
    private record Task(long at, long serial, Runnable action) {}

    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::serial));
    private long now;
    private long serial;

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        Task t = new Task(now + delayNanos, serial++, task);
        tasks.add(t);
        return () -> tasks.remove(t);
    }

    public void advanceTo(long nanos) {
        while (!tasks.isEmpty() && tasks.element().at() <= nanos) {
            Task t = tasks.remove();
            now = t.at();
            t.action().run();
        }
        now = nanos;
    }

    /** Until nothing is left to happen. */
    public void playAll() {
        while (!tasks.isEmpty()) {
            advanceTo(tasks.element().at());
        }
    }

    public int pending() {
        return tasks.size();
    }
}
