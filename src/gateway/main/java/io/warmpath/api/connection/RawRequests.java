package io.warmpath.api.connection;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The requests that run past the server's codec, of which the runtime knows nothing: whoever stops
 * it has to wait for them here. Any thread.
 */
public final class RawRequests {
    // Both sequentially consistent: whoever counts itself looks at `closed` after that, whoever
    // closes looks at the count after that, so one of the two sees the other.
    private final AtomicInteger running = new AtomicInteger();
    private volatile boolean closed;

    private final AtomicBoolean idleReported = new AtomicBoolean();
    private volatile @Nullable Runnable idle;

    /** Those that run now. */
    public int running() {
        return running.get();
    }

    /**
     * One more; {@link #exit} follows when the answer is true.
     *
     * @return false: it has to go through the codec
     */
    public boolean enter() {
        running.incrementAndGet();
        if (closed) {
            exit();
            return false;
        }
        return true;
    }

    /** One of them has ended. */
    public void exit() {
        // Looked at again once it is known to be closed: another one may have come before that.
        if (running.decrementAndGet() == 0 && closed && running.get() == 0) {
            tell();
        }
    }

    /** Requests go through the codec. */
    public boolean isClosed() {
        return closed;
    }

    /** Somebody waits for the last of them: nothing new is taken. */
    public boolean isStopping() {
        return idle != null;
    }

    /** From now on requests go through the codec; those that run may end. */
    public void close() {
        closed = true;
    }

    /** {@code action}: once none runs any more, which may be now; on any thread. */
    public void closed(Runnable action) {
        idle = action;
        closed = true;
        if (running.get() == 0) {
            tell();
        }
    }

    private void tell() {
        Runnable action = idle;
        if (action != null && idleReported.compareAndSet(false, true)) {
            action.run();
        }
    }
}
