package io.warmpath.sim.virtual;

import java.util.Arrays;

/**
 * A clock that jumps from event to event. One thread. Nanoseconds from 0. Events of one moment
 * happen in the order in which they were entered, so equal histories give equal runs. An event
 * costs two walks of a binary heap and no object.
 */
public final class VirtualTime {
    private long[] times = new long[256];
    private long[] turns = new long[256];
    private Runnable[] events = new Runnable[256];
    private int size;
    private long turn;
    private long now;

    public long nanos() {
        return now;
    }

    public void after(long nanos, Runnable event) {
        at(now + Math.max(0, nanos), event);
    }

    /** A time that has passed means now. */
    public void at(long nanos, Runnable event) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            turns = Arrays.copyOf(turns, 2 * size);
            events = Arrays.copyOf(events, 2 * size);
        }
        long time = Math.max(now, nanos);
        long order = turn++;
        int at = size++;
        while (at > 0) {
            int parent = (at - 1) >>> 1;
            if (!before(time, order, parent)) {
                break;
            }
            move(parent, at);
            at = parent;
        }
        set(at, time, order, event);
    }

    /** The next event happens; false when there is none. */
    public boolean step() {
        if (size == 0) {
            return false;
        }
        now = times[0];
        Runnable event = events[0];
        size--;
        sinkLast();
        event.run();
        return true;
    }

    /** Puts the last entry to where it belongs, beginning at the root. */
    private void sinkLast() {
        long time = times[size];
        long order = turns[size];
        Runnable event = events[size];
        int at = 0;
        while (true) {
            int child = 2 * at + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && before(times[child + 1], turns[child + 1], child)) {
                child++;
            }
            if (before(time, order, child)) {
                break;
            }
            move(child, at);
            at = child;
        }
        set(at, time, order, event);
    }

    private boolean before(long time, long order, int other) {
        return time < times[other] || (time == times[other] && order < turns[other]);
    }

    private void move(int from, int to) {
        times[to] = times[from];
        turns[to] = turns[from];
        events[to] = events[from];
    }

    private void set(int at, long time, long order, Runnable event) {
        times[at] = time;
        turns[at] = order;
        events[at] = event;
    }
}
