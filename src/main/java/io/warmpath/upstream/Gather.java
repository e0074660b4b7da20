package io.warmpath.upstream;

/**
 * Decides when an event loop pauses for a moment after it has served everything that was ready, so
 * that more bytes gather in the sockets and one read, one write and one wait do the work of
 * several.
 *
 * <p>The pause comes after the writes of a turn: what has arrived is on its way before it begins,
 * and only what arrives meanwhile waits. It pays when a stream's next bytes are about to come, and
 * costs others a moment for nothing when they are not. So a loop pauses only while a stream is in a
 * burst: it was read {@link Stream#READS} times, each less than {@link Stream#GAP_NANOS} after the
 * one before. Engines that emit one token a step never are (a step takes milliseconds), whatever
 * their number; answers that are not streamed, several tokens a step and answers from a cache are.
 *
 * <p>Where the connection's answers come in bursts anyway, the first read of the next one is
 * enough: its bytes are with the client before the pause, and the rest gathers from then on. An
 * answer that turns out to be paced takes that back.
 *
 * <p>One event loop; no clock of its own. Costs a few comparisons a read.
 */
final class Gather {
    private final boolean enabled;
    private boolean asked;

    Gather(boolean enabled) {
        this.enabled = enabled;
    }

    /** The reads of one connection to an engine. */
    static final class Stream {
        /** Reads in quick succession that make a burst. */
        static final int READS = 3;

        /** Longer than a pause with the latest wake-up, shorter than any engine's step. */
        static final long GAP_NANOS = 500_000;

        private int quick; // reads in a row, each soon after the one before, up to READS
        private int soon; // of this answer's reads
        private int late;
        private boolean bursts; // so do this connection's answers
        private long last;

        /** Another answer begins. */
        void begin() {
            if (soon > 0 && soon >= 2 * late) {
                bursts = true;
            } else if (late > soon) {
                bursts = false;
            }
            quick = 0;
            soon = 0;
            late = 0;
        }

        private boolean burst(long nowNanos) {
            if (quick > 0 && nowNanos - last < GAP_NANOS) {
                quick = Math.min(quick + 1, READS);
                soon++;
            } else {
                late += quick > 0 ? 1 : 0;
                quick = 1;
            }
            last = nowNanos;
            return quick == READS || (bursts && late <= soon);
        }
    }

    /**
     * Bytes of an answer that has not ended were read in this turn of the loop.
     *
     * @return true when the loop is to pause after this turn, once a turn; {@link #paused} follows
     */
    boolean read(Stream stream, long nowNanos) {
        if (!enabled || !stream.burst(nowNanos) || asked) {
            return false;
        }
        asked = true;
        return true;
    }

    /** The pause is over. */
    void paused() {
        asked = false;
    }
}
