package io.warmpath.replica;

import io.warmpath.load.Booked;
import io.warmpath.load.BookingListener;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Bookings that others have to be told of: from the threads of requests to the one that tells.
 * {@link #changed}: any thread, no lock, no allocation, some tens of nanoseconds. It never waits:
 * when the queue is full the change is counted as dropped, and who tells looks through all bookings
 * instead. {@link #poll} and {@link #sleeping}: the one thread that tells.
 */
public final class ChangeQueue implements BookingListener {
    private final AtomicReferenceArray<@Nullable Booked> places;
    private final int mask;
    private final Runnable wake;

    /** Places given out. */
    private final AtomicLong tail = new AtomicLong();

    /** Places emptied; written by the one thread. */
    private final AtomicLong head = new AtomicLong();

    private final AtomicLong dropped = new AtomicLong();
    private volatile boolean asleep;

    /**
     * @param capacity a power of two
     * @param wake called on a request's thread when something comes while the other one sleeps
     */
    public ChangeQueue(int capacity, Runnable wake) {
        if (Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException(capacity + " places are not a power of two");
        }
        places = new AtomicReferenceArray<>(capacity);
        mask = capacity - 1;
        this.wake = wake;
    }

    @Override
    public boolean changed(Booked booking) {
        long at = tail.get();
        while (true) {
            if (at - head.getAcquire() > mask) {
                dropped.incrementAndGet();
                return false;
            }
            long seen = tail.compareAndExchange(at, at + 1);
            if (seen == at) {
                break;
            }
            at = seen;
        }
        // Volatile: before asleep is read here, as it is after asleep was written there.
        places.set((int) at & mask, booking);
        if (asleep) {
            asleep = false;
            wake.run();
        }
        return true;
    }

    /** The next one, or null: there is none, or it is being put there at this moment. */
    @Nullable Booked poll() {
        long at = head.getPlain();
        int place = (int) at & mask;
        Booked booking = places.getAcquire(place);
        if (booking != null) {
            places.setPlain(place, null);
            head.setRelease(at + 1); // pairs with the acquire in changed(): the place is empty
        }
        return booking;
    }

    /** To be said before sleeping; false: something has come, so do not. */
    boolean sleeping() {
        asleep = true;
        if (places.get((int) head.getPlain() & mask) != null) {
            asleep = false;
            return false;
        }
        return true;
    }

    /** Changes that found no place. */
    public long dropped() {
        return dropped.get();
    }
}
