package io.warmpath.replica;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread that ticks a {@link ReplicaSync}. {@link #start} and {@link #close} once each; {@link
 * #wake} any thread, also before the start.
 */
public final class ReplicaLoop implements AutoCloseable {
    /** After a tick that failed. */
    private static final long PAUSE_NANOS = 100_000_000;

    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /** {@code tick}: answers nanoseconds until the next one. */
    public void start(LongSupplier tick, ReplicaLog log) {
        thread = Thread.ofPlatform().daemon().name("warmpath-replicas").start(() -> run(tick, log));
    }

    private void run(LongSupplier tick, ReplicaLog log) {
        while (!closed) {
            long nanos;
            try {
                nanos = tick.getAsLong();
            } catch (RuntimeException e) {
                log.warn("The sync with other gateways failed and is tried again: " + e);
                nanos = PAUSE_NANOS;
            }
            LockSupport.parkNanos(nanos);
        }
    }

    /** Something has come. */
    public void wake() {
        LockSupport.unpark(thread);
    }

    @Override
    public void close() {
        closed = true;
        Thread t = thread;
        if (t != null) {
            LockSupport.unpark(t);
            try {
                t.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
