package io.warmpath.prefix;

/**
 * How many blocks each slot holds in each tier. A block that lies in two tiers counts in both.
 * Immutable, safe to share. Each number was right at some instant while this was made; beside
 * events, two of them may be of two instants. Answers by slot number: a slot that was closed since
 * shows what its number's present owner holds, or 0.
 */
public final class SlotBlocks {
    /** Nobody holds anything. */
    public static final SlotBlocks NONE = new SlotBlocks(new long[0]);

    private final long[] blocks;

    /** {@code blocks}: {@link Tier#COUNT} numbers per slot number from 0 on; not copied. */
    public SlotBlocks(long[] blocks) {
        if (blocks.length % Tier.COUNT != 0) {
            throw new IllegalArgumentException(
                    blocks.length + " numbers are not " + Tier.COUNT + " per slot");
        }
        this.blocks = blocks;
    }

    /** Blocks of the slot in this tier, 0 or more. */
    public long in(WorkerSlot slot, Tier tier) {
        int at = slot.index() * Tier.COUNT + tier.number();
        return at < blocks.length ? blocks[at] : 0;
    }
}
