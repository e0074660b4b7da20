package io.warmpath.state;

import java.time.Duration;
import java.util.Collection;

/**
 * When a shared snapshot is due, and what may be purged behind it. Immutable.
 *
 * <p>A stream drops what is older than its retention, counted or not: where few messages come, a
 * snapshot is due by age as well, {@link #PER_RETENTION} times in a retention, or a start could
 * miss what was said before. So many that the snapshot before the newest can still be joined.
 *
 * @param threshold messages that the newest snapshot does not cover
 * @param retention of the stream; zero: for ever
 */
public record SnapshotRules(long threshold, Duration retention) {
    private static final int PER_RETENTION = 3;

    /**
     * What the stream holds.
     *
     * @param id another one for a stream that was made anew
     * @param first sequence of the oldest message that is there
     * @param last sequence of the newest there ever was, 0 when there was none
     * @param firstMillis time of the oldest, since 1970; 0 when there is none
     */
    public record Stream(long id, long messages, long first, long last, long firstMillis) {}

    /** {@code catalog}: of this stream. */
    public boolean due(Stream stream, SnapshotCatalog catalog, long nowMillis) {
        long covered = catalog.covered();
        if (stream.messages() == 0 || stream.last() <= covered) {
            return false;
        }
        long open = Math.min(stream.messages(), stream.last() - covered);
        if (open >= threshold) {
            return true;
        }
        // What is not covered came after the newest snapshot was taken.
        long since =
                catalog.items().isEmpty()
                        ? stream.firstMillis()
                        : Math.max(stream.firstMillis(), catalog.items().get(0).takenMillis());
        return !retention.isZero() && nowMillis - since >= retention.toMillis() / PER_RETENTION;
    }

    /**
     * Sequence up to which messages may go, 0 for none: every kept snapshot has them, and every
     * living gateway has applied them. The snapshot before the newest can so always be joined.
     *
     * @param catalog of this stream
     * @param applied by each gateway that follows the stream
     */
    public static long purgeable(SnapshotCatalog catalog, Collection<Long> applied) {
        long slowest = applied.stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
        return Math.min(catalog.settled(), slowest);
    }
}
