package io.warmpath.prefix;

import java.util.List;

/**
 * Which worker holds which prefix, in which tier.
 *
 * <p>{@link #match} any thread, never blocks. {@link #apply}, {@link #open}, {@link
 * #close(WorkerSlot)}: any thread, serialised inside; events of one slot must come in their order.
 * A closed index refuses every call with {@link IllegalStateException}.
 */
public interface PrefixIndex extends AutoCloseable {
    /** Open slots at once. */
    int MAX_SLOTS = 4096;

    /** Tokens per block; queries of larger blocks are refused, stores of them ignored. */
    int MAX_BLOCK_SIZE = 65536;

    /** A new, empty slot for one incarnation of (worker, rank). Fails when all slots are taken. */
    WorkerSlot open(long workerId, int dpRank);

    /**
     * Forgets everything of this slot; events that still arrive for it are counted and ignored.
     *
     * <p>The number is given out again: stop the slot's event source first.
     *
     * @throws IllegalStateException when the slot is not open; closing twice could hit its next
     *     owner
     */
    void close(WorkerSlot slot);

    /** Applies events in order; one bad event never stops the others. */
    ApplyResult apply(List<? extends PrefixEvent> events);

    /** Depths per slot and tier. Exact for all events applied before the call began. */
    PrefixMatch match(PrefixQuery query);

    IndexStats stats();

    @Override
    void close();
}
