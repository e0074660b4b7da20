package io.warmpath.replica;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** What happened, since the start. Any thread. */
public final class ReplicaCounters {
    /** Things that are counted. */
    public enum Count {
        /** Messages handed to the link. */
        SENT,
        /** Messages that the link did not take. */
        UNSENT,
        SENT_BYTES,
        /** Changes of bookings told to others. */
        TOLD,
        /** Looks through all bookings because changes had found no place. */
        RECONCILED,
        /** Whole states told to others. */
        STATES_SENT,
        /** Messages of others. */
        RECEIVED,
        RECEIVED_BYTES,
        /** Messages that their number says were sent and that never came, or too late. */
        LOST,
        /** Messages that came twice, late, or from a former life of their sender. */
        REPEATED,
        /** Times what was heard did not add up to what its sender has. */
        DIVERGED,
        /** Whole states asked for. */
        STATES_ASKED,
        /** Whole states taken over. */
        STATES_TAKEN,
        /** Messages of another version of this protocol. */
        OTHER_VERSION,
        /** Messages of a kind that this version does not know. */
        OTHER_KIND,
        /** Messages that cannot be read. */
        MALFORMED,
        /** Messages with this gateway's own number from somebody else. */
        SAME_ROUTER;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class); // none is added later

    public ReplicaCounters() {
        for (Count what : Count.values()) {
            counts.put(what, new LongAdder());
        }
    }

    private LongAdder of(Count what) {
        return Objects.requireNonNull(counts.get(what));
    }

    void add(Count what, long count) {
        of(what).add(count);
    }

    void one(Count what) {
        add(what, 1);
    }

    public long get(Count what) {
        return of(what).sum();
    }
}
