package io.warmpath.upstream;

/**
 * Decides when an event loop pauses for a moment after it has served everything that was ready, so
 * that more bytes gather in the sockets and one read, one write and one wait do the work of
 * several.
 *
 * <p>The pause comes after the writes of a turn: what has arrived is on its way before it begins,
 * and only what arrives meanwhile waits. It pays when engines are read often, so a loop below
 * {@link #MIN_READS_PER_SECOND} never pauses, an idle one least of all. And it would cost where
 * many requests start at once, each waiting for its turn: a turn with a start for fewer than {@link
 * #READS_PER_START} reads does not pause.
 *
 * <p>One event loop; no clock of its own. Costs a few comparisons a read.
 */
final class Gather {
    static final int MIN_READS_PER_SECOND = 1500;
    static final int READS_PER_START = 2;
    private static final long WINDOW_NANOS = 20_000_000;
    private static final int MIN_READS_PER_WINDOW =
            (int) (MIN_READS_PER_SECOND * WINDOW_NANOS / 1_000_000_000);

    private final boolean enabled;
    private boolean busy; // the window before was
    private long windowStart;
    private int windowReads;
    private int turnReads;
    private int turnStarts;

    Gather(boolean enabled) {
        this.enabled = enabled;
    }

    /** A request is sent to an engine in this turn of the loop. */
    void started() {
        turnStarts++;
    }

    /**
     * An engine's socket has been read in this turn of the loop.
     *
     * @return true when this is the turn's first read and the loop is busy: {@link #pauses} should
     *     be asked when the turn has ended
     */
    boolean read(long nowNanos) {
        if (!enabled) {
            return false;
        }
        long age = nowNanos - windowStart;
        if (age >= WINDOW_NANOS) {
            busy = age < 2 * WINDOW_NANOS && windowReads >= MIN_READS_PER_WINDOW;
            windowStart = nowNanos;
            windowReads = 0;
        }
        windowReads++;
        if (!busy) {
            turnReads = 0;
            turnStarts = 0;
            return false;
        }
        return ++turnReads == 1;
    }

    /** The turn has ended: whether to pause now. */
    boolean pauses() {
        boolean pauses = busy && turnReads >= READS_PER_START * turnStarts;
        turnReads = 0;
        turnStarts = 0;
        return pauses;
    }
}
