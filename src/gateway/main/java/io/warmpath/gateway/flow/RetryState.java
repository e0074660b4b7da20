package io.warmpath.gateway.flow;

import java.util.ArrayList;
import java.util.List;

/**
 * The workers that one request has been sent to so far, and whether it may be sent once more. A
 * worker that could not be reached, or whose queue was full, has not begun with the request and
 * does not count among those that have. Confined to the request's event loop.
 */
final class RetryState {
    /** Attempts of any kind, refused connections included. */
    private static final int MAX = 8;

    private final int maxWorkers;
    private int attempts;
    private List<Long> failed = List.of(); // most requests never fill it
    private List<Long> begun = List.of();
    private boolean secondRound;

    /** {@code maxWorkers}: that may have begun with it, the first one included. */
    RetryState(int maxWorkers) {
        this.maxWorkers = maxWorkers;
    }

    /**
     * @return true for the very first one
     */
    boolean attempt() {
        return ++attempts == 1 && !secondRound;
    }

    int attempts() {
        return attempts;
    }

    boolean areMany() {
        return attempts >= MAX;
    }

    /** This worker is asked again only in a second round. */
    void failed(long worker) {
        failed = with(failed, worker);
    }

    /** This worker has received the request. */
    void hasBegun(long worker) {
        if (!begun.contains(worker)) {
            begun = with(begun, worker);
        }
    }

    /** Another worker may be asked. */
    boolean mayAskAnother() {
        return !areMany() && begun.size() < maxWorkers;
    }

    /** A second worker may be asked beside the one that has the request now. */
    boolean mayHedge() {
        return begun.size() + 2 <= maxWorkers;
    }

    /** Ids of workers that are not asked again. */
    List<Long> failed() {
        return failed;
    }

    /**
     * All workers may be asked once more.
     *
     * @return false when that has been so already, or too many have begun
     */
    boolean secondRound() {
        if (secondRound || begun.size() >= maxWorkers) {
            return false;
        }
        secondRound = true;
        attempts = 0;
        failed = List.of();
        return true;
    }

    /**
     * It waits until a queue has room: all workers may be asked then, as if none had been.
     *
     * @return false when one has begun with it
     */
    boolean startOver() {
        if (!begun.isEmpty()) {
            return false;
        }
        secondRound = true; // what comes is not its first attempt
        attempts = 0;
        failed = List.of();
        return true;
    }

    private static List<Long> with(List<Long> workers, long worker) {
        List<Long> more = workers.isEmpty() ? new ArrayList<>(2) : workers;
        more.add(worker);
        return more;
    }
}
