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
    int MAX_SLOTS = 1 << WorkerSlot.NUMBER_BITS;

    /** Tokens per block; queries of larger blocks are refused, stores of them ignored. */
    int MAX_BLOCK_SIZE = 65536;

    /** Domains are numbered from 0 to one below this. */
    int MAX_DOMAINS = 65536;

    /**
     * A new, empty slot for one incarnation of (worker, rank), with the lowest free number.
     *
     * @param domain slots whose engines give the same block the same hash should share one. It is
     *     only about memory and time, never about answers: an index may keep one entry per hash and
     *     domain, and keeps hashes that mean different blocks apart where they meet. So one domain
     *     per kind of engine is right although two engines of a kind may hash differently
     * @throws IllegalStateException when all slots are taken
     * @throws IllegalArgumentException when there is no such domain
     */
    WorkerSlot open(int domain);

    /**
     * Forgets everything of this slot; events that still arrive for it are counted and ignored,
     * also when its number has a new owner.
     *
     * @throws IllegalStateException when this incarnation is not open
     */
    void close(WorkerSlot slot);

    /** Applies events in order; one bad event never stops the others. */
    ApplyResult apply(List<? extends PrefixEvent> events);

    /** Depths per slot and tier. Exact for all events applied before the call began. */
    PrefixMatch match(PrefixQuery query);

    /**
     * {@link #match} for several prompts, one answer each in their order. An index may answer them
     * faster than one by one. Any thread, never blocks.
     */
    default List<PrefixMatch> matchAll(List<PrefixQuery> queries) {
        return queries.stream().map(this::match).toList();
    }

    IndexStats stats();

    @Override
    void close();
}
