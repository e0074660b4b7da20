package io.warmpath.prefix;

import java.util.List;

/**
 * Which worker holds which prefix, in which tier. {@link #match} any thread, never blocks. {@link
 * #apply}, {@link #open}, {@link #close(WorkerSlot)}: any thread, serialised inside; events of one
 * slot must come in their order. A closed index refuses every call with {@link
 * IllegalStateException}.
 */
public interface PrefixIndex extends WorkerSlots, AutoCloseable {
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
    @Override
    WorkerSlot open(int domain);

    /**
     * Forgets everything of this slot; events that still arrive for it are counted and ignored,
     * also when its number has a new owner.
     *
     * @throws IllegalStateException when this incarnation is not open
     */
    @Override
    void close(WorkerSlot slot);

    /**
     * A new, empty slot as {@link #open}, for a worker without events: it holds what {@link
     * #decide} says. Stored and removed events of it are counted and ignored; clearing GPU memory,
     * or every tier, ends its decisions.
     *
     * @param domain the one that its events would have, so that content it shares with others is
     *     kept once
     * @throws IllegalStateException when all slots are taken
     * @throws IllegalArgumentException when there is no such domain
     */
    WorkerSlot openApproximate(int domain);

    /**
     * A request with this prompt went to an approximate slot, which from now on holds its complete
     * blocks in GPU memory, until the decision ends: as soon as a call names a time that is {@link
     * DecisionLimits#ttlMillis} later, when it is the oldest and more than {@link
     * DecisionLimits#capacity} is held, or when the slot is cleared or closed. A block is held
     * while one decision of its slot holds it; the same prompt again, or a longer one, takes the
     * place of the shorter. A prompt beyond the capacity is cut to it.
     *
     * <p>Any thread, serialised with {@link #apply}. O(blocks); few decisions that are due end on
     * the way.
     *
     * @param nowMillis a clock of the caller's that does not go back, as unsigned; an earlier time
     *     counts as the latest
     * @return blocks that the slot did not hold
     * @throws IllegalStateException when the slot is not open, or not approximate
     */
    long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis);

    /**
     * Ends every decision that is due at this time; to be called now and then. Any thread; {@link
     * #apply} and {@link #decide} come in between. Returns how many ended.
     */
    long expire(long nowMillis);

    /** Applies events in order; one bad event never stops the others. */
    ApplyResult apply(List<? extends PrefixEvent> events);

    /**
     * Depths per slot and tier. Exact for all events applied before the call began. Of a slot in
     * {@link #hybrids} what is usable, else what is held.
     */
    PrefixMatch match(PrefixQuery query);

    /**
     * {@link #match} for several prompts, one answer each in their order. An index may answer them
     * faster than one by one. Any thread, never blocks.
     */
    default List<PrefixMatch> matchAll(List<PrefixQuery> queries) {
        return queries.stream().map(this::match).toList();
    }

    /**
     * What the slots hold beside what is applied here, where a model has caches of several kinds.
     * Their full attention is applied as events, the other groups are told there.
     */
    HybridSlots hybrids();

    /**
     * How many blocks each open slot holds in each tier; those of an approximate slot are what its
     * decisions say. Any thread, never blocks. O(slots).
     */
    SlotBlocks slotBlocks();

    IndexStats stats();

    @Override
    void close();
}
