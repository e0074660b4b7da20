package io.warmpath.fleet.monitor;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.FleetTask;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Asks engines what they are doing, and tells the load book of requests that did not come through
 * it: those beyond what is booked, the smaller number of two answers in a row, because a request
 * that begins or ends while the engine is asked is in one of the two counts only. {@link #tick} on
 * the fleet's thread; questions run on {@code probes}. {@link #last}: any thread. An answer counts
 * for three intervals.
 */
public final class LoadPoll implements FleetTask {
    /** Takes what others have running on a slot; 0 ends it. */
    public interface Outside {
        void set(WorkerSlot slot, int requests, double blocks);
    }

    /** The last answer of one rank. {@code outside}: requests of it that nobody has booked here. */
    public record Seen(EngineLoad load, int outside) {}

    private static final int STALE_INTERVALS = 3;

    private final FleetRegistry registry;
    private final WorkerProbe probe;
    private final Executor probes;
    private final LongSupplier nanoTime;
    private final LongSupplier intervalNanos;
    private final ToLongFunction<WorkerSlot> booked;
    private final Outside outside;
    private final ObjLongConsumer<List<EngineLoad>> heard;
    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final Map<Long, Map<Integer, Seen>> last = new ConcurrentHashMap<>();
    private final Map<Long, Watch> watches = new HashMap<>(); // tick's
    private volatile Runnable wake = () -> {};

    /**
     * @param interval between two questions to a worker, in nanoseconds; may change at any time
     * @param booked requests on a slot that this gateway knows of
     * @param heard told each answer, by worker; an empty one of a worker that is asked no more
     */
    public LoadPoll(
            FleetRegistry registry,
            WorkerProbe probe,
            Executor probes,
            LongSupplier nanoTime,
            LongSupplier interval,
            ToLongFunction<WorkerSlot> booked,
            Outside outside,
            ObjLongConsumer<List<EngineLoad>> heard) {
        this.registry = registry;
        this.probe = probe;
        this.probes = probes;
        this.nanoTime = nanoTime;
        this.intervalNanos = interval;
        this.booked = booked;
        this.outside = outside;
        this.heard = heard;
    }

    @Override
    public void onWake(Runnable wake) {
        this.wake = wake;
    }

    /** By rank; empty when the worker has not told, or not lately. */
    public Map<Integer, Seen> last(long worker) {
        return last.getOrDefault(worker, Map.of());
    }

    @Override
    public long tick() {
        for (Runnable m = inbox.poll(); m != null; m = inbox.poll()) {
            m.run();
        }
        long now = nanoTime.getAsLong();
        long interval = intervalNanos.getAsLong();
        long next = interval;
        Map<Long, Worker> asked = new HashMap<>();
        for (Worker w : registry.snapshot().workers()) {
            if (w.available() && w.kind() != EngineKind.OPENAI) {
                asked.put(w.id(), w);
                next = Math.min(next, attend(w, now, interval));
            }
        }
        for (Long gone : new ArrayList<>(watches.keySet())) {
            if (!asked.containsKey(gone)) {
                forget(gone);
            }
        }
        return Math.max(0, next);
    }

    private long attend(Worker w, long now, long interval) {
        Watch watch = watches.computeIfAbsent(w.id(), id -> new Watch(now));
        if (!watch.before.isEmpty() && now - watch.answeredNanos >= STALE_INTERVALS * interval) {
            take(watch, w, Map.of());
        }
        if (!watch.inFlight && now - watch.dueNanos >= 0) {
            watch.inFlight = true;
            probes.execute(() -> ask(watch, w));
        }
        return watch.inFlight ? interval : watch.dueNanos - now;
    }

    /** On a probe's thread. */
    private void ask(Watch watch, Worker w) {
        Map<Integer, Long> mine = booked(w);
        List<EngineLoad> said = null;
        WorkerStatus status = registry.byId(w.id());
        if (status != null) {
            try {
                said = ofRanks(w, probe.load(status.spec(), w.kind()));
            } catch (ProbeException | RuntimeException e) {
                said = null; // the health checks tell what is wrong; here it only grows stale
            }
        }
        List<EngineLoad> answer = said;
        booked(w).forEach((rank, now) -> mine.merge(rank, now, Math::max));
        inbox.add(() -> answered(watch, w, answer, mine));
        wake.run();
    }

    /** Ranks that the worker does not have are left out. */
    private static List<EngineLoad> ofRanks(Worker w, List<EngineLoad> told) {
        return told.stream()
                .map(load -> load.as(w.numbers().local(load.dpRank())))
                .filter(load -> load.dpRank() >= 0)
                .toList();
    }

    private Map<Integer, Long> booked(Worker w) {
        Map<Integer, Long> now = new HashMap<>();
        w.ranks().forEach(r -> now.put(r.dpRank(), booked.applyAsLong(r.slot())));
        return now;
    }

    private void answered(
            Watch watch, Worker w, @Nullable List<EngineLoad> said, Map<Integer, Long> mine) {
        long now = nanoTime.getAsLong();
        watch.inFlight = false;
        watch.dueNanos = now + intervalNanos.getAsLong();
        if (said == null || watches.get(w.id()) != watch) {
            return;
        }
        heard.accept(said, w.id());
        Map<Integer, Integer> beyond = new HashMap<>();
        Map<Integer, Seen> seen = new HashMap<>();
        for (EngineLoad load : said) {
            int more = (int) Math.max(0, load.requests() - mine.getOrDefault(load.dpRank(), 0L));
            beyond.put(load.dpRank(), more);
            int certain = Math.min(more, watch.before.getOrDefault(load.dpRank(), 0));
            seen.put(load.dpRank(), new Seen(load, certain));
        }
        watch.before = beyond;
        watch.answeredNanos = now;
        take(watch, w, seen);
    }

    private void take(Watch watch, Worker w, Map<Integer, Seen> seen) {
        last.put(w.id(), Map.copyOf(seen));
        if (seen.isEmpty()) {
            watch.before = Map.of();
        }
        for (Worker.Rank r : w.ranks()) {
            Seen s = seen.get(r.dpRank());
            if (s == null || s.outside() == 0) {
                outside.set(r.slot(), 0, 0);
            } else {
                double share = s.outside() / (double) s.load().requests();
                outside.set(r.slot(), s.outside(), share * s.load().blocks(w));
            }
        }
    }

    private void forget(Long worker) {
        watches.remove(worker);
        last.remove(worker);
        heard.accept(List.of(), worker);
        WorkerStatus s = registry.byId(worker);
        if (s != null) {
            s.worker().ranks().forEach(r -> outside.set(r.slot(), 0, 0));
        }
    }

    /** What is remembered of one worker. */
    private static final class Watch {
        long dueNanos;
        long answeredNanos;
        boolean inFlight;
        Map<Integer, Integer> before = Map.of(); // requests beyond ours, as of the last answer

        Watch(long now) {
            dueNanos = now;
        }
    }
}
