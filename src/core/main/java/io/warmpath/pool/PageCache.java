package io.warmpath.pool;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * What the pool said about pages a moment ago, held or not. A fixed array of buckets: the oldest of
 * a bucket gives way, so its size never changes. Any thread; one lock, held for O(1). A page is
 * known by the first eight bytes of its digest: two pages that share them are taken for one, once
 * in 2^64.
 */
final class PageCache {
    private static final int WAYS = 4;
    private static final int BYTES_EACH = 2 * Long.BYTES;

    /** What is known of a page. */
    enum Known {
        NOTHING,
        HELD,
        MISSING
    }

    private final LongSupplier nanoTime;
    private final long origin;
    private final long heldNanos;
    private final long missingNanos;
    private final int mask;
    private final long[] keys; // guarded by this, with the rest
    private final long[] values; // end of validity in ns since origin, shifted left; bit 0: held
    private int generation;

    /**
     * @param bytes at most, of both arrays
     * @param held how long a page that was there counts as there
     * @param missing how long one that was not
     */
    PageCache(long bytes, Duration held, Duration missing, LongSupplier nanoTime) {
        long buckets = Long.highestOneBit(Math.max(1, bytes / BYTES_EACH / WAYS));
        int entries = Math.toIntExact(Math.min(buckets, 1 << 24) * WAYS);
        this.mask = entries - 1 & ~(WAYS - 1);
        this.keys = new long[entries];
        this.values = new long[entries];
        this.heldNanos = held.toNanos();
        this.missingNanos = missing.toNanos();
        this.nanoTime = nanoTime;
        this.origin = nanoTime.getAsLong();
    }

    /** Changes with {@link #clear}: an answer of an older one must not be put. */
    synchronized int generation() {
        return generation;
    }

    synchronized Known get(long page) {
        long now = nanoTime.getAsLong() - origin;
        int bucket = bucket(page);
        for (int i = bucket; i < bucket + WAYS; i++) {
            if (keys[i] == page && values[i] >> 1 > now) {
                return (values[i] & 1) == 0 ? Known.MISSING : Known.HELD;
            }
        }
        return Known.NOTHING;
    }

    synchronized void put(long page, boolean held, int asOf) {
        long ttl = held ? heldNanos : missingNanos;
        if (asOf != generation || ttl == 0) {
            return;
        }
        long end = nanoTime.getAsLong() - origin + ttl;
        int bucket = bucket(page);
        int into = bucket;
        for (int i = bucket; i < bucket + WAYS; i++) {
            if (keys[i] == page) {
                into = i;
                break;
            }
            if (values[i] < values[into]) {
                into = i;
            }
        }
        keys[into] = page;
        values[into] = end << 1 | (held ? 1 : 0);
    }

    /** Forgets all; answers that are still on the way are not taken any more. */
    synchronized void clear() {
        generation++;
        Arrays.fill(values, 0);
    }

    /** Bytes of the arrays. */
    long bytes() {
        return (long) keys.length * BYTES_EACH;
    }

    private int bucket(long page) {
        return (int) (page ^ page >>> 32) << 2 & mask; // digests are even in every bit
    }
}
