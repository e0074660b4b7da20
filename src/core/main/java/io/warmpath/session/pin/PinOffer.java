package io.warmpath.session.pin;

import io.warmpath.fleet.PinSupport;
import io.warmpath.session.SessionKey;

/**
 * What a client wants to have kept, and where.
 *
 * @param worker id of the worker that has served the prompt
 * @param model as that worker calls it
 * @param chain names of the prompt's complete blocks, of {@link PinLedger#seed}; not empty
 * @param tokens of the whole prompt
 */
public record PinOffer(
        long worker,
        int dpRank,
        SessionKey.Scope scope,
        String model,
        long[] chain,
        int blockSize,
        int tokens,
        PinSupport how,
        int ttlSeconds) {
    public PinOffer {
        if (chain.length == 0
                || blockSize < 1
                || tokens < (long) chain.length * blockSize
                || ttlSeconds < 1) {
            throw new IllegalArgumentException(
                    chain.length + " blocks of " + blockSize + ", " + tokens + ", " + ttlSeconds);
        }
    }

    /** What became of it. */
    public sealed interface Taken {
        /** Room was kept for it; to be {@link PinLedger#confirm confirmed} or dropped. */
        record Open(long number) implements Taken {}

        /** The rank keeps this very prefix already, for as long, or has been asked to. */
        record Covered(long number) implements Taken {}

        /** There is no room. {@code why}: a phrase that names the limit. */
        record Refused(String why) implements Taken {}
    }
}
