package io.warmpath.sim.cache;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The pinned blocks of one cache, and until when. Nobody watches the clock: that a pin is over
 * shows when somebody asks. The cache's thread only.
 */
final class PinnedBlocks {
    private final int most;
    private final LongSupplier nanoTime;
    private final Set<Block> pinned = new LinkedHashSet<>();

    PinnedBlocks(int most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    int size() {
        return pinned.size();
    }

    int most() {
        return most;
    }

    boolean full() {
        return pinned.size() >= most;
    }

    boolean has(Block b) {
        return pinned.contains(b);
    }

    /** Pins it, or for longer than before. */
    void add(Block b, long ttlNanos) {
        boolean first = pinned.add(b);
        long until = nanoTime.getAsLong() + ttlNanos;
        b.pinnedUntil = first ? until : Math.max(b.pinnedUntil, until);
        b.pinNanos = first ? ttlNanos : Math.max(b.pinNanos, ttlNanos);
    }

    /** A request has found it: the pin's time begins anew, unless it is over. */
    void hit(Block b) {
        long now = nanoTime.getAsLong();
        if (pinned.contains(b) && now <= b.pinnedUntil) {
            b.pinnedUntil = Math.max(b.pinnedUntil, now + b.pinNanos);
        }
    }

    /** Takes out those whose time is over. */
    List<Block> takeExpired() {
        List<Block> over = new ArrayList<>();
        if (pinned.isEmpty()) {
            return over;
        }
        long now = nanoTime.getAsLong();
        for (Block b : pinned) {
            if (now > b.pinnedUntil) {
                over.add(b);
            }
        }
        over.forEach(pinned::remove);
        return over;
    }

    void clear() {
        pinned.clear();
    }
}
