package io.warmpath.adapter.nats;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The newest batches of one engine, in their order: those that wait to be sent, and before them
 * those that may be asked for again. Any thread. Holds at most a number of bytes. When more comes,
 * the oldest goes, sent or not: an engine never waits for NATS. One that was not sent leaves a hole
 * in the numbers, which who reads the stream sees.
 */
final class RelayRing {
    /** What lies between two batches besides their bytes, roughly, in bytes. */
    private static final int OVERHEAD = 64;

    private record Entry(long process, long sequence, long before, long millis, byte[] batch) {
        int size() {
            return batch.length + OVERHEAD;
        }
    }

    private final long maxBytes;
    private final ArrayDeque<Entry> sent = new ArrayDeque<>();
    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();
    private long bytes;
    private long overflowed;

    RelayRing(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** {@code before}: fingerprint of the batch before it; 0: not known. */
    synchronized void add(long process, long sequence, long before, long millis, byte[] batch) {
        Entry e = new Entry(process, sequence, before, millis, batch);
        waiting.add(e);
        bytes += e.size();
        // The newest stays, however large.
        while (bytes > maxBytes && sent.size() + waiting.size() > 1) {
            Entry gone = sent.poll();
            if (gone == null) {
                gone = waiting.remove();
                overflowed++;
            }
            bytes -= gone.size();
        }
    }

    /** One that is in the stream already, so that who asks gets it. */
    synchronized void seed(long process, long sequence, byte[] batch) {
        Entry e = new Entry(process, sequence, 0, 0, batch);
        sent.add(e);
        bytes += e.size();
    }

    /**
     * Takes the next batches to be sent: of one process, numbered without a hole, together at most
     * {@code most} bytes, or one that alone is larger. Null when there is none.
     *
     * @param only of this process; null: of any
     */
    synchronized @Nullable Envelope take(int most, @Nullable Long only) {
        Entry first = waiting.peek();
        if (first == null || (only != null && only != first.process)) {
            return null;
        }
        List<byte[]> batches = new ArrayList<>();
        int size = Envelope.HEADER;
        Entry e = first;
        while (e != null
                && e.process == first.process
                && e.sequence == first.sequence + batches.size()) {
            size += Integer.BYTES + e.batch.length;
            if (size > most && !batches.isEmpty()) {
                break;
            }
            batches.add(e.batch);
            sent.add(waiting.remove());
            e = waiting.peek();
        }
        return Envelope.batches(first.process, first.sequence, first.before, first.millis, batches);
    }

    /**
     * What there is of a process from a number on, sent or not, in messages of at most {@code most}
     * bytes each where one batch is not larger.
     */
    synchronized List<Envelope> from(long process, long sequence, int most) {
        List<Envelope> out = new ArrayList<>();
        List<byte[]> batches = new ArrayList<>();
        Entry first = null;
        int size = Envelope.HEADER;
        for (Iterator<Entry> parts = both(); parts.hasNext(); ) {
            Entry e = parts.next();
            if (e.process != process || Long.compareUnsigned(e.sequence, sequence) < 0) {
                continue;
            }
            int more = Integer.BYTES + e.batch.length;
            if (first != null
                    && (size + more > most || e.sequence != first.sequence + batches.size())) {
                out.add(message(first, batches));
                first = null;
            }
            if (first == null) {
                first = e;
                batches = new ArrayList<>();
                size = Envelope.HEADER;
            }
            batches.add(e.batch);
            size += more;
        }
        if (first != null) {
            out.add(message(first, batches));
        }
        return out;
    }

    private static Envelope message(Entry first, List<byte[]> batches) {
        return Envelope.batches(first.process, first.sequence, first.before, first.millis, batches);
    }

    private Iterator<Entry> both() {
        List<Entry> all = new ArrayList<>(sent.size() + waiting.size());
        all.addAll(sent);
        all.addAll(waiting);
        return all.iterator();
    }

    /** Batches that wait to be sent. */
    synchronized int waiting() {
        return waiting.size();
    }

    /** Batches that went before they were sent. */
    synchronized long overflowed() {
        return overflowed;
    }
}
