package io.warmpath.events;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Notices a publisher that says nothing although its engine computes.
 *
 * <p>{@link #computed} on any thread, the rest on the feed's. A request that had new blocks and
 * during which no batch came is owed an event; {@link #REQUESTS} such, the first of them long
 * enough ago, are a stall. One alone is none: SGLang tells a prompt at its end, llm-d's simulator
 * once a second, and a prediction may be wrong.
 */
final class StallWatch {
    static final int REQUESTS = 3;

    private final long timeoutNanos;
    private final AtomicInteger owed = new AtomicInteger();
    private volatile long newest;
    private volatile long owedSince;

    StallWatch(long timeoutNanos, long now) {
        this.timeoutNanos = timeoutNanos;
        this.newest = now;
        this.owedSince = now;
    }

    /** A request sent at {@code began} has been answered, and had blocks that are new. */
    void computed(long began, long now) {
        if (began - newest > 0 && owed.getAndIncrement() == 0) {
            owedSince = now;
        }
    }

    /** A batch has come. */
    void heard(long now) {
        newest = now;
        owed.set(0);
    }

    boolean due(long now) {
        return owed.get() >= REQUESTS && now - owedSince >= timeoutNanos;
    }

    int owed() {
        return owed.get();
    }
}
