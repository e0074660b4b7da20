package io.warmpath.wiring;

import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceStatus;
import io.warmpath.fleet.EventView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Remembers subscriptions; refuses endpoints that contain {@code refuse}. Any thread. */
public final class TestFeed implements EventFeed {
    public final List<EventSource> open = new CopyOnWriteArrayList<>();
    public final List<EventSource> closed = new CopyOnWriteArrayList<>();

    final Map<EventSource, SourceListener> listeners = new ConcurrentHashMap<>();
    public final Map<EventSource, Integer> computed = new ConcurrentHashMap<>();
    private final Map<EventSource, SourceStatus> told = new ConcurrentHashMap<>();
    public volatile long stored = 9;
    public volatile long offloaded;

    /** From now on the source is in this state, and who listens is told. */
    public void change(
            EventSource source, EventView state, SourceStatus.Belief belief, String why) {
        EventView before = status(source).state();
        told.put(source, status(state, belief, why));
        listeners.get(source).changed(source, before, status(source));
    }

    private SourceStatus status(EventSource source) {
        return told.getOrDefault(
                source,
                status(
                        source.dpRank() == 0 ? EventView.EXACT : EventView.CONNECTING,
                        SourceStatus.Belief.ALL,
                        "as tests say"));
    }

    private SourceStatus status(EventView state, SourceStatus.Belief belief, String why) {
        return new SourceStatus(
                state,
                belief,
                why,
                5_000_000_000L,
                41,
                2_000_000,
                42,
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                stored,
                10,
                offloaded);
    }

    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        if (source.endpoint().contains("refuse")) {
            throw new IllegalArgumentException("cannot connect");
        }
        open.add(source);
        listeners.put(source, listener);
        return new Subscription() {
            @Override
            public EventSource source() {
                return source;
            }

            @Override
            public SourceStatus status() {
                return TestFeed.this.status(source);
            }

            @Override
            public void computed(long began) {
                computed.merge(source, 1, Integer::sum);
            }

            @Override
            public void close() {
                open.remove(source);
                closed.add(source);
            }
        };
    }

    @Override
    public List<SourceMark> marks() {
        return List.of();
    }

    public List<EventSource> open() {
        return new ArrayList<>(open);
    }

    @Override
    public void close() {}
}
