package io.warmpath.events;

/**
 * Where one publisher's sequence stands, and what the next batch means. One thread.
 *
 * <p>A publisher counts its batches from 0 (llm-d's simulator from 1) and starts anew with its
 * process. Fingerprints of the newest batches tell a repeated batch from another one that has the
 * same number, so that a restart is seen although the new numbers look like old ones.
 */
final class SourceOrder {
    /** What a batch with a given number is. */
    enum Arrival {
        /** The first one of this publisher. */
        FIRST,
        /** The expected one. */
        NEXT,
        /** Known already. */
        DUPLICATE,
        /** Some before it are missing. */
        GAP,
        /** The publisher counts anew. */
        RESTART
    }

    private static final int REMEMBERED = 1024;

    private final long[] fingerprints = new long[REMEMBERED];
    private boolean started;
    private long first;
    private long next;
    private boolean seenLive;
    private long newestLive;

    boolean started() {
        return started;
    }

    /** Number of the batch that should come now; meaningless before the first. */
    long next() {
        return next;
    }

    /** Of the batch before the next one. */
    long lastFingerprint() {
        return fingerprints[slot(next - 1)];
    }

    /** Another process had taken everything before {@code next}. */
    void resume(long next, long lastFingerprint) {
        reset();
        started = true;
        first = next - 1;
        this.next = next;
        fingerprints[slot(next - 1)] = lastFingerprint;
    }

    /** Judges a batch of the live stream, which never repeats or reorders by itself. */
    Arrival live(long sequence, byte[] payload) {
        // The batch before a hole is judged again when the hole has been filled, by then maybe far
        // behind what the replay has brought: the same number is not a step back.
        boolean backward = seenLive && Long.compareUnsigned(sequence, newestLive) < 0;
        Arrival arrival = judge(sequence, payload, backward);
        seenLive = true;
        newestLive = sequence;
        return arrival;
    }

    /** Judges a batch that the publisher sent again on request. */
    Arrival replayed(long sequence, byte[] payload) {
        return judge(sequence, payload, false);
    }

    private Arrival judge(long sequence, byte[] payload, boolean backward) {
        if (!started) {
            return Arrival.FIRST;
        }
        if (sequence == next) {
            return Arrival.NEXT;
        }
        if (Long.compareUnsigned(sequence, next) > 0) {
            return Arrival.GAP;
        }
        boolean another =
                remembers(sequence)
                        ? fingerprints[slot(sequence)] != SourceMark.fingerprint(payload)
                        : backward;
        return another ? Arrival.RESTART : Arrival.DUPLICATE;
    }

    /** Whether a batch that was taken can be told from another one of its number. */
    boolean remembers(long sequence) {
        return Long.compareUnsigned(sequence, first) >= 0
                && Long.compareUnsigned(next - sequence, REMEMBERED) <= 0;
    }

    /** The batch has been taken; the one after it is expected next. */
    void take(long sequence, byte[] payload) {
        if (!started || sequence != next) {
            // Before a hole nothing may be compared: its entries would belong to other numbers.
            first = sequence;
        }
        started = true;
        fingerprints[slot(sequence)] = SourceMark.fingerprint(payload);
        next = sequence + 1;
    }

    /** Nothing is known any more, as before the first batch. */
    void reset() {
        started = false;
        seenLive = false;
        first = 0;
        next = 0;
    }

    private static int slot(long sequence) {
        return (int) (sequence & (REMEMBERED - 1));
    }
}
