package io.warmpath.state;

import java.util.concurrent.atomic.LongAdder;

/** What became of snapshots since the start. Written by one thread, read by any. */
public final class SnapshotCounters {
    private final LongAdder written = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private volatile long bytes;

    public void written(long size) {
        written.increment();
        bytes = size;
    }

    public void failed() {
        failed.increment();
    }

    public long writes() {
        return written.sum();
    }

    public long failures() {
        return failed.sum();
    }

    /** Of the newest index file. */
    public long bytes() {
        return bytes;
    }
}
