package io.warmpath.fleet.monitor;

import java.time.Duration;
import java.util.function.LongUnaryOperator;

/**
 * Whether a worker computes that has requests and gives no sign of life: when it is to be asked,
 * and what its answers come to. Pure; one thread. Times are nanoseconds of the caller's clock.
 */
final class Suspicion {
    /** How exactly it is known since when a worker is quiet. */
    static final Duration LISTEN_POLL = Duration.ofSeconds(1);

    private static final long NONE = Long.MIN_VALUE;

    private final long quietNanos;
    private final long pauseNanos;
    private final int failuresToMute;
    private long quietSince = NONE; // it has requests since then, and has given no sign of life
    private long listened;
    private long due;
    private boolean open;
    private int failures; // in a row
    private boolean mute;

    /**
     * @param quiet after which it is asked
     * @param pause from an answer to the next question
     * @param failuresToMute bad answers in a row after which it counts as mute
     */
    Suspicion(long now, Duration quiet, Duration pause, int failuresToMute) {
        this.due = now;
        this.quietNanos = quiet.toNanos();
        this.pauseNanos = pause.toNanos();
        this.failuresToMute = failuresToMute;
    }

    /** It was found to compute nothing, and has not shown otherwise since. */
    boolean isMute() {
        return mute;
    }

    /** The question is open. */
    boolean isOpen() {
        return open;
    }

    /** It has nothing to do, or is not to be listened to. */
    void rest() {
        quietSince = NONE;
    }

    /**
     * It has requests, or is mute.
     *
     * @param lastSign when it last gave a sign of life; what it is given when none came since then
     * @return whether it was mute and has given one
     */
    boolean listen(long now, LongUnaryOperator lastSign) {
        if (quietSince == NONE) {
            quietSince = now;
            listened = now;
            return false;
        }
        if (now - listened < LISTEN_POLL.toNanos()) {
            return false;
        }
        listened = now;
        long sign = lastSign.applyAsLong(quietSince);
        if (sign - quietSince <= 0) {
            return false;
        }
        quietSince = sign;
        return speaks();
    }

    /** It has been quiet for too long, and is to be asked. */
    boolean isDue(long now) {
        return quietSince != NONE
                && now == listened
                && now - quietSince >= quietNanos
                && !open
                && now - due >= 0;
    }

    void asked() {
        open = true;
    }

    /** Returns whether it was mute and is not any more. */
    boolean answeredWell(long now) {
        ended(now);
        return computes();
    }

    /** Returns whether it is mute. */
    boolean answeredBadly(long now) {
        ended(now);
        failures++;
        mute |= failures >= failuresToMute;
        return mute;
    }

    /** The question could not be asked: that says nothing of it. */
    void notAsked(long now) {
        ended(now);
    }

    private void ended(long now) {
        open = false;
        due = now + pauseNanos;
    }

    /** It has shown that it computes, in whatever way. Returns whether it was mute. */
    boolean computes() {
        quietSince = NONE;
        return speaks();
    }

    private boolean speaks() {
        boolean was = mute;
        mute = false;
        failures = 0;
        return was;
    }
}
