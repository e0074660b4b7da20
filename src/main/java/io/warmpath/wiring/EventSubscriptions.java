package io.warmpath.wiring;

import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jboss.logging.Logger;

/**
 * Keeps one subscription per event endpoint of every incarnation in the fleet.
 *
 * <p>Called by the registry, one change at a time; getters any thread. Does not own the feed.
 */
public final class EventSubscriptions implements FleetListener, EventWatch {
    private static final Logger LOG = Logger.getLogger(EventSubscriptions.class);

    private final EventFeed feed;
    private final LongAdder failures = new LongAdder();

    // Written under this; decisions on event loops read it without waiting.
    private final Map<Long, List<EventFeed.Subscription>> byWorker = new ConcurrentHashMap<>();

    public EventSubscriptions(EventFeed feed) {
        this.feed = feed;
    }

    @Override
    public synchronized void attached(Worker worker, List<EventEndpoint> events) {
        List<WorkerSlot> slots = worker.ranks().stream().map(Worker.Rank::slot).toList();
        List<EventFeed.Subscription> opened = new ArrayList<>();
        for (EventEndpoint e : events) {
            EventSource source =
                    new EventSource(
                            worker.name(),
                            e.dpRank(),
                            slots,
                            e.endpoint(),
                            e.bind(),
                            e.replayEndpoint(),
                            e.topic(),
                            worker.blockSize());
            try {
                opened.add(feed.subscribe(source));
            } catch (RuntimeException failure) {
                // The index is advice: this worker is then routed by load alone.
                failures.increment();
                LOG.warnf(
                        "Worker %s: no KV events from %s, it is routed by load alone: %s",
                        worker.name(), e.endpoint(), failure.getMessage());
            }
        }
        byWorker.put(worker.id(), List.copyOf(opened));
    }

    @Override
    public synchronized void detached(Worker worker) {
        List<EventFeed.Subscription> open = byWorker.remove(worker.id());
        if (open == null) {
            return;
        }
        for (EventFeed.Subscription s : open) {
            try {
                s.close();
            } catch (RuntimeException failure) {
                failures.increment();
                LOG.warnf(
                        failure,
                        "Worker %s: its subscription to %s did not close cleanly",
                        worker.name(),
                        s.source().endpoint());
            }
        }
    }

    /** Subscriptions that are open. */
    public synchronized int open() {
        return byWorker.values().stream().mapToInt(List::size).sum();
    }

    /** That of the rank's own source, or of the one source that all ranks of its worker share. */
    @Override
    public EventView of(Candidate rank) {
        List<EventFeed.Subscription> open = byWorker.getOrDefault(rank.worker().id(), List.of());
        EventFeed.Subscription found = open.size() == 1 ? open.getFirst() : null;
        for (int i = 0; i < open.size(); i++) {
            if (open.get(i).source().dpRank() == rank.dpRank()) {
                found = open.get(i);
            }
        }
        // A new process has the same id, and its own slots.
        if (found == null || !found.source().slots().contains(rank.slot())) {
            return EventView.NONE;
        }
        return switch (found.trust()) {
            case COMPLETE -> EventView.COMPLETE;
            case PENDING -> EventView.PENDING;
            case INCOMPLETE -> EventView.INCOMPLETE;
        };
    }

    /** Open subscriptions whose view is complete. */
    public synchronized int trusted() {
        return (int)
                byWorker.values().stream()
                        .flatMap(List::stream)
                        .filter(EventFeed.Subscription::trusted)
                        .count();
    }

    /** Subscriptions that could not be opened or closed. */
    public long failures() {
        return failures.sum();
    }
}
