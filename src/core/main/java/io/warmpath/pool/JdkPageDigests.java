package io.warmpath.pool;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The chain by the JDK's SHA-256: the reference, and what runs without the native library. */
public final class JdkPageDigests implements PageDigests {
    @Override
    public byte[] chain(int[] tokens, int length, int pageSize, boolean bigram, byte[] seed) {
        if (pageSize <= 0 || (seed.length != 0 && seed.length != PageRecipe.DIGEST_BYTES)) {
            throw new IllegalArgumentException(
                    "page size " + pageSize + ", seed of " + seed.length + " bytes");
        }
        int pages = PageDigests.pages(length, pageSize, bigram);
        byte[] digests = new byte[pages * PageRecipe.DIGEST_BYTES];
        MessageDigest sha = sha256();
        ByteBuffer page =
                ByteBuffer.allocate(pageSize * (bigram ? 2 : 1) * Integer.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < pages; i++) {
            page.clear();
            for (int at = i * pageSize; at < (i + 1) * pageSize; at++) {
                page.putInt(tokens[at]);
                if (bigram) {
                    page.putInt(tokens[at + 1]);
                }
            }
            if (i == 0) {
                sha.update(seed);
            } else {
                sha.update(digests, (i - 1) * PageRecipe.DIGEST_BYTES, PageRecipe.DIGEST_BYTES);
            }
            sha.update(page.array());
            digestInto(sha, digests, i);
        }
        return digests;
    }

    static void digestInto(MessageDigest sha, byte[] digests, int page) {
        try {
            sha.digest(digests, page * PageRecipe.DIGEST_BYTES, PageRecipe.DIGEST_BYTES);
        } catch (DigestException e) {
            throw new IllegalStateException("no room for 32 bytes", e);
        }
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
