package io.warmpath.pool;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * LMCache's chunks in vLLM, by the 64 bits that it tells its controller of each: the hash of (hash
 * before, ids, nothing). Neither salt nor adapter enters it.
 *
 * @param instance {@code lmcache_instance_id}: one engine's LMCache, which no other can read
 * @param pageSize {@code chunk_size}
 * @param blockSize tokens of vLLM's blocks
 * @param hashSeed the engines' PYTHONHASHSEED; empty: unset
 */
public record LmcacheChunks(
        String instance, int pageSize, int blockSize, Hashing hashing, String hashSeed)
        implements PageRecipe {
    private static final int MOST_TOKENS = 1 << 16;

    /** Of what {@link PoolLayout} names an instance by. */
    public static final String SCHEME = "lmcache";

    private static final int HASH_BYTES = Long.BYTES;

    /** {@code pre_caching_hash_algorithm}. */
    public enum Hashing {
        /** LMCache's default: Python's own, which starts from chance without PYTHONHASHSEED. */
        BUILTIN,
        /** First eight bytes of SHA-256 over canonical CBOR. */
        SHA256_CBOR;

        /**
         * @throws IllegalArgumentException when chunks cannot be named from outside
         */
        public static Hashing parse(String word) {
            for (Hashing h : values()) {
                if (h.word().equals(word)) {
                    return h;
                }
            }
            throw new IllegalArgumentException(
                    "its chunks cannot be named from outside with the hash "
                            + word
                            + "; start it with LMCACHE_PRE_CACHING_HASH_ALGORITHM=sha256_cbor");
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public LmcacheChunks {
        if (blockSize < 1
                || pageSize < blockSize
                || pageSize > MOST_TOKENS
                || pageSize % blockSize != 0) {
            throw new IllegalArgumentException(
                    "a chunk of "
                            + pageSize
                            + " tokens is not a whole number of blocks of "
                            + blockSize
                            + ", up to "
                            + MOST_TOKENS);
        }
        if (hashing == Hashing.BUILTIN && builtinStart(hashSeed) == null) {
            throw new IllegalArgumentException(
                    "Python's own hash starts from chance in each process: set PYTHONHASHSEED to a"
                            + " number for the engine, and hash_seed to the same here");
        }
    }

    private static @Nullable Long builtinStart(String hashSeed) {
        return PythonHash.text(hashSeed, hashSeed);
    }

    @Override
    public int keysPerPage() {
        return 1;
    }

    @Override
    public byte[] digests(PoolQuestion question, PageDigests sha) {
        int pages = question.length() / pageSize;
        ByteBuffer digests = ByteBuffer.allocate(pages * DIGEST_BYTES);
        MessageDigest digest = JdkPageDigests.sha256();
        ByteArrayOutputStream cbor = new ByteArrayOutputStream(pageSize * 5 + 16);
        Long builtin = hashing == Hashing.BUILTIN ? builtinStart(hashSeed) : null;
        long hash =
                builtin != null
                        ? builtin
                        : ByteBuffer.wrap(VllmPages.start(hashSeed, digest)).getLong();
        for (int page = 0; page < pages; page++) {
            int from = page * pageSize;
            if (hashing == Hashing.BUILTIN) {
                hash =
                        PythonHash.tuple(
                                PythonHash.number(hash),
                                PythonHash.tuple(question.tokens(), from, pageSize),
                                PythonHash.tuple());
            } else {
                cbor.reset();
                Cbor.head(cbor, Cbor.ARRAY, 3);
                Cbor.head(cbor, Cbor.NUMBER, hash);
                Cbor.ids(cbor, question.tokens(), from, pageSize);
                Cbor.head(cbor, Cbor.ARRAY, 0);
                hash = ByteBuffer.wrap(digest.digest(cbor.toByteArray())).getLong();
            }
            digests.putLong(page * DIGEST_BYTES, hash);
        }
        return digests.array();
    }

    @Override
    public void keys(byte[] digests, int page, List<String> into) {
        into.add(key(ByteBuffer.wrap(digests, page * DIGEST_BYTES, HASH_BYTES).getLong()));
    }

    static String key(long hash) {
        return Long.toUnsignedString(hash);
    }

    @Override
    public String description() {
        return "LMCache "
                + hashing.word()
                + " seed "
                + (hashSeed.isEmpty() ? "unset" : hashSeed)
                + ", chunk "
                + pageSize
                + ", instance "
                + instance;
    }
}
