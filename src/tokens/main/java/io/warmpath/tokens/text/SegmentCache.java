package io.warmpath.tokens.text;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Token ids of pieces of text that were tokenised before, bounded by bytes. Any thread. {@link
 * #get} takes no lock. A key is the whole text, compared as a whole, so a hash collision costs time
 * and never a wrong answer. Eviction is second chance (clock): a piece that was read since it was
 * last looked at survives one round. The arrays given out are the cache's own: read only.
 */
public final class SegmentCache {
    /** Entry, String and array headers, map node and table slot, queue slot. */
    private static final int ENTRY_OVERHEAD_BYTES = 160;

    private static final class Entry {
        final String text;
        final int[] ids;

        /** Racy on purpose: a lost mark evicts a piece one round early. */
        boolean read;

        Entry(String text, int[] ids) {
            this.text = text;
            this.ids = ids;
        }

        long bytes() {
            return ENTRY_OVERHEAD_BYTES + 2L * text.length() + 4L * ids.length;
        }
    }

    private final ConcurrentHashMap<String, Entry> entries = new ConcurrentHashMap<>();
    private final long maxBytes;
    private final LongAdder evictions = new LongAdder();

    // Guarded by hand.
    private final Deque<Entry> hand = new ArrayDeque<>();
    private long bytes;

    public SegmentCache(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    int @Nullable [] get(String text) {
        Entry entry = entries.get(text);
        if (entry == null) {
            return null;
        }
        if (!entry.read) { // most reads find it set: no write, no cache line moved
            entry.read = true;
        }
        return entry.ids;
    }

    /**
     * Keeps the ids, which must not change any more. A piece that would fill an eighth is not kept.
     */
    void put(String text, int[] ids) {
        Entry entry = new Entry(text, ids);
        if (entry.bytes() > maxBytes / 8) {
            return;
        }
        synchronized (hand) {
            if (entries.putIfAbsent(text, entry) != null) {
                return;
            }
            hand.addLast(entry);
            bytes += entry.bytes();
            evict();
        }
    }

    private void evict() {
        int spared = 0;
        while (bytes > maxBytes) {
            Entry oldest = hand.removeFirst();
            // Readers may set marks faster than one round clears them; after a round nobody is
            // spared.
            if (oldest.read && spared < hand.size()) {
                oldest.read = false;
                hand.addLast(oldest);
                spared++;
                continue;
            }
            entries.remove(oldest.text);
            bytes -= oldest.bytes();
            evictions.increment();
        }
    }

    public long bytes() {
        synchronized (hand) {
            return bytes;
        }
    }

    public int size() {
        return entries.size();
    }

    public long evictions() {
        return evictions.sum();
    }
}
