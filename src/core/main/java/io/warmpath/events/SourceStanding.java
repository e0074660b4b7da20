package io.warmpath.events;

import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of one source, from what is known of it now; tells who listens of changes.
 *
 * <p>Written by the feed's thread: set what has changed, then {@link #settle}. Read by any.
 */
final class SourceStanding {
    /**
     * @param why stays that of the change
     * @param since by the session's clock
     */
    record Now(EventView state, Belief belief, String why, long since) {}

    /** Told of every change. */
    interface Listener {
        void changed(EventView before);
    }

    private final LongSupplier nanoTime;
    private final Listener listener;
    private volatile Now now;

    /** The source was given up: nothing more will come. */
    boolean closed;

    /** There was a connection, and it has ended. */
    boolean disconnected;

    /** What carries the events is not there: what. */
    @Nullable String away;

    /** The engine computes and says nothing: why that is thought. */
    @Nullable String silent;

    /** Another process may speak now, and asking has not told: why that is thought. */
    @Nullable String stranger;

    /** What it stores is not what this worker is known to have: in what. */
    @Nullable String misfit;

    /** All that the publisher said before is being asked for, or nothing was heard yet. */
    boolean reading = true;

    /** A hole is known and its batches are asked for. */
    boolean repairing;

    /** What is known was true once; whether something was missed since is not known yet. */
    boolean unconfirmed;

    /** Everything since the engine's start, or its last clear, has been applied. */
    boolean complete;

    /** A removal may have been missed and what it removed is still known. */
    boolean doubtful;

    /** Batches have been waiting to be applied for a while. */
    boolean lagging;

    SourceStanding(LongSupplier nanoTime, Listener listener) {
        this.nanoTime = nanoTime;
        this.listener = listener;
        this.now =
                new Now(
                        EventView.CONNECTING,
                        Belief.ALL,
                        "nothing heard yet",
                        nanoTime.getAsLong());
    }

    /** Any thread. */
    Now now() {
        return now;
    }

    /**
     * Looks at what is known now.
     *
     * @param why it may have changed
     */
    void settle(String why) {
        EventView state = state();
        Belief belief = belief(state);
        Now before = now;
        if (state != before.state || belief != before.belief) {
            now = new Now(state, belief, reason(state, why), nanoTime.getAsLong());
            listener.changed(before.state);
        }
    }

    private EventView state() {
        if (closed || disconnected) {
            return EventView.GONE;
        }
        if (misfit != null || silent != null || stranger != null) {
            return EventView.FROZEN;
        }
        if (repairing || unconfirmed) {
            return EventView.REPAIRING;
        }
        if (reading) {
            return EventView.CONNECTING;
        }
        if (away != null) {
            return EventView.LAGGING;
        }
        if (!complete) {
            return EventView.GAP;
        }
        return lagging ? EventView.LAGGING : EventView.EXACT;
    }

    private Belief belief(EventView state) {
        return switch (state) {
            case GONE, FROZEN -> Belief.NOTHING;
            case REPAIRING, LAGGING -> Belief.PART;
            default -> doubtful || lagging ? Belief.PART : Belief.ALL;
        };
    }

    private String reason(EventView state, String why) {
        if (state != EventView.FROZEN) {
            return why;
        }
        @Nullable String frozen = misfit != null ? misfit : silent != null ? silent : stranger;
        return frozen != null ? frozen : why;
    }
}
