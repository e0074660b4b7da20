package io.warmpath.events;

import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * How far one source has been applied, and what must be remembered to go on from there. Immutable.
 *
 * @param dpRank of the source
 * @param slot of that rank, as the index gave it out: it names the source in a file
 * @param next number of the batch that comes next
 * @param fingerprint of the batch before it
 * @param complete everything since the engine's start or last clear has been applied
 * @param memories of the source's slots
 */
public record SourceMark(
        int dpRank,
        WorkerSlot slot,
        long next,
        long fingerprint,
        boolean complete,
        List<SlotMemory> memories) {
    public SourceMark {
        memories = List.copyOf(memories);
    }

    /**
     * Tells a batch from another one with the same number; never 0. Payloads carry a timestamp, so
     * two different batches with equal bytes do not occur.
     */
    public static long fingerprint(byte[] payload) {
        CRC32C crc = new CRC32C();
        crc.update(payload, 0, payload.length);
        // An empty payload is no batch.
        return ((long) Math.max(1, payload.length) << 32) | crc.getValue();
    }

    /**
     * What later events of a slot are understood by.
     *
     * @param sides layer groups of a hybrid model, and what lies in them
     * @param blocks that lie in a space of their own
     */
    public record SlotMemory(WorkerSlot slot, SideBlocks.Memory sides, List<Spaced> blocks) {
        public SlotMemory {
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * A block in a space of its own.
     *
     * @param tiers bit set of tier numbers
     */
    public record Spaced(long hash, int tiers, String lora, String salt) {}
}
