package io.warmpath.sim.engine;

import java.util.Comparator;

/** Who of those that wait is next. */
public enum QueueOrder {
    ARRIVAL,
    /** A request without a priority comes after all that have one. */
    HIGHER_FIRST,
    LOWER_FIRST;

    Comparator<Sequence> comparator() {
        Comparator<Sequence> byPriority =
                switch (this) {
                    case ARRIVAL -> Comparator.comparingLong(s -> 0);
                    case HIGHER_FIRST ->
                            Comparator.comparingLong(s -> -wide(s, Integer.MIN_VALUE - 1L));
                    case LOWER_FIRST ->
                            Comparator.comparingLong(s -> wide(s, Integer.MAX_VALUE + 1L));
                };
        return byPriority.thenComparingLong(s -> s.queued);
    }

    private static long wide(Sequence s, long otherwise) {
        Integer priority = s.priority();
        return priority == null ? otherwise : priority;
    }
}
