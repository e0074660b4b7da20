package io.warmpath.wiring.events;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.adapter.enginehttp.VertxEngineHttp;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.trtllm.TrtllmEventFeed;
import io.warmpath.adapter.zmq.MessageRoom;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.state.EventPlane;
import io.warmpath.config.state.EventsConfig;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.engines.EngineParts;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.index.SharedPlace;
import io.warmpath.wiring.index.SnapshotPlace;
import io.warmpath.wiring.memory.MemoryPlan;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where KV events come from, and the index they go to: engines' sockets or NATS, what is posted,
 * and what engines are asked for.
 *
 * <p>{@link #open} once, after the state of the process before has been read.
 */
public final class EventParts implements AutoCloseable {
    /** Older releases hold an answer back for two seconds when there is nothing to tell. */
    private static final Duration POLL_PATIENCE = Duration.ofSeconds(10);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    /** A token takes some 60 bytes: half a million of them. */
    private static final int MOST_POLLED_BYTES = 32 << 20;

    private final WarmpathConfig config;
    private final @Nullable PrefixIndex index;
    private final EventCounters counters = new EventCounters();
    private final MessageRoom room;
    private final int mostPolled;
    private final @Nullable NatsLink link;
    private @Nullable PostedFeed posted;
    private @Nullable EventFeed feed;
    private @Nullable VertxEngineHttp questions;

    /** Begins to connect where events come through NATS. */
    public EventParts(WarmpathConfig config, MemoryPlan plan, OverlapParts caches) {
        this.config = config;
        room = new MessageRoom(2 * plan.messages());
        mostPolled = (int) Math.min(MOST_POLLED_BYTES, plan.messages() / 4);
        index = caches.followsEvents() ? caches.index() : null;
        link =
                caches.followsEvents() && config.events().plane() == EventPlane.NATS
                        ? NatsParts.open(config.nats())
                        : null;
    }

    /** Where gateways share what they know; null: nowhere, this one has its own alone. */
    public @Nullable Supplier<SnapshotPlace> sharedState(Announcements control) {
        NatsLink to = link;
        return to == null ? null : () -> shared(config, to, control);
    }

    /**
     * Does nothing when no events are followed.
     *
     * @param engines how engines are spoken to that are asked for their events
     * @param position number of the stream up to which a snapshot has everything; 0: no snapshot
     */
    public void open(Vertx vertx, EngineParts engines, MeterRegistry meters, long position) {
        PrefixIndex into = index;
        if (into == null) {
            return;
        }
        PostedFeed fromRequests = posted(config, into, counters);
        posted = fromRequests;
        feed =
                link == null
                        ? new FeedsByEndpoint(
                                feed(config, into, counters, room, engines.addresses()),
                                fromRequests,
                                polled(vertx, engines, into))
                        : new FeedsByEndpoint(
                                NatsParts.feed(config, link, into, counters, meters, position),
                                fromRequests,
                                null);
    }

    private EventFeed polled(Vertx vertx, EngineParts engines, PrefixIndex into) {
        VertxEngineHttp http =
                new VertxEngineHttp(
                        vertx,
                        POLL_PATIENCE,
                        engines.tls()::applyTo,
                        engines.tls().keys()::of,
                        engines.addresses(),
                        mostPolled);
        questions = http;
        EventsConfig c = config.events();
        return new TrtllmEventFeed(
                http,
                into,
                counters,
                new TrtllmEventFeed.Settings(
                        timing(c), POLL_INTERVAL, c.reconnectMinDelay(), c.reconnectMaxDelay()),
                System::nanoTime);
    }

    /** The process has no memory left, or has again. Any thread. */
    public void memoryFull(boolean now) {
        room.full(now);
    }

    /** All events; null when none are followed. */
    public @Nullable EventFeed feed() {
        return feed;
    }

    /** Those that are posted here; null when none are followed. */
    public @Nullable PostedFeed posted() {
        return posted;
    }

    /** Empty: events come from the engines themselves, or are not followed. */
    public Optional<Boolean> connectedToNats() {
        return Optional.ofNullable(link).map(NatsLink::connected);
    }

    public EventCounters counters() {
        return counters;
    }

    @Override
    public void close() {
        if (feed != null) {
            feed.close();
        }
        if (questions != null) {
            questions.close();
        }
        if (link != null) {
            link.close();
        }
    }

    private static ZmqEventFeed feed(
            WarmpathConfig all,
            PrefixIndex index,
            EventCounters counters,
            MessageRoom room,
            AddressGuard addresses) {
        EventsConfig config = all.events();
        return new ZmqEventFeed(
                index,
                counters,
                new ZmqEventFeed.Settings(
                        config.replayTimeout(),
                        config.auditInterval(),
                        config.stallTimeout(),
                        all.state().expiry(),
                        config.reconnectMinDelay(),
                        config.reconnectMaxDelay()),
                System::nanoTime,
                room,
                addresses);
    }

    private static PostedFeed posted(
            WarmpathConfig all, PrefixIndex index, EventCounters counters) {
        EventsConfig config = all.events();
        return new PostedFeed(index, counters, timing(config), System::nanoTime);
    }

    private static SourceSession.Timing timing(EventsConfig config) {
        return new SourceSession.Timing(
                config.replayTimeout().toNanos(),
                config.auditInterval().toNanos(),
                config.stallTimeout().toNanos());
    }

    private static SnapshotPlace shared(
            WarmpathConfig config, NatsLink link, Announcements control) {
        NatsNames names = NatsParts.names(config.nats());
        String router = NatsParts.routerId(config.nats(), config.http().port());
        control.open(link, names, router);
        return new SharedPlace(config.state().shared(), link, names, router, control);
    }
}
