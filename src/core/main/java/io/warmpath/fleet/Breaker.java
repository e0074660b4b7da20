package io.warmpath.fleet;

/**
 * Circuit breaker of one worker.
 *
 * <pre>
 * CLOSED --too many failures, or told to--> OPEN --pause over--> TRIAL --enough go well--> CLOSED
 *                                             ^------one fails-----'
 * </pre>
 *
 * <p>Pure; one thread. Times are nanoseconds of the caller's clock. The pause doubles from opening
 * to opening, until the breaker has stayed closed for the longest pause.
 */
final class Breaker {
    enum State {
        CLOSED,
        OPEN,
        TRIAL
    }

    /** What an answered request takes back, so that a third of failures is what is borne. */
    private static final double GOOD = 0.5;

    private final HealthOptions options;
    private State state = State.CLOSED;
    private double score;
    private int opened; // times in a row
    private int trialsLeft;
    private long since; // of the state
    private long due; // end of the pause

    Breaker(HealthOptions options) {
        this.options = options;
    }

    State state() {
        return state;
    }

    /** When {@link #tick} is due; only while it is open. */
    long dueNanos() {
        return due;
    }

    /** An answered request would change something. */
    boolean listens() {
        return state == State.TRIAL || (state == State.CLOSED && score > 0);
    }

    /**
     * @param began when the request was sent; what was sent before the trial proves nothing
     * @return whether the state is another one now
     */
    boolean succeeded(long began, long now) {
        switch (state) {
            case CLOSED -> score = Math.max(0, score - GOOD);
            case TRIAL -> {
                if (began - since >= 0 && --trialsLeft <= 0) {
                    enter(State.CLOSED, now);
                    score = 0;
                    return true;
                }
            }
            case OPEN -> {}
        }
        return false;
    }

    /** As {@link #succeeded}. */
    boolean failed(long began, long now) {
        if (options.failures() == 0) {
            return false;
        }
        switch (state) {
            case CLOSED -> {
                score++;
                return score >= options.failures() && open(now);
            }
            case TRIAL -> {
                return began - since >= 0 && open(now);
            }
            case OPEN -> {}
        }
        return false;
    }

    /** Opens it for another reason than failures; false when it is open already. */
    boolean open(long now) {
        if (state == State.OPEN) {
            return false;
        }
        if (state == State.CLOSED && now - since >= options.pauseMax().toNanos()) {
            opened = 0;
        }
        long min = options.pauseMin().toNanos();
        long pause = Math.min(options.pauseMax().toNanos(), min << Math.min(opened, 20));
        opened++;
        enter(State.OPEN, now);
        due = now + pause;
        return true;
    }

    /** The pause may be over: true when the trial begins. */
    boolean tick(long now) {
        if (state != State.OPEN || now - due < 0) {
            return false;
        }
        trialsLeft = options.trials();
        enter(State.TRIAL, now);
        return true;
    }

    private void enter(State next, long now) {
        state = next;
        since = now;
    }
}
