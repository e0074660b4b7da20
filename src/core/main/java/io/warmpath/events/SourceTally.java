package io.warmpath.events;

import java.util.concurrent.atomic.AtomicLongArray;

/** What one source has brought. The feed's thread counts, any thread reads; about 120 bytes. */
final class SourceTally {
    /** What is counted, and two numbers that are set. */
    static final class Of {
        static final int BATCHES = 0;
        static final int DUPLICATES = 1;
        static final int GAPS = 2;
        static final int REPAIRED = 3;
        static final int LOST = 4;
        static final int RESTARTS = 5;
        static final int REPLAYS = 6;
        static final int REJECTED = 7;
        static final int STORED_BLOCKS = 8;
        static final int REMOVED_BLOCKS = 9;

        /** Number of the newest batch that was applied. */
        static final int SEQUENCE = 10;

        /** When it came, by the session's clock. */
        static final int NEWEST_AT = 11;

        /** Of the stored blocks, those in slower memory than the device's. */
        static final int OFFLOADED_BLOCKS = 12;

        private static final int COUNT = 13;

        private Of() {}
    }

    private final AtomicLongArray values = new AtomicLongArray(Of.COUNT);

    /** One writer, so that no atomic addition is needed. */
    void add(int what, long n) {
        values.setRelease(what, values.getPlain(what) + n);
    }

    void set(int what, long value) {
        values.setRelease(what, value);
    }

    long get(int what) {
        return values.getAcquire(what);
    }

    /** All of it, with what is known besides. Any thread. */
    SourceStatus status(SourceStanding.Now now, int owed, long time) {
        long batches = get(Of.BATCHES);
        return new SourceStatus(
                now.state(),
                now.belief(),
                now.why(),
                time - now.since(),
                get(Of.SEQUENCE),
                batches == 0 ? -1 : time - get(Of.NEWEST_AT),
                batches,
                get(Of.DUPLICATES),
                get(Of.GAPS),
                get(Of.REPAIRED),
                get(Of.LOST),
                get(Of.RESTARTS),
                get(Of.REPLAYS),
                get(Of.REJECTED),
                owed,
                get(Of.STORED_BLOCKS),
                get(Of.REMOVED_BLOCKS),
                get(Of.OFFLOADED_BLOCKS));
    }
}
