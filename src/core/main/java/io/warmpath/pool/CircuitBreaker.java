package io.warmpath.pool;

import io.warmpath.pool.PoolStanding.BreakerState;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Leaves a master that fails again and again alone, for a while that doubles. Any thread. Whoever
 * is let through by {@link #enter} must tell how it went.
 */
final class CircuitBreaker {
    private final int most;
    private final long firstPauseNanos;
    private final long longestPauseNanos;
    private final LongSupplier nanoTime;
    private BreakerState state = BreakerState.CLOSED; // guarded by this, with the rest
    private int failures;
    private long pauseNanos;
    private long openedAt;

    /**
     * @param failures in a row that open it
     * @param pause before the first try
     * @param longest pause, after tries that failed
     */
    CircuitBreaker(int failures, Duration pause, Duration longest, LongSupplier nanoTime) {
        this.most = failures;
        this.firstPauseNanos = pause.toNanos();
        this.longestPauseNanos = longest.toNanos();
        this.pauseNanos = firstPauseNanos;
        this.nanoTime = nanoTime;
    }

    /** Whether {@link #enter} would let somebody through. */
    synchronized boolean lets() {
        return state == BreakerState.CLOSED || (state == BreakerState.OPEN && pauseIsOver());
    }

    private boolean pauseIsOver() {
        return nanoTime.getAsLong() - openedAt >= pauseNanos;
    }

    synchronized boolean enter() {
        if (!lets()) {
            return false;
        }
        if (state == BreakerState.OPEN) {
            state = BreakerState.TRYING;
        }
        return true;
    }

    synchronized void succeeded() {
        if (state == BreakerState.OPEN) {
            return; // asked before it opened
        }
        state = BreakerState.CLOSED;
        failures = 0;
        pauseNanos = firstPauseNanos;
    }

    synchronized void failed() {
        if (state == BreakerState.TRYING) {
            pauseNanos = Math.min(2 * pauseNanos, longestPauseNanos);
            open();
        } else if (state == BreakerState.CLOSED && ++failures >= most) {
            open();
        }
    }

    private void open() {
        state = BreakerState.OPEN;
        openedAt = nanoTime.getAsLong();
        failures = 0;
    }

    synchronized BreakerState state() {
        return state;
    }
}
