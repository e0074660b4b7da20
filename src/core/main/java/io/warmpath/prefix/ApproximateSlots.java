package io.warmpath.prefix;

/** The slots of an index without events: each holds what is decided for it. */
public record ApproximateSlots(PrefixIndex index) implements WorkerSlots {
    @Override
    public WorkerSlot open(int domain) {
        return index.openApproximate(domain);
    }

    @Override
    public void close(WorkerSlot slot) {
        index.close(slot);
    }
}
