package io.warmpath.prefix;

/**
 * Which back end is taken to hold which blocks, from the prompts that were sent there. For one
 * model and one block size; no events needed.
 *
 * <p>The rules are those of the vLLM cache-aware policy ({@code
 * src/docs/explanation/block-tracker.md}). Any thread; calls wait for each other for microseconds
 * at most, {@link #join} and {@link #leave} until no other call is inside. A closed tracker refuses
 * every call with {@link IllegalStateException}.
 */
public interface BlockTracker extends AutoCloseable {
    /** How a block is told from others. */
    enum Hashing {
        /** By its tokens and its position: prompts that cross share blocks. */
        POSITION,
        /** By its tokens and everything before them. */
        CHAINED
    }

    /**
     * @param blockSize tokens per block, 1 to {@link PrefixIndex#MAX_BLOCK_SIZE}
     * @param maxBlocks of one back end after {@link #evict}, 1 to 2^30; between two evictions one
     *     never has more than twice as many
     */
    record Options(int blockSize, Hashing hashing, long maxBlocks) {
        public static final long DEFAULT_MAX_BLOCKS = 100_000;

        public Options {
            if (blockSize < 1 || blockSize > PrefixIndex.MAX_BLOCK_SIZE) {
                throw new IllegalArgumentException(
                        "block size %s is not from 1 to %s"
                                .formatted(blockSize, PrefixIndex.MAX_BLOCK_SIZE));
            }
            if (maxBlocks < 1 || maxBlocks > 1 << 30) {
                throw new IllegalArgumentException(
                        maxBlocks + " blocks a back end is not from 1 to " + (1 << 30));
            }
        }
    }

    /**
     * @param backends that are there
     * @param blocks (back end, block) pairs
     * @param bytes memory of the tables
     * @param evicted pairs, since the beginning
     */
    record Stats(long backends, long blocks, long bytes, long evicted) {
        public static final Stats NONE = new Stats(0, 0, 0, 0);

        public Stats plus(Stats o) {
            return new Stats(
                    backends + o.backends, blocks + o.blocks, bytes + o.bytes, evicted + o.evicted);
        }
    }

    /**
     * This back end is there, with no blocks; an earlier owner of its slot number is gone with
     * that. Joining again changes nothing.
     */
    void join(WorkerSlot backend);

    /** Forgets the back end and its blocks; false when it is not there. */
    boolean leave(WorkerSlot backend);

    /**
     * How far the blocks of each back end reach, the same in every tier. The longest one's blocks
     * then count as used.
     *
     * @throws IllegalArgumentException when the prompt is in blocks of another size
     */
    PrefixMatch find(PrefixQuery prompt);

    /**
     * The prompt goes to this back end.
     *
     * @return blocks that it did not hold; 0 when it is not there
     * @throws IllegalArgumentException when the prompt is in blocks of another size
     */
    long record(WorkerSlot backend, PrefixQuery prompt);

    /**
     * Drops the least recently used blocks of every back end that has more than {@link
     * Options#maxBlocks}; to be called now and then, other calls come in between. Returns how many.
     */
    long evict();

    Stats stats();

    @Override
    void close();
}
