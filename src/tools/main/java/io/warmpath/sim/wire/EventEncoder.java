package io.warmpath.sim.wire;

import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CacheEvent.Cleared;
import io.warmpath.sim.cache.CacheEvent.Removed;
import io.warmpath.sim.cache.CacheEvent.Stored;
import io.warmpath.sim.cache.Medium;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Cache events to one msgpack batch, byte for byte as the imitated engine's msgspec structs. Any
 * thread; keeps nothing.
 */
public final class EventEncoder {
    private final WireFormat format;
    private final boolean rawHashes;

    /** {@code rawHashes}: vLLM only: whole digests as binary instead of their low 64 bits. */
    public EventEncoder(WireFormat format, boolean rawHashes) {
        this.format = format;
        this.rawHashes = rawHashes && !format.sglang();
    }

    /** {@code [timestamp, [events], rank]}. */
    public byte[] encode(double unixSeconds, List<CacheEvent> events, int rank) {
        try (MessageBufferPacker pack = MessagePack.newDefaultBufferPacker()) {
            pack.packArrayHeader(3).packDouble(unixSeconds).packArrayHeader(events.size());
            for (CacheEvent event : events) {
                pack(pack, event);
            }
            pack.packInt(rank);
            return pack.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException("packing into memory cannot fail", e);
        }
    }

    private void pack(MessageBufferPacker pack, CacheEvent event) throws IOException {
        switch (event) {
            case Stored stored -> {
                if (format.map()) {
                    packStoredMap(pack, stored);
                } else {
                    packStoredArray(pack, stored);
                }
            }
            case Removed removed -> packRemoved(pack, removed);
            case Cleared cleared -> open(pack, "AllBlocksCleared", 0);
        }
    }

    /** Header and tag of an event with {@code fields} fields beside the tag. */
    private void open(MessageBufferPacker pack, String tag, int fields) throws IOException {
        if (format.map()) {
            pack.packMapHeader(fields + 1).packString("type");
        } else {
            pack.packArrayHeader(fields + 1);
        }
        pack.packString(tag);
    }

    private void packStoredArray(MessageBufferPacker pack, Stored s) throws IOException {
        boolean metadata = format.sglang() && (s.space().salt() != null || s.sessionId() != null);
        open(pack, "BlockStored", format.sglang() ? metadata ? 7 : 6 : 8);
        packHashes(pack, s.digests());
        packParent(pack, s.parent());
        packTokens(pack, s.tokens());
        pack.packInt(s.blockSize()).packNil().packString(name(s.medium()));
        if (!format.sglang()) {
            pack.packNil();
            packExtraKeys(pack, s);
        } else if (metadata) {
            packSglangMetadata(pack, s, true);
        }
    }

    private void packStoredMap(MessageBufferPacker pack, Stored s) throws IOException {
        int optional = (s.space().salt() == null ? 0 : 1) + (s.sessionId() == null ? 0 : 1);
        open(pack, "BlockStored", format.sglang() ? 6 + optional : 10);
        pack.packString("block_hashes");
        packHashes(pack, s.digests());
        pack.packString("parent_block_hash");
        packParent(pack, s.parent());
        pack.packString("token_ids");
        packTokens(pack, s.tokens());
        pack.packString("block_size").packInt(s.blockSize());
        pack.packString("lora_id").packNil();
        pack.packString("medium").packString(name(s.medium()));
        if (format.sglang()) {
            packSglangMetadata(pack, s, false);
            return;
        }
        pack.packString("lora_name").packNil();
        pack.packString("extra_keys");
        packExtraKeys(pack, s);
        pack.packString("group_idx").packInt(0);
        pack.packString("kv_cache_spec_kind").packString("full_attention");
    }

    private static void packSglangMetadata(MessageBufferPacker pack, Stored s, boolean header)
            throws IOException {
        String salt = s.space().salt();
        if (header) {
            pack.packMapHeader((salt == null ? 0 : 1) + (s.sessionId() == null ? 0 : 1));
        }
        if (salt != null) {
            pack.packString("cache_salt").packString(salt);
        }
        if (s.sessionId() != null) {
            pack.packString("session_id").packString(s.sessionId());
        }
    }

    /** One entry per block: the salt stands beside the prompt's first block only. */
    private static void packExtraKeys(MessageBufferPacker pack, Stored s) throws IOException {
        pack.packArrayHeader(s.digests().size());
        for (int i = 0; i < s.digests().size(); i++) {
            String salt = s.space().salt();
            if (i == 0 && s.parent() == null && salt != null) {
                pack.packArrayHeader(1).packString(salt);
            } else {
                pack.packNil();
            }
        }
    }

    private void packRemoved(MessageBufferPacker pack, Removed r) throws IOException {
        boolean group = format == WireFormat.VLLM_MAP;
        open(pack, "BlockRemoved", group ? 3 : 2);
        if (format.map()) {
            pack.packString("block_hashes");
        }
        packHashes(pack, r.digests());
        if (format.map()) {
            pack.packString("medium");
        }
        pack.packString(name(r.medium()));
        if (group) {
            pack.packString("group_idx").packInt(0);
        }
    }

    private void packHashes(MessageBufferPacker pack, List<byte[]> digests) throws IOException {
        pack.packArrayHeader(digests.size());
        for (byte[] digest : digests) {
            packHash(pack, digest);
        }
    }

    private void packParent(MessageBufferPacker pack, byte @Nullable [] parent) throws IOException {
        if (parent == null) {
            pack.packNil();
        } else {
            packHash(pack, parent);
        }
    }

    private void packHash(MessageBufferPacker pack, byte[] digest) throws IOException {
        if (rawHashes) {
            pack.packBinaryHeader(digest.length).writePayload(digest);
        } else if (format.sglang()) {
            pack.packLong(ByteBuffer.wrap(digest).getLong());
        } else {
            long low = ByteBuffer.wrap(digest).getLong(digest.length - Long.BYTES);
            pack.packBigInteger(new BigInteger(Long.toUnsignedString(low)));
        }
    }

    private static void packTokens(MessageBufferPacker pack, int[] tokens) throws IOException {
        pack.packArrayHeader(tokens.length);
        for (int token : tokens) {
            pack.packLong(Integer.toUnsignedLong(token));
        }
    }

    private String name(Medium medium) {
        return switch (medium) {
            case GPU -> "GPU";
            case HOST -> format.sglang() ? "CPU_PINNED" : "CPU";
        };
    }
}
