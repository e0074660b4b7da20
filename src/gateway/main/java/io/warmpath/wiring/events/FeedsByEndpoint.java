package io.warmpath.wiring.events;

import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceMark;
import io.warmpath.fleet.EventEndpoint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives each source to the feed that its endpoint belongs to. Any thread. */
final class FeedsByEndpoint implements EventFeed {
    private final EventFeed sockets;
    private final PostedFeed posted;
    private final @Nullable EventFeed polled;

    /**
     * @param polled null: engines are not asked for their events, as several gateways would
     */
    FeedsByEndpoint(EventFeed sockets, PostedFeed posted, @Nullable EventFeed polled) {
        this.sockets = sockets;
        this.posted = posted;
        this.polled = polled;
    }

    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        return feed(source).subscribe(source, listener, from);
    }

    private EventFeed feed(EventSource source) {
        if (PostedFeed.serves(source)) {
            return posted;
        }
        if (!EventEndpoint.isPolled(source.endpoint())) {
            return sockets;
        }
        if (polled == null) {
            throw new IllegalStateException(
                    "its events go to one reader only, so they are not read where the event plane"
                            + " is NATS, which is for several gateways");
        }
        return polled;
    }

    @Override
    public boolean needsEndpoints() {
        return sockets.needsEndpoints();
    }

    @Override
    public long streamPosition() {
        return sockets.streamPosition();
    }

    @Override
    public List<SourceMark> marks() {
        List<SourceMark> all = new ArrayList<>(sockets.marks());
        all.addAll(posted.marks());
        return all;
    }

    @Override
    public void close() {
        posted.close();
        if (polled != null) {
            polled.close();
        }
        sockets.close();
    }
}
