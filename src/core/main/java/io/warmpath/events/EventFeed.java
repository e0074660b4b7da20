package io.warmpath.events;

import io.warmpath.fleet.EventView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps subscriptions to event sources alive. Any thread. */
public interface EventFeed extends AutoCloseable {
    /**
     * Starts receiving; the returned handle stops it and waits until its last batch is applied.
     *
     * @param listener told of this source's changes
     * @param from where another process of ours stopped, if one did
     */
    Subscription subscribe(EventSource source, SourceListener listener, @Nullable SourceMark from);

    /** For who listens to nothing. */
    default Subscription subscribe(EventSource source) {
        return subscribe(source, (s, before, now) -> {}, null);
    }

    /**
     * Where each source stands that has been heard, all at one instant. Waits for the feed's
     * thread.
     */
    List<SourceMark> marks();

    /** Whether an engine without event sockets can be followed: no, when they are what is read. */
    default boolean needsEndpoints() {
        return true;
    }

    /**
     * Sequence of the stream up to which everything has been applied, where events come through
     * one; else 0. Marks that are asked for later hold no less.
     */
    default long streamPosition() {
        return 0;
    }

    @Override
    void close();

    /** One running subscription. */
    interface Subscription extends AutoCloseable {
        EventSource source();

        SourceStatus status();

        default EventView state() {
            return status().state();
        }

        /**
         * The engine has answered a request that was sent at {@code began}, by the feed's clock,
         * and must have stored blocks for it.
         */
        void computed(long began);

        /**
         * The engine is known to be there again: what waits before it is tried once more is tried
         * now. Does not wait.
         */
        default void hurry() {}

        @Override
        void close();
    }

    /** Told of every change of state, on the feed's thread; must neither wait nor call the feed. */
    @FunctionalInterface
    interface SourceListener {
        void changed(EventSource source, EventView before, SourceStatus now);
    }
}
