package io.warmpath.wiring.events;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
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
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.index.SharedPlace;
import io.warmpath.wiring.index.SnapshotPlace;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where KV events come from, and the index they go to: engines' sockets or NATS, and what is
 * posted. {@link #open} once, after the state of the process before has been read.
 */
public final class EventParts implements AutoCloseable {
    private final WarmpathConfig config;
    private final @Nullable PrefixIndex index;
    private final EventCounters counters = new EventCounters();
    private final @Nullable NatsLink link;
    private @Nullable PostedFeed posted;
    private @Nullable EventFeed feed;

    /** Begins to connect where events come through NATS. */
    public EventParts(WarmpathConfig config, OverlapParts caches) {
        this.config = config;
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
     * @param position number of the stream up to which a snapshot has everything; 0: no snapshot
     */
    public void open(AddressGuard addresses, MeterRegistry meters, long position) {
        PrefixIndex into = index;
        if (into == null) {
            return;
        }
        PostedFeed fromRequests = posted(config, into, counters);
        posted = fromRequests;
        feed =
                new FeedsByEndpoint(
                        link == null
                                ? feed(config, into, counters, addresses)
                                : NatsParts.feed(config, link, into, counters, meters, position),
                        fromRequests);
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
        if (link != null) {
            link.close();
        }
    }

    private static ZmqEventFeed feed(
            WarmpathConfig all, PrefixIndex index, EventCounters counters, AddressGuard addresses) {
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
                addresses);
    }

    private static PostedFeed posted(
            WarmpathConfig all, PrefixIndex index, EventCounters counters) {
        EventsConfig config = all.events();
        return new PostedFeed(
                index,
                counters,
                new SourceSession.Timing(
                        config.replayTimeout().toNanos(),
                        config.auditInterval().toNanos(),
                        config.stallTimeout().toNanos()),
                System::nanoTime);
    }

    private static SnapshotPlace shared(
            WarmpathConfig config, NatsLink link, Announcements control) {
        NatsNames names = NatsParts.names(config.nats());
        String router = NatsParts.routerId(config.nats(), config.http().port());
        control.open(link, names, router);
        return new SharedPlace(config.state().shared(), link, names, router, control);
    }
}
