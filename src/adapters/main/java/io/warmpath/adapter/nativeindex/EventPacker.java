package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixSpace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.function.ToLongFunction;

/** Writes events as the packed records of {@code kvi_apply}. One thread at a time. */
final class EventPacker {
    /** Larger records are refused: no engine sends them, and the size field has 32 bits. */
    static final long MAX_RECORD_BYTES = 256L << 20;

    private final OffHeap buffer;
    private final ToLongFunction<PrefixSpace> seeds;
    private long used;

    EventPacker(OffHeap buffer, ToLongFunction<PrefixSpace> seeds) {
        this.buffer = buffer;
        this.seeds = seeds;
    }

    /** Bytes packed so far. */
    long used() {
        return used;
    }

    void reset() {
        used = 0;
    }

    /** Bytes of this event's record, or -1 when it is beyond what the index takes. */
    static long sizeOf(PrefixEvent event) {
        return switch (event) {
            case PrefixEvent.Stored s ->
                    s.blockSize() > PrefixIndex.MAX_BLOCK_SIZE
                            ? -1
                            : limited(s.hashes().length, 4L * s.tokens().length);
            case PrefixEvent.Removed r -> limited(r.hashes().length, 0);
            case PrefixEvent.Cleared c -> KvLayout.EVENT_SIZE;
        };
    }

    private static long limited(int blocks, long tokenBytes) {
        long size = KvLayout.EVENT_SIZE + 8L * blocks + ((tokenBytes + 7) & ~7L);
        return blocks > KvLayout.MAX_BLOCKS || size > MAX_RECORD_BYTES ? -1 : size;
    }

    void pack(PrefixEvent event, long size) {
        buffer.ensure(used + size, used);
        switch (event) {
            case PrefixEvent.Stored s -> {
                head(size, KvLayout.STORED_TOKENS, s.tier().number(), s.slot().value());
                ByteBuffer to = buffer.values();
                int at = (int) used;
                to.putShort(at + KvLayout.EVENT_FLAGS_AT, s.hasParent() ? KvLayout.HAS_PARENT : 0);
                to.putInt(at + KvLayout.EVENT_N_AT, s.hashes().length);
                to.putInt(at + KvLayout.EVENT_BLOCK_SIZE_AT, s.blockSize());
                to.putLong(at + KvLayout.EVENT_PARENT_AT, s.hasParent() ? s.parent() : 0);
                to.putLong(at + KvLayout.EVENT_SEED_AT, seeds.applyAsLong(s.space()));
                long tokensAt = hashes(s.hashes());
                MemorySegment.copy(
                        s.tokens(),
                        0,
                        buffer.segment(),
                        ValueLayout.JAVA_INT,
                        tokensAt,
                        s.tokens().length);
                if (s.tokens().length % 2 != 0) { // the padding is never left to chance
                    to.putInt((int) tokensAt + 4 * s.tokens().length, 0);
                }
            }
            case PrefixEvent.Removed r -> {
                head(size, KvLayout.REMOVED, r.tier().number(), r.slot().value());
                buffer.values().putInt((int) used + KvLayout.EVENT_N_AT, r.hashes().length);
                hashes(r.hashes());
            }
            case PrefixEvent.Cleared c -> {
                int tier = c.tier() == null ? KvLayout.ALL_TIERS : c.tier().number();
                head(size, KvLayout.CLEARED, tier, c.slot().value());
            }
        }
        used += size;
    }

    /** Writes the common fields and zeroes the rest of the head. */
    private void head(long size, byte kind, int tier, int slot) {
        buffer.segment().asSlice(used, KvLayout.EVENT_SIZE).fill((byte) 0);
        ByteBuffer to = buffer.values();
        int at = (int) used;
        to.putInt(at + KvLayout.EVENT_SIZE_AT, (int) size);
        to.put(at + KvLayout.EVENT_KIND_AT, kind);
        to.put(at + KvLayout.EVENT_TIER_AT, (byte) tier);
        to.putInt(at + KvLayout.EVENT_SLOT_AT, slot);
    }

    /** Writes the hashes behind the head; returns where the next field starts. */
    private long hashes(long[] hashes) {
        long at = used + KvLayout.EVENT_SIZE;
        MemorySegment.copy(hashes, 0, buffer.segment(), ValueLayout.JAVA_LONG, at, hashes.length);
        return at + 8L * hashes.length;
    }
}
