package io.warmpath.journal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The last entries, as many as fit into a number and into a number of bytes: the oldest go first.
 * Any thread. Adding takes a lock for the time of a few writes; reading takes it to copy
 * references.
 */
public final class Journal<T> {
    private final @Nullable Object[] entries;
    private final int[] sizes;
    private final long mostBytes;
    private int oldest;
    private int count;
    private long bytes;

    /**
     * @param kept entries
     * @param bytes that they say they take
     * @param oldest null: nothing is kept
     */
    public record Held<T>(int kept, long bytes, @Nullable T oldest) {}

    /** {@code mostEntries}: 0 or more; 0 keeps nothing. {@code mostBytes}: 0 or more. */
    public Journal(int mostEntries, long mostBytes) {
        if (mostEntries < 0 || mostBytes < 0) {
            throw new IllegalArgumentException(mostEntries + " entries, " + mostBytes + " bytes");
        }
        this.entries = new Object[mostEntries];
        this.sizes = new int[mostEntries];
        this.mostBytes = mostBytes;
    }

    /** Entries that are kept at most. */
    public int mostEntries() {
        return entries.length;
    }

    /** Bytes that are kept at most. */
    public long mostBytes() {
        return mostBytes;
    }

    /**
     * @param size bytes that it takes, 0 or more
     * @return false: it alone takes more than may be kept, or nothing is kept
     */
    public synchronized boolean add(T entry, int size) {
        if (entries.length == 0 || size > mostBytes) {
            return false;
        }
        while (count == entries.length || bytes + size > mostBytes) {
            dropOldest();
        }
        int at = (oldest + count) % entries.length;
        entries[at] = entry;
        sizes[at] = size;
        count++;
        bytes += size;
        return true;
    }

    private void dropOldest() {
        entries[oldest] = null;
        bytes -= sizes[oldest];
        oldest = (oldest + 1) % entries.length;
        count--;
    }

    /** The last ones, newest first. O(limit). */
    @SuppressWarnings("unchecked")
    public synchronized List<T> latest(int limit) {
        int size = Math.min(limit, count);
        List<T> out = new ArrayList<>(size);
        for (int i = 1; i <= size; i++) {
            T entry = (T) entries[(oldest + count - i) % entries.length];
            if (entry != null) {
                out.add(entry);
            }
        }
        return out;
    }

    @SuppressWarnings("unchecked")
    public synchronized Held<T> held() {
        return new Held<>(count, bytes, count == 0 ? null : (T) entries[oldest]);
    }
}
