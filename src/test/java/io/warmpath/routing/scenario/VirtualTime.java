package io.warmpath.routing.scenario;

import java.util.Comparator;
import java.util.PriorityQueue;

/** A clock that jumps to what happens next; equal times keep their order. One thread. */
final class VirtualTime {
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(
                    Comparator.comparingLong(Event::nanos).thenComparingLong(Event::number));
    private long nanos;
    private long number;

    long nanos() {
        return nanos;
    }

    double millis() {
        return nanos / 1e6;
    }

    void after(double millis, Runnable action) {
        events.add(new Event(nanos + Math.round(millis * 1e6), number++, action));
    }

    /** Until nothing is left to happen, or this moment has come. */
    void runUntil(double millis) {
        long end = Math.round(millis * 1e6);
        while (!events.isEmpty() && events.peek().nanos() <= end) {
            Event next = events.remove();
            nanos = next.nanos();
            next.action().run();
        }
        nanos = Math.max(nanos, end);
    }

    private record Event(long nanos, long number, Runnable action) {}
}
