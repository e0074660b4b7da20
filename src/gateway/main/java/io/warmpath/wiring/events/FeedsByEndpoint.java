package io.warmpath.wiring.events;

import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceMark;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives each source to the feed that its endpoint belongs to. Any thread. */
record FeedsByEndpoint(EventFeed sockets, PostedFeed posted) implements EventFeed {
    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        EventFeed feed = PostedFeed.serves(source) ? posted : sockets;
        return feed.subscribe(source, listener, from);
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
        sockets.close();
    }
}
