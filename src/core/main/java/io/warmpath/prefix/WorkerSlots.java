package io.warmpath.prefix;

/** Gives out the slots by which one incarnation of one (worker, rank) is known. Any thread. */
public interface WorkerSlots {
    /**
     * A new slot, with the lowest free number.
     *
     * @param domain as {@link PrefixIndex#open}
     * @throws IllegalStateException when all slots are taken
     * @throws IllegalArgumentException when there is no such domain
     */
    WorkerSlot open(int domain);

    /**
     * A slot for a rank that may have been known before this process started: then the one with
     * what was known of it, if that was kept; else a new one. {@code worker}: its id, as u64.
     */
    default WorkerSlot open(int domain, long worker, int rank) {
        return open(domain);
    }

    /**
     * Gives it back; what was known of it is forgotten.
     *
     * @throws IllegalStateException when this incarnation is not open
     */
    void close(WorkerSlot slot);
}
