package io.warmpath.events;

import io.warmpath.fleet.EventView;

/**
 * Where one source stands, and what it has brought since it was opened. Immutable; the numbers are
 * read one after the other and may be a batch apart.
 *
 * @param belief how much of what it told may be relied on
 * @param why it is in this state
 * @param stateNanos for how long
 * @param sequence of the newest batch that was applied, here or by a process before this one, as
 *     unsigned; {@link #NO_SEQUENCE} before the first
 * @param lastEventNanos since that batch was applied; -1 before the first
 * @param repaired gaps that were filled
 * @param lost gaps that were not: the rank's content was forgotten
 * @param rejected batches that could not be read
 * @param owed requests of which the engine should have told something, since the last batch
 * @param storedBlocks in its stored events
 * @param offloadedBlocks of them, those in slower memory than the device's
 */
public record SourceStatus(
        EventView state,
        Belief belief,
        String why,
        long stateNanos,
        long sequence,
        long lastEventNanos,
        long batches,
        long duplicates,
        long gaps,
        long repaired,
        long lost,
        long restarts,
        long replays,
        long rejected,
        int owed,
        long storedBlocks,
        long removedBlocks,
        long offloadedBlocks) {

    /** No publisher gets as far. */
    public static final long NO_SEQUENCE = -1;

    /** How much of what a source has told may be relied on. */
    public enum Belief {
        /** All of it: what the index holds of it is there, though maybe not all that is there. */
        ALL,
        /** Some may be gone by now: removals are missing, or have not been applied. */
        PART,
        /** None of it. */
        NOTHING
    }

    /** A source that could not be opened, or is not there at all. */
    public static SourceStatus none(String why) {
        return new SourceStatus(
                EventView.NONE,
                Belief.ALL,
                why,
                0,
                NO_SEQUENCE,
                -1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0);
    }
}
