package io.warmpath.wiring.index;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.config.state.StateConfig;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.state.RestoredSlots;
import io.warmpath.state.SnapshotCounters;
import io.warmpath.telemetry.StateMeters;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the index and where its sources stood over a restart: in a directory, or shared with other
 * gateways, when one of them is configured. What is there is taken up on construction; {@link
 * #start} once; {@link #close} once, before the fleet is closed, as that empties the index.
 * Snapshots are written on a thread of their own.
 */
public final class StateParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(StateParts.class);

    private final SnapshotCounters counters = new SnapshotCounters();
    private final StateConfig config;
    private final WorkerSlots slots;
    private final @Nullable SnapshotPlace place;
    private final @Nullable IndexSnapshots snapshots;
    private final @Nullable PrefixIndex index;
    private final @Nullable RestoredSlots restored;
    private final long position;

    /** Nothing of a process before is taken up. */
    private final boolean fresh;

    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("warmpath-state").factory());
    private @Nullable Beside beside;
    private @Nullable EventFeed feed;
    private @Nullable FleetRegistry fleet;

    /** What lies beside the snapshots, written when it has changed. */
    private static final class Beside {
        private final String name;
        private final LongSupplier version;
        private final Supplier<byte[]> bytes;
        private long written;
        private long writtenNanos;

        Beside(String name, LongSupplier version, Supplier<byte[]> bytes) {
            this.name = name;
            this.version = version;
            this.bytes = bytes;
            written = version.getAsLong();
            writtenNanos = System.nanoTime();
        }

        void look(SnapshotPlace to, long interval, boolean last) throws IOException {
            long now = System.nanoTime();
            long is = version.getAsLong();
            if (is != written && (last || now - writtenNanos >= interval)) {
                to.keepBeside(name, bytes.get());
                written = is;
                writtenNanos = now;
            }
        }
    }

    /** Of the snapshot thread: whether the last look failed. One line per change, not per look. */
    private boolean failing;

    /**
     * @param shared makes the place that several gateways share; null: there is none
     * @throws StartFailure when what is configured cannot be used
     */
    public StateParts(
            StateConfig config, OverlapParts caches, @Nullable Supplier<SnapshotPlace> shared) {
        this.config = config;
        String directory = config.directory().orElse("");
        if (directory.isEmpty() && shared == null) {
            slots = caches.slots();
            place = null;
            snapshots = null;
            index = null;
            restored = null;
            position = 0;
            fresh = false;
            return;
        }
        index = caches.index();
        String what = shared == null ? "warmpath.state.directory" : "warmpath.events.plane=nats";
        if (shared != null && !directory.isEmpty()) {
            throw new StartFailure(
                    "warmpath.state.directory is set, but with warmpath.events.plane=nats snapshots"
                            + " lie in NATS' object store. Unset one of them.");
        }
        if (!caches.followsEvents()) {
            throw new StartFailure(
                    what
                            + " is set, but this gateway follows no KV events: what"
                            + " it decided itself is not kept over a restart. Unset one of them.");
        }
        if (!(index instanceof IndexSnapshots able)) {
            throw new StartFailure(
                    what + " needs the native index; unset it, or warmpath.index.implementation.");
        }
        snapshots = able;
        SnapshotPlace from = shared == null ? new DirectoryPlace(config, directory) : shared.get();
        place = from;
        fresh = shared == null && config.shared().reset();
        Optional<SnapshotPlace.TakenUp> loaded = fresh ? left(from) : load(from, able);
        List<Label> labels = loaded.map(SnapshotPlace.TakenUp::slots).orElse(List.of());
        position = loaded.map(SnapshotPlace.TakenUp::position).orElse(0L);
        caches.adopt(labels.stream().map(Label::slot).toList());
        restored =
                new RestoredSlots(
                        caches.slots(),
                        labels,
                        loaded.map(SnapshotPlace.TakenUp::marks).orElse(List.of()));
        slots = restored;
    }

    private static Optional<SnapshotPlace.TakenUp> left(SnapshotPlace from) {
        LOG.infof("--router-reset-states: what lies in %s is not taken up", from);
        return Optional.empty();
    }

    private static Optional<SnapshotPlace.TakenUp> load(SnapshotPlace from, IndexSnapshots into) {
        long begin = System.nanoTime();
        try {
            Optional<SnapshotPlace.TakenUp> loaded = from.load(into, LOG::warn);
            LOG.info(
                    loaded.map(
                                    l ->
                                            String.format(
                                                    Locale.ROOT,
                                                    "Took up %s: %d ranks, %d bytes, in %d ms",
                                                    l.inWords(),
                                                    l.slots().size(),
                                                    l.bytes(),
                                                    (System.nanoTime() - begin) / 1_000_000))
                            .orElse("No snapshot in " + from + ": the index starts empty"));
            return loaded;
        } catch (IOException e) {
            throw new StartFailure("snapshots in " + from + ": " + e.getMessage());
        }
    }

    /** Those that the fleet opens and closes. */
    public WorkerSlots slots() {
        return slots;
    }

    /** Stream sequence up to which everything was taken up; 0: nothing. */
    public long position() {
        return position;
    }

    /** Where a source goes on; null: from its beginning. */
    public @Nullable SourceMark mark(EventSource source) {
        RestoredSlots r = restored;
        PrefixIndex i = index;
        if (r == null || i == null) {
            return null;
        }
        WorkerSlot slot = source.ownSlot();
        return r.join(slot, () -> i.apply(List.of(new PrefixEvent.Cleared(slot))));
    }

    /** What {@link #keep} has left behind in a process before; empty where nothing is kept. */
    public Optional<byte[]> kept(String name) throws IOException {
        return place == null || fresh ? Optional.empty() : place.beside(name);
    }

    /**
     * Lets something small lie beside the snapshots, where there are any. Before {@link #start}.
     *
     * @param version another one after every change
     */
    public void keep(String name, LongSupplier version, Supplier<byte[]> bytes) {
        beside = new Beside(name, version, bytes);
    }

    public void bind(MeterRegistry registry) {
        if (place != null) {
            StateMeters.bind(registry, counters);
        }
    }

    /**
     * Begins to write. {@code feed}: null: no events are followed, and there is nothing to write.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // look() and expire() let nothing out
    public void start(@Nullable EventFeed feed, FleetRegistry fleet) {
        SnapshotPlace to = place;
        if (to == null || feed == null) {
            return;
        }
        this.feed = feed;
        this.fleet = fleet;
        long every = to.every().toNanos();
        thread.scheduleWithFixedDelay(() -> look(false), every, every, TimeUnit.NANOSECONDS);
        thread.schedule(this::expire, config.expiry().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void expire() {
        RestoredSlots r = restored;
        try {
            int gone = r == null ? 0 : r.expire();
            if (gone > 0) {
                LOG.infof("%d ranks from the snapshot were claimed by no worker: forgotten", gone);
            }
        } catch (RuntimeException e) {
            LOG.warn("Forgetting unclaimed ranks of the snapshot failed", e);
        }
    }

    private void look(boolean last) {
        SnapshotPlace to = place;
        IndexSnapshots from = snapshots;
        FleetRegistry registry = fleet;
        EventFeed events = feed;
        RestoredSlots r = restored;
        if (to == null || from == null || registry == null || events == null || r == null) {
            return;
        }
        try {
            Beside b = beside;
            if (b != null) {
                b.look(to, config.interval().toNanos(), last);
            }
            long bytes = to.look(from, () -> view(registry, events, r), last);
            if (bytes > 0) {
                counters.written(bytes);
            }
            if (failing) {
                LOG.infof("Snapshots in %s can be written again", to);
                failing = false;
            }
        } catch (IOException | SnapshotException | RuntimeException e) {
            counters.failed();
            if (!failing) {
                LOG.warnf("No snapshot of the index in %s: %s; tried again and again", to, e);
                failing = true;
            }
        }
    }

    private static SnapshotPlace.View view(
            FleetRegistry registry, EventFeed events, RestoredSlots restored) {
        // First, so that nothing is taken for applied that is not in the marks.
        long position = events.streamPosition();
        List<SourceMark> heard = events.marks();
        long version = registry.snapshot().version();
        List<Label> labels = new ArrayList<>(restored.unclaimed());
        for (WorkerStatus s : registry.status()) {
            s.worker()
                    .ranks()
                    .forEach(k -> labels.add(new Label(k.slot(), s.worker().id(), k.dpRank())));
        }
        return new SnapshotPlace.View(heard, restored.pending(), labels, position, version);
    }

    /** Writes once more. */
    @Override
    public void close() {
        thread.shutdownNow();
        try {
            if (!thread.awaitTermination(1, TimeUnit.MINUTES)) {
                LOG.warn("A snapshot of the index did not end within a minute");
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        look(true);
        try {
            if (place != null) {
                place.close();
            }
        } catch (IOException e) {
            LOG.warnf("Snapshots in %s were not closed: %s", place, e);
        }
    }
}
