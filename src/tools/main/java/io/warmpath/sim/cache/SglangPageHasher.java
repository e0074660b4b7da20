package io.warmpath.sim.cache;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's page hash: SHA-256 over the previous page's digest, if any, and the page's token ids as
 * u32 little-endian. A salted prompt starts from a seed digest instead of nothing. The event id is
 * the first 8 bytes.
 */
public final class SglangPageHasher implements BlockHasher {
    private static final byte[] SALT_TAG =
            "sglang-cache-salt-v1\0".getBytes(StandardCharsets.US_ASCII);

    @Override
    public byte[] digest(byte @Nullable [] parent, int[] tokens, CacheSpace space) {
        MessageDigest sha = Sha256.start();
        if (parent != null) {
            sha.update(parent);
        } else if (space.salt() != null) {
            sha.update(seed(space.salt()));
        }
        ByteBuffer ids =
                ByteBuffer.allocate(tokens.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ids.asIntBuffer().put(tokens);
        sha.update(ids);
        return sha.digest();
    }

    private static byte[] seed(String salt) {
        MessageDigest sha = Sha256.start();
        sha.update(SALT_TAG);
        sha.update(salt.getBytes(StandardCharsets.UTF_8));
        return sha.digest();
    }
}
