package io.warmpath.wiring.events;

import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceReport;
import io.warmpath.events.SourceStatus;
import io.warmpath.events.TaggedBlocks;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one subscription per event endpoint of every incarnation in the fleet, and says of each how
 * far it can be relied on: in the log, to the look-ups by credits, and to who asks. Called by the
 * registry, one change at a time; getters any thread. Does not own the feed.
 */
public final class EventSubscriptions implements FleetListener, EventWatch {
    private static final Logger LOG = Logger.getLogger(EventSubscriptions.class);

    private static final String NO_SOCKETS =
            "the engine names no event sockets and none is configured; start it with KV events, or"
                    + " set the worker's events-endpoint";

    /** A source that tells nothing of its host memory has said this much of its device's. */
    private static final long DEVICE_ONLY_BLOCKS = 256;

    /** One source of a worker; the subscription is null when it could not be opened. */
    private record Source(
            int dpRank,
            List<WorkerSlot> slots,
            @Nullable EventEndpoint endpoint,
            EventFeed.@Nullable Subscription subscription,
            String problem,
            AtomicBoolean deviceOnlyTold) {
        Source(
                int dpRank,
                List<WorkerSlot> slots,
                @Nullable EventEndpoint endpoint,
                EventFeed.@Nullable Subscription subscription,
                String problem) {
            this(dpRank, slots, endpoint, subscription, problem, new AtomicBoolean());
        }

        SourceStatus status() {
            return subscription == null ? SourceStatus.none(problem) : subscription.status();
        }
    }

    private record Entry(Worker worker, List<Source> sources) {}

    private final EventFeed feed;
    private final SlotCredits credits;
    private final double doubtfulCredit;
    private final Function<EventSource, @Nullable SourceMark> marks;
    private final LongAdder failures = new LongAdder();
    private final TaggedBlocks tagged = new TaggedBlocks();

    // Written under this; decisions on event loops read it without waiting.
    private final Map<Long, Entry> byWorker = new ConcurrentHashMap<>();

    /**
     * @param credits told how far each slot's events are believed
     * @param doubtfulCredit what a block counts that may be gone, 0 to 1
     * @param marks where a source is to go on that another process of ours has followed
     */
    public EventSubscriptions(
            EventFeed feed,
            SlotCredits credits,
            double doubtfulCredit,
            Function<EventSource, @Nullable SourceMark> marks) {
        this.marks = marks;
        this.feed = feed;
        this.credits = credits;
        this.doubtfulCredit = doubtfulCredit;
    }

    @Override
    public synchronized void attached(Worker worker, List<EventEndpoint> events, String noEvents) {
        List<WorkerSlot> slots = worker.ranks().stream().map(Worker.Rank::slot).toList();
        credits.set(slots, 1);
        List<Source> sources = new ArrayList<>();
        List<EventEndpoint> endpoints = events;
        if (events.isEmpty() && !feed.needsEndpoints()) {
            endpoints = worker.ranks().stream().map(EventSubscriptions::byName).toList();
        }
        for (EventEndpoint e : endpoints) {
            sources.add(open(worker, slots, e, endpoints.size() == 1));
        }
        if (endpoints.isEmpty()) {
            sources.add(
                    new Source(0, slots, null, null, noEvents.isEmpty() ? NO_SOCKETS : noEvents));
        }
        byWorker.put(worker.id(), new Entry(worker, List.copyOf(sources)));
    }

    /** Of a rank whose events come under its name, not from a socket. */
    private static EventEndpoint byName(Worker.Rank rank) {
        return new EventEndpoint(rank.dpRank(), "stream", false, null, "");
    }

    private Source open(Worker worker, List<WorkerSlot> slots, EventEndpoint e, boolean only) {
        EventSource source =
                new EventSource(
                        worker.name(),
                        e.dpRank(),
                        slots,
                        worker.numbers(),
                        e.endpoint(),
                        e.bind(),
                        e.replayEndpoint(),
                        e.topic(),
                        worker.blockSize(),
                        worker.id(),
                        tagged);
        // One source may speak for all ranks; of several, each speaks for its own.
        List<WorkerSlot> own =
                only
                        ? slots
                        : e.dpRank() < slots.size() ? List.of(slots.get(e.dpRank())) : List.of();
        try {
            EventFeed.Subscription opened =
                    feed.subscribe(
                            source,
                            (s, before, now) -> changed(s, own, before, now),
                            marks.apply(source));
            return new Source(e.dpRank(), own, e, opened, "");
        } catch (RuntimeException failure) {
            // The index is advice: this worker is then routed by load alone.
            failures.increment();
            LOG.warnf(
                    "Worker %s: no KV events from %s, it is routed by load alone: %s",
                    worker.name(), e.endpoint(), failure.getMessage());
            return new Source(e.dpRank(), own, e, null, String.valueOf(failure.getMessage()));
        }
    }

    /** On the feed's thread: takes no lock that is held while the feed is waited for. */
    private void changed(
            EventSource source, List<WorkerSlot> slots, EventView before, SourceStatus now) {
        double credit = credit(now.belief());
        credits.set(slots, credit);
        String line =
                "KV events of %s/%d: %s, was %s (%s); %.0f%% of what is known of its cache counts";
        boolean bad =
                switch (now.state()) {
                    case GAP, FROZEN, GONE -> true;
                    default -> false;
                };
        boolean wasBad =
                switch (before) {
                    case GAP, FROZEN, GONE -> true;
                    default -> false;
                };
        LOG.logf(
                bad ? Logger.Level.WARN : wasBad ? Logger.Level.INFO : Logger.Level.DEBUG,
                line,
                source.worker(),
                source.dpRank(),
                now.state().word(),
                before.word(),
                now.why(),
                100 * credit);
    }

    private double credit(SourceStatus.Belief belief) {
        return switch (belief) {
            case ALL -> 1;
            case PART -> doubtfulCredit;
            case NOTHING -> 0;
        };
    }

    @Override
    public synchronized void detached(Worker worker) {
        Entry entry = byWorker.remove(worker.id());
        if (entry == null) {
            return;
        }
        for (Source source : entry.sources) {
            EventFeed.Subscription s = source.subscription;
            if (s == null) {
                continue;
            }
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
            // The numbers are given out again, and nothing more is said of the old owner.
            credits.set(source.slots, 1);
        }
    }

    /** An engine that was away may have come back with its sockets. */
    @Override
    public void changed(Worker before, Worker after, String why) {
        Entry entry = byWorker.get(after.id());
        if (entry != null
                && after.state() == WorkerState.READY
                && before.state() != WorkerState.READY) {
            for (Source source : entry.sources) {
                if (source.subscription != null) {
                    source.subscription.hurry();
                }
            }
        }
    }

    /** Subscriptions that are open. */
    public int open() {
        return (int) sources().filter(s -> s.subscription != null).count();
    }

    /** Open subscriptions in this state. */
    public int inState(EventView state) {
        return (int)
                sources()
                        .filter(s -> s.subscription != null && s.subscription.state() == state)
                        .count();
    }

    private Stream<Source> sources() {
        return byWorker.values().stream().flatMap(e -> e.sources.stream());
    }

    /** Every source and every rank without one, by worker name. */
    public List<SourceReport> reports() {
        return byWorker.values().stream()
                .sorted(Comparator.comparing(e -> e.worker.name()))
                .flatMap(e -> e.sources.stream().map(s -> report(e.worker, s)))
                .toList();
    }

    /**
     * Warns, once for each source, of engines that keep blocks in host memory and tell nothing of
     * it. To be called now and then; any thread, microseconds.
     */
    public void checkMedia() {
        for (Entry entry : byWorker.values()) {
            for (Source s : entry.sources) {
                if (entry.worker.offload().host() != HostCopies.NONE
                        && !s.deviceOnlyTold.get()
                        && isDeviceOnly(entry.worker, s.status())
                        && s.deviceOnlyTold.compareAndSet(false, true)) {
                    LOG.warnf(
                            "KV events of %s/%d: its hierarchical cache is on, but all events carry"
                                    + " the medium GPU; what it keeps in host memory is not known"
                                    + " here. Its SGLang lacks the events of the host tier"
                                    + " (sgl-project/sglang#22894); take a newer one",
                            entry.worker.name(), s.dpRank);
                }
            }
        }
    }

    /** Nothing stored below the device, after so much that something must have been. */
    private static boolean isDeviceOnly(Worker worker, SourceStatus s) {
        long said =
                switch (worker.offload().host()) {
                    case NONE, SELECTIVE -> 0;
                    case EARLY -> s.storedBlocks();
                    case ON_EVICTION -> s.removedBlocks();
                };
        return s.offloadedBlocks() == 0 && said >= DEVICE_ONLY_BLOCKS;
    }

    private SourceReport report(Worker worker, Source s) {
        SourceStatus status = s.status();
        return new SourceReport(
                worker.name(),
                worker.id(),
                s.dpRank,
                s.endpoint == null ? null : s.endpoint.endpoint(),
                s.endpoint == null ? null : s.endpoint.replayEndpoint(),
                s.subscription == null ? 1 : credit(status.belief()),
                isDeviceOnly(worker, status),
                status);
    }

    /** That of the rank's own source, or of the one source that all ranks of its worker share. */
    private EventFeed.@Nullable Subscription source(Candidate rank) {
        Entry entry = byWorker.get(rank.worker().id());
        if (entry == null) {
            return null;
        }
        for (Source s : entry.sources) {
            // A new process has the same id, and its own slots.
            if (s.slots.contains(rank.slot())) {
                return s.subscription;
            }
        }
        return null;
    }

    @Override
    public EventTrust of(Candidate rank) {
        EventFeed.Subscription found = source(rank);
        if (found == null) {
            return EventTrust.NONE;
        }
        SourceStatus status = found.status();
        return new EventTrust(status.state(), credit(status.belief()));
    }

    @Override
    public EventView view(Candidate rank) {
        EventFeed.Subscription found = source(rank);
        return found == null ? EventView.NONE : found.state();
    }

    /** When events of this worker last were applied, by {@link System#nanoTime}. Any thread. */
    public long lastEvent(Worker worker, long otherwise) {
        Entry entry = byWorker.get(worker.id());
        long last = otherwise;
        if (entry != null) {
            for (Source s : entry.sources) {
                long age = s.status().lastEventNanos();
                long at = System.nanoTime() - age;
                if (age >= 0 && at - last > 0) {
                    last = at;
                }
            }
        }
        return last;
    }

    @Override
    public void computed(Candidate rank, long began) {
        EventFeed.Subscription found = source(rank);
        if (found != null) {
            found.computed(began);
        }
    }

    @Override
    public void listen(String tag, Stored listener) {
        tagged.listen(tag, listener);
    }

    /** Subscriptions that could not be opened or closed. */
    public long failures() {
        return failures.sum();
    }
}
