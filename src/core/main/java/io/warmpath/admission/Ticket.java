package io.warmpath.admission;

/**
 * A place in the queue. Guarded by its queue, but for the fields that never change. Ordered as its
 * class serves: strict priority, key, arrival.
 */
public final class Ticket implements Comparable<Ticket> {
    final Claim claim;
    final int policyClass;
    final long arrivedNanos;
    final Runnable start;

    /** Its tenant neither waited nor was in debt when it came; guarded by its queue. */
    boolean due;

    private final double key;
    private final long number;

    Ticket(
            Claim claim,
            int policyClass,
            long arrivedNanos,
            double key,
            long number,
            Runnable start) {
        this.claim = claim;
        this.policyClass = policyClass;
        this.arrivedNanos = arrivedNanos;
        this.key = key;
        this.number = number;
        this.start = start;
    }

    /** When it came, by the clock of the queue. */
    public long arrivedNanos() {
        return arrivedNanos;
    }

    @Override
    public int compareTo(Ticket other) {
        int order = Integer.compare(other.claim.strictPriority(), claim.strictPriority());
        if (order == 0) {
            order = Double.compare(other.key, key);
        }
        return order != 0 ? order : Long.compare(number, other.number);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }
}
