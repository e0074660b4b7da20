package io.warmpath.adapter.zmq;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Memory for messages that have begun to arrive and have not ended, over all connections of one
 * owner. Bytes count when they are there, not when they are announced. Any thread.
 */
public final class MessageRoom {
    /** A message, or a connection, that there is no room for. No stack trace: not a bug. */
    static final class NoRoom extends IOException {
        private static final long serialVersionUID = 1L;

        NoRoom(String what) {
            super(what);
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private final long most;
    private final AtomicLong held = new AtomicLong();
    private final LongAdder refused = new LongAdder();
    private volatile boolean full;

    /** {@code most}: in bytes, from 1. */
    public MessageRoom(long most) {
        this.most = most;
    }

    /**
     * @param now whether nothing unfinished is kept, however little: the process has no memory left
     */
    public void full(boolean now) {
        full = now;
    }

    boolean full() {
        return full;
    }

    /** Bytes now. */
    public long held() {
        return held.get();
    }

    /** Unfinished messages, and connections, that were let go for want of room. */
    public long refused() {
        return refused.sum();
    }

    /**
     * @return true for the first one, which is worth a line in the log
     */
    boolean refuse() {
        boolean first = refused.sum() == 0;
        refused.increment();
        return first;
    }

    /** Gives {@code bytes} back. */
    void free(long bytes) {
        held.addAndGet(-bytes);
    }

    /**
     * @param bytes more of them
     * @return false: they are not counted, and may not stay
     */
    boolean take(long bytes) {
        if (full) {
            return false;
        }
        if (held.addAndGet(bytes) > most) {
            held.addAndGet(-bytes);
            return false;
        }
        return true;
    }
}
