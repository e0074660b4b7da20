package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.config.StateConfig;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.prefix.IndexSnapshots;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import io.warmpath.prefix.IndexSnapshots.Taken;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.state.RestoredSlots;
import io.warmpath.state.SnapshotCounters;
import io.warmpath.state.StateStore;
import io.warmpath.telemetry.StateMeters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the index and where its sources stood over a restart, when a directory is configured.
 *
 * <p>What is there is taken up on construction; {@link #start} once; {@link #close} once, before
 * the fleet is closed, as that empties the index. Snapshots are written on a thread of their own.
 */
final class StateParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(StateParts.class);

    private final SnapshotCounters counters = new SnapshotCounters();
    private final StateConfig config;
    private final WorkerSlots slots;
    private final @Nullable StateStore store;
    private final @Nullable IndexSnapshots snapshots;
    private final @Nullable PrefixIndex index;
    private final @Nullable RestoredSlots restored;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("warmpath-state").factory());
    private @Nullable EventFeed feed;
    private @Nullable FleetRegistry fleet;

    // Of the snapshot thread: an unchanged index is not written again.
    private long writtenApplied = -1;
    private long writtenFleet = -1;

    /**
     * @throws StartFailure when a directory is configured and cannot be used
     */
    StateParts(StateConfig config, OverlapParts caches) {
        this.config = config;
        String directory = config.directory().orElse("");
        if (directory.isEmpty()) {
            slots = caches.slots();
            store = null;
            snapshots = null;
            index = null;
            restored = null;
            return;
        }
        index = caches.index();
        if (!caches.followsEvents()) {
            throw new StartFailure(
                    "warmpath.state.directory is set, but this gateway follows no KV events: what"
                            + " it decided itself is not kept over a restart. Unset one of them.");
        }
        if (!(index instanceof IndexSnapshots able)) {
            throw new StartFailure(
                    "warmpath.state.directory needs the native index; unset it, or"
                            + " warmpath.index.implementation.");
        }
        snapshots = able;
        try {
            store = new StateStore(Path.of(directory));
            Optional<StateStore.Loaded> loaded = store.load(able, LOG::warn);
            List<Label> labels = loaded.map(StateStore.Loaded::slots).orElse(List.of());
            caches.adopt(labels.stream().map(Label::slot).toList());
            restored =
                    new RestoredSlots(
                            caches.slots(),
                            labels,
                            loaded.map(StateStore.Loaded::marks).orElse(List.of()));
            slots = restored;
            LOG.info(
                    loaded.map(
                                    l ->
                                            "Took up "
                                                    + l.file()
                                                    + ": "
                                                    + l.slots().size()
                                                    + " ranks, "
                                                    + l.bytes()
                                                    + " bytes")
                            .orElse("No snapshot in " + directory + ": the index starts empty"));
        } catch (IOException e) {
            throw new StartFailure("warmpath.state.directory: " + e.getMessage());
        }
    }

    /** Those that the fleet opens and closes. */
    WorkerSlots slots() {
        return slots;
    }

    /** Where a source goes on; null: from its beginning. */
    @Nullable SourceMark mark(EventSource source) {
        RestoredSlots r = restored;
        PrefixIndex i = index;
        if (r == null || i == null) {
            return null;
        }
        WorkerSlot slot = source.ownSlot();
        return r.join(slot, () -> i.apply(List.of(new PrefixEvent.Cleared(slot))));
    }

    void bind(MeterRegistry registry) {
        if (store != null) {
            StateMeters.bind(registry, counters);
        }
    }

    /** Begins to write. */
    @SuppressWarnings("FutureReturnValueIgnored") // write() and expire() let nothing out
    void start(EventFeed feed, FleetRegistry fleet) {
        if (store == null) {
            return;
        }
        this.feed = feed;
        this.fleet = fleet;
        long every = config.interval().toNanos();
        thread.scheduleWithFixedDelay(this::write, every, every, TimeUnit.NANOSECONDS);
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

    private void write() {
        try {
            writeIfChanged();
        } catch (IOException | SnapshotException | RuntimeException e) {
            counters.failed();
            LOG.warnf("A snapshot of the index was not written: %s; tried again later", e);
        }
    }

    private void writeIfChanged() throws IOException, SnapshotException {
        StateStore to = store;
        IndexSnapshots from = snapshots;
        FleetRegistry registry = fleet;
        EventFeed events = feed;
        RestoredSlots r = restored;
        if (to == null || from == null || registry == null || events == null || r == null) {
            return;
        }
        List<SourceMark> marks = new ArrayList<>(events.marks());
        long applied = marks.stream().mapToLong(SourceMark::next).sum();
        long version = registry.snapshot().version();
        if (applied == writtenApplied && version == writtenFleet) {
            return;
        }
        marks.addAll(r.pending());
        List<Label> labels = new ArrayList<>(r.unclaimed());
        for (WorkerStatus s : registry.status()) {
            s.worker()
                    .ranks()
                    .forEach(k -> labels.add(new Label(k.slot(), s.worker().id(), k.dpRank())));
        }
        long begin = System.nanoTime();
        Taken taken = to.save(from, labels, marks);
        writtenApplied = applied;
        writtenFleet = version;
        counters.written(taken.bytes());
        LOG.debugf(
                "Snapshot of %d bytes in %d ms, writers held for at most %d us",
                taken.bytes(),
                (System.nanoTime() - begin) / 1_000_000,
                taken.longestHoldNanos() / 1_000);
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
        write();
        try {
            if (store != null) {
                store.close();
            }
        } catch (IOException e) {
            LOG.warnf("The lock on the state directory did not go: %s", e);
        }
    }
}
