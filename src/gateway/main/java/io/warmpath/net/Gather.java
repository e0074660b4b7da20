package io.warmpath.net;

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
 * <p>One event loop; no clock of its own. Costs a few comparisons a read.
 */
public final class Gather {
    private final boolean enabled;
    private boolean asked;

    public Gather(boolean enabled) {
        this.enabled = enabled;
    }

    /** The reads of one connection to an engine. */
    public static final class Stream {
        /** Reads in quick succession that make a burst. */
        static final int READS = 3;

        /** Longer than a pause with the latest wake-up, shorter than any engine's step. */
        static final long GAP_NANOS = 500_000;

        private int quick;
        private long last;

        /** Another answer begins. */
        public void begin() {
            quick = 0;
        }

        private boolean burst(long nowNanos) {
            boolean follows = quick > 0 && nowNanos - last < GAP_NANOS;
            quick = follows ? Math.min(quick + 1, READS) : 1;
            last = nowNanos;
            return quick == READS;
        }
    }

    /**
     * Bytes of an answer that has not ended were read in this turn of the loop.
     *
     * @return true when the loop is to pause after this turn, once a turn; {@link #paused} follows
     */
    public boolean read(Stream stream, long nowNanos) {
        if (!enabled || !stream.burst(nowNanos) || asked) {
            return false;
        }
        asked = true;
        return true;
    }

    /** The pause is over. */
    public void paused() {
        asked = false;
    }
}
