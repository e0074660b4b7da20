package io.warmpath.sim.cache;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's block hash {@code sha256_cbor}: SHA-256 of the canonical CBOR array {@code [parent or
 * NONE_HASH, [token ids], extra keys or null]}. NONE_HASH is the same function over the seed string
 * (PYTHONHASHSEED, or {@code vllm-none-hash}). The salt enters the first block only, as the extra
 * key {@code ("cache_salt", salt)}: so does a running vLLM 0.32.0.
 */
public final class VllmBlockHasher implements BlockHasher {
    /** The seed of vLLM 0.29 and later when PYTHONHASHSEED is unset. */
    public static final String DEFAULT_SEED = "vllm-none-hash";

    private static final int BYTES = 2;
    private static final int TEXT = 3;
    private static final int ARRAY = 4;
    private static final int NULL = 0xf6;

    private final byte[] noneHash;

    public VllmBlockHasher(String seed) {
        ByteArrayOutputStream cbor = new ByteArrayOutputStream();
        text(cbor, seed);
        noneHash = Sha256.start().digest(cbor.toByteArray());
    }

    @Override
    public byte[] digest(byte @Nullable [] parent, int[] tokens, CacheSpace space) {
        ByteArrayOutputStream cbor = new ByteArrayOutputStream(tokens.length * 5 + 48);
        head(cbor, ARRAY, 3);
        byte[] before = parent == null ? noneHash : parent;
        head(cbor, BYTES, before.length);
        cbor.writeBytes(before);
        head(cbor, ARRAY, tokens.length);
        for (int token : tokens) {
            head(cbor, 0, Integer.toUnsignedLong(token));
        }
        if (parent == null && space.salt() != null) {
            head(cbor, ARRAY, 1);
            head(cbor, ARRAY, 2);
            text(cbor, "cache_salt");
            text(cbor, space.salt());
        } else {
            cbor.write(NULL);
        }
        return Sha256.start().digest(cbor.toByteArray());
    }

    /** NONE_HASH of this seed. */
    public byte[] noneHash() {
        return noneHash.clone();
    }

    private static void text(ByteArrayOutputStream out, String s) {
        byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
        head(out, TEXT, utf8.length);
        out.writeBytes(utf8);
    }

    /** Major type and argument in the shortest form, as canonical CBOR wants. */
    private static void head(ByteArrayOutputStream out, int major, long value) {
        int type = major << 5;
        if (value < 24) {
            out.write(type | (int) value);
            return;
        }
        int bytes = value < 1L << 8 ? 1 : value < 1L << 16 ? 2 : value < 1L << 32 ? 4 : 8;
        out.write(type | 24 + Integer.numberOfTrailingZeros(bytes));
        for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
            out.write((int) (value >>> shift));
        }
    }
}
