package io.warmpath.session.pin;

import io.warmpath.fleet.PinSupport;
import io.warmpath.session.SessionKey;

/**
 * One prefix that a rank is to keep. Immutable.
 *
 * @param number names it here, and over a restart
 * @param worker id of the worker
 * @param model as that worker calls it
 * @param name of the prompt's last complete block together with all before it; keyed, so that it
 *     tells nothing of the prompt
 * @param blocks complete ones, of {@code blockSize} tokens
 * @param tokens of the whole prompt
 * @param how it is kept
 * @param ttlSeconds from its last use
 * @param madeMillis since 1970
 * @param expiresMillis since 1970
 * @param hits requests that were served by it
 * @param nodes pinned, as the worker said; 0 where it says nothing
 * @param said the worker's words when it granted it, may be empty
 * @param held false: it has been asked for, and not been granted yet
 */
public record Pin(
        long number,
        long worker,
        int dpRank,
        SessionKey.Scope scope,
        String model,
        long name,
        int blockSize,
        int blocks,
        int tokens,
        PinSupport how,
        int ttlSeconds,
        long madeMillis,
        long expiresMillis,
        long hits,
        int nodes,
        String said,
        boolean held) {
    /** The same, granted. */
    Pin heldUntil(long expires, long hitsNow, int nodesNow, String saidNow) {
        return new Pin(
                number,
                worker,
                dpRank,
                scope,
                model,
                name,
                blockSize,
                blocks,
                tokens,
                how,
                ttlSeconds,
                madeMillis,
                expires,
                hitsNow,
                nodesNow,
                saidNow,
                true);
    }
}
