package io.warmpath.events;

/** Keeps subscriptions to event sources alive. Any thread. */
public interface EventFeed extends AutoCloseable {
    /** Starts receiving; the returned handle stops it and waits until its last batch is applied. */
    Subscription subscribe(EventSource source);

    @Override
    void close();

    /** One running subscription. */
    interface Subscription extends AutoCloseable {
        EventSource source();

        Trust trust();

        /** True while the view of this source is complete: no unrepaired gap. */
        default boolean trusted() {
            return trust() == Trust.COMPLETE;
        }

        @Override
        void close();
    }
}
