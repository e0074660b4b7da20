package io.warmpath.load;

import java.time.Duration;

/**
 * What is booked of a request, and for how long.
 *
 * @param expiry a booking of which nothing was heard for this long is taken for forgotten
 * @param activeBlocks KV blocks are booked; off: {@link WorkerLoad#blocks} stays 0
 * @param outputBlocks blocks are added as the answer grows, and with a known expected length those
 *     that nobody else uses weigh less the nearer the end is
 * @param assumeReuse blocks of the same content are there once, however many requests use them
 */
public record LoadOptions(
        Duration expiry, boolean activeBlocks, boolean outputBlocks, boolean assumeReuse) {
    public static final LoadOptions DEFAULT =
            new LoadOptions(Duration.ofMinutes(5), true, false, true);

    public LoadOptions {
        if (expiry.isNegative() || expiry.isZero()) {
            throw new IllegalArgumentException("expiry " + expiry + " is not positive");
        }
        if (outputBlocks && !activeBlocks) {
            throw new IllegalArgumentException(
                    "output blocks are active blocks: tracking them needs activeBlocks");
        }
    }

    public LoadOptions withExpiry(Duration other) {
        return new LoadOptions(other, activeBlocks, outputBlocks, assumeReuse);
    }
}
