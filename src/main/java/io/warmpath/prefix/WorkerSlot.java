package io.warmpath.prefix;

/**
 * The index's dense number for one incarnation of one (worker, dp rank).
 *
 * <p>Given out by {@link PrefixIndex#open}; never reused while an event of the old owner could
 * still arrive, so an event of an earlier incarnation never touches the blocks of the present one.
 */
public record WorkerSlot(int index) {
    public WorkerSlot {
        if (index < 0) {
            throw new IllegalArgumentException("slot index " + index + " is negative");
        }
    }
}
