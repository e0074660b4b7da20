package io.warmpath.capture;

import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * When which block content came and went, rank by rank: what the causes of a difference are looked
 * up in. Knows nothing of parents, tiers or the index. One thread.
 */
final class BlockTrace {
    /**
     * @param came true for a store, false for a removal
     * @param all everything of the rank went
     */
    record Change(double time, int rank, boolean came, boolean all, Set<IntBuffer> blocks) {}

    private final int blockSize;
    private final List<Change> changes = new ArrayList<>();
    private final Map<Integer, Map<Long, IntBuffer>> contents = new HashMap<>();

    BlockTrace(int blockSize) {
        this.blockSize = blockSize;
    }

    List<Change> changes() {
        return changes;
    }

    /** Block {@code i} of a prompt, comparable by content. */
    IntBuffer block(int[] prompt, int i) {
        return IntBuffer.wrap(prompt, i * blockSize, blockSize).slice();
    }

    void add(double time, int source, KvBatch batch) {
        int rank = batch.rank() == KvBatch.NO_RANK ? source : batch.rank();
        Map<Long, IntBuffer> known = contents.computeIfAbsent(rank, r -> new HashMap<>());
        for (KvEvent event : batch.events()) {
            switch (event) {
                case KvEvent.Stored s -> {
                    Set<IntBuffer> blocks = new HashSet<>();
                    // A window's event may leave blocks out and have the tokens of all.
                    int n =
                            s.hashes().length * blockSize == s.tokens().length
                                    ? s.hashes().length
                                    : 0;
                    for (int i = 0; i < n; i++) {
                        IntBuffer block = block(s.tokens(), i);
                        known.put(s.hashes()[i], block);
                        blocks.add(block);
                    }
                    changes.add(new Change(time, rank, true, false, blocks));
                }
                case KvEvent.Removed r -> {
                    Set<IntBuffer> blocks = new HashSet<>();
                    for (long hash : r.hashes()) {
                        IntBuffer block = known.get(hash);
                        if (block != null) {
                            blocks.add(block);
                        }
                    }
                    changes.add(new Change(time, rank, false, false, blocks));
                }
                case KvEvent.Cleared c ->
                        changes.add(new Change(time, rank, false, true, Set.of()));
                case KvEvent.Unknown u -> {}
            }
        }
    }
}
