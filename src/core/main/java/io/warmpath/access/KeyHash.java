package io.warmpath.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * SHA-256 of a key. Keys are random and long, so that nothing slower is needed: there is nothing to
 * guess. Immutable; comparing takes as long for any two.
 */
public final class KeyHash {
    private static final int BYTES = 32;

    private static final ThreadLocal<MessageDigest> SHA =
            ThreadLocal.withInitial(
                    () -> {
                        try {
                            return MessageDigest.getInstance("SHA-256");
                        } catch (NoSuchAlgorithmException e) {
                            throw new IllegalStateException("every JDK has SHA-256", e);
                        }
                    });

    private final byte[] hash;

    private KeyHash(byte[] hash) {
        this.hash = hash;
    }

    /** Of a key as a client sends it. */
    public static KeyHash of(String key) {
        return new KeyHash(SHA.get().digest(key.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * @throws IllegalArgumentException when it is not 64 hexadecimal digits; does not repeat it
     */
    public static KeyHash ofHex(String hex) {
        try {
            byte[] hash = HexFormat.of().parseHex(hex);
            if (hash.length == BYTES) {
                return new KeyHash(hash);
            }
        } catch (IllegalArgumentException e) {
            // Said below, without the text: somebody may have put the key itself there.
        }
        throw new IllegalArgumentException(
                "it must be the 64 hexadecimal digits of a key's SHA-256; `warmpath key hash` makes"
                        + " them");
    }

    public String hex() {
        return HexFormat.of().formatHex(hash);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyHash o && MessageDigest.isEqual(hash, o.hash);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(hash);
    }
}
