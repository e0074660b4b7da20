package io.warmpath.adapter.enginetokens;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ids by the hash of what was asked, bounded in bytes and in age: an engine that was started anew
 * may have another template. The least recently used go first. Any thread, one at a time.
 */
final class AnswerCache {
    /** Entry, key and array headers, map node and table slot. */
    private static final int ENTRY_BYTES = 176;

    /** SHA-256: questions come from clients, who must not be able to make two of one key. */
    record Key(long a, long b, long c, long d) {
        static Key of(String kind, String question) {
            MessageDigest digest;
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java has SHA-256", e);
            }
            digest.update(kind.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            ByteBuffer hash =
                    ByteBuffer.wrap(digest.digest(question.getBytes(StandardCharsets.UTF_8)));
            return new Key(hash.getLong(), hash.getLong(), hash.getLong(), hash.getLong());
        }
    }

    private record Entry(int[] ids, long sinceNanos) {
        long bytes() {
            return ENTRY_BYTES + 4L * ids.length;
        }
    }

    private final long maxBytes;
    private final long maxAgeNanos;
    private final LinkedHashMap<Key, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    AnswerCache(long maxBytes, long maxAgeNanos) {
        this.maxBytes = maxBytes;
        this.maxAgeNanos = maxAgeNanos;
    }

    synchronized int @Nullable [] get(Key key, long nowNanos) {
        Entry entry = entries.get(key);
        if (entry != null && nowNanos - entry.sinceNanos() > maxAgeNanos) {
            remove(key);
            return null;
        }
        return entry == null ? null : entry.ids();
    }

    synchronized void put(Key key, int[] ids, long nowNanos) {
        Entry entry = new Entry(ids, nowNanos);
        if (entry.bytes() > maxBytes) {
            return;
        }
        remove(key);
        entries.put(key, entry);
        bytes += entry.bytes();
        Iterator<Map.Entry<Key, Entry>> oldest = entries.entrySet().iterator();
        while (bytes > maxBytes) {
            bytes -= oldest.next().getValue().bytes();
            oldest.remove();
        }
    }

    private void remove(Key key) {
        Entry gone = entries.remove(key);
        bytes -= gone == null ? 0 : gone.bytes();
    }

    synchronized long bytes() {
        return bytes;
    }
}
