package io.warmpath.wiring;

import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.Trust;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers subscriptions; refuses endpoints that contain {@code refuse}. Any thread. */
final class TestFeed implements EventFeed {
    final List<EventSource> open = new CopyOnWriteArrayList<>();
    final List<EventSource> closed = new CopyOnWriteArrayList<>();

    @Override
    public Subscription subscribe(EventSource source) {
        if (source.endpoint().contains("refuse")) {
            throw new IllegalArgumentException("cannot connect");
        }
        open.add(source);
        return new Subscription() {
            @Override
            public EventSource source() {
                return source;
            }

            @Override
            public Trust trust() {
                return source.dpRank() == 0 ? Trust.COMPLETE : Trust.PENDING;
            }

            @Override
            public void close() {
                open.remove(source);
                closed.add(source);
            }
        };
    }

    List<EventSource> open() {
        return new ArrayList<>(open);
    }

    @Override
    public void close() {}
}
