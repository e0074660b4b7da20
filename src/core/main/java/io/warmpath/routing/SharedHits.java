package io.warmpath.routing;

import java.util.Arrays;
import java.util.List;

/**
 * Blocks of one prompt that lie in a pool which every worker can fetch from. Immutable. Look-ups
 * are O(ranges).
 */
public final class SharedHits {
    private final int blockSize;
    private final int[] bounds;

    /**
     * @param blockSize tokens per block that positions are counted in
     * @param bounds half-open ranges of block positions: first, one behind the last, first, ...;
     *     ascending, not touching
     */
    public SharedHits(int blockSize, int... bounds) {
        if (blockSize <= 0 || bounds.length % 2 != 0) {
            throw new IllegalArgumentException("block size " + blockSize + ", " + bounds.length);
        }
        for (int i = 0; i < bounds.length; i++) {
            if (bounds[i] < 0 || (i > 0 && bounds[i] <= bounds[i - 1])) {
                throw new IllegalArgumentException(
                        "ranges not ascending: " + Arrays.toString(bounds));
            }
        }
        this.blockSize = blockSize;
        this.bounds = bounds.clone();
    }

    public int blockSize() {
        return blockSize;
    }

    /** Blocks that a worker with these depths is credited for. */
    int credited(SharedRule rule, int device, int own) {
        return switch (rule) {
            case CONTIGUOUS -> runFrom(own);
            case BEYOND_DEVICE -> hitsBeyond(device);
        };
    }

    /** Blocks at position {@code from} and later, gaps stepped over. */
    public int hitsBeyond(int from) {
        int hits = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            hits += Math.max(0, bounds[i + 1] - Math.max(bounds[i], from));
        }
        return hits;
    }

    /** Blocks from position {@code from} to the first gap. */
    public int runFrom(int from) {
        for (int i = 0; i < bounds.length; i += 2) {
            if (bounds[i] <= from && from < bounds[i + 1]) {
                return bounds[i + 1] - from;
            }
        }
        return 0;
    }

    /** The ranges as they were given. */
    public List<Integer> bounds() {
        return Arrays.stream(bounds).boxed().toList();
    }
}
