package io.warmpath.prefix;

/**
 * One incarnation of one (worker, dp rank) in the index.
 *
 * <p>Given out by {@link PrefixIndex#open}. Two slots are equal when number and incarnation are, so
 * a slot that was closed never equals a later owner of its number, and its late events are ignored.
 *
 * @param value slot number in the low {@link #NUMBER_BITS} bits; above them how often the number
 *     was given out before, modulo 2^18. Every value is a slot, open or not
 */
public record WorkerSlot(int value) {
    /** Bits of the number. */
    public static final int NUMBER_BITS = 14;

    private static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;

    /** The slot of this number and incarnation; only the low 18 bits of the latter count. */
    static WorkerSlot of(int index, int incarnation) {
        return new WorkerSlot(incarnation << NUMBER_BITS | index);
    }

    /** Dense number, below {@link PrefixIndex#MAX_SLOTS}; given out again after a close. */
    public int index() {
        return value & NUMBER_MASK;
    }

    /** How often the number was given out before, modulo 2^18. */
    public int incarnation() {
        return value >>> NUMBER_BITS;
    }
}
