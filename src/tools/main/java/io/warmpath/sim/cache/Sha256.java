package io.warmpath.sim.cache;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 that cannot be missing. */
final class Sha256 {
    private Sha256() {}

    static MessageDigest start() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
