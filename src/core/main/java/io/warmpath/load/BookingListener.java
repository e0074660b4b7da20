package io.warmpath.load;

/**
 * Told of the bookings of a {@link LoadTracker} that begin, change or end, on the path of their
 * requests: must not wait, must not call the booking. Any thread.
 */
@FunctionalInterface
public interface BookingListener {
    /** Nobody listens. */
    BookingListener NONE = booking -> true;

    /**
     * This booking is other than before. Not told again before {@link Booked#taken}.
     *
     * @return false when it could not be noted; then the next change is told in any case
     */
    boolean changed(Booked booking);
}
