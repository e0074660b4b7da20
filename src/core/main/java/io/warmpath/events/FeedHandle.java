package io.warmpath.events;

import io.warmpath.fleet.EventView;
import java.util.concurrent.CancellationException;

/** What a subscriber holds of a feed that has a thread of its own. Any thread, but on that one. */
public final class FeedHandle implements EventFeed.Subscription {
    private final EventSource source;
    private final SourceSession session;
    private final FeedCalls calls;
    private final Runnable drop;
    private final Runnable hurry;

    /**
     * @param drop ends the source, on the feed's thread
     * @param hurry {@link #hurry}, on the feed's thread; the source may have been closed before
     */
    public FeedHandle(
            EventSource source,
            SourceSession session,
            FeedCalls calls,
            Runnable drop,
            Runnable hurry) {
        this.source = source;
        this.session = session;
        this.calls = calls;
        this.drop = drop;
        this.hurry = hurry;
    }

    @Override
    public EventSource source() {
        return source;
    }

    @Override
    public SourceStatus status() {
        return session.status();
    }

    @Override
    public EventView state() {
        return session.state();
    }

    @Override
    public void computed(long began) {
        session.computed(began);
    }

    @Override
    public void hurry() {
        calls.tell(hurry);
    }

    @Override
    public void close() {
        if (calls.isOver()) {
            return;
        }
        try {
            calls.call(
                    () -> {
                        drop.run();
                        return true;
                    });
        } catch (CancellationException e) {
            // The whole feed was closed meanwhile, and with it this source.
        }
    }
}
