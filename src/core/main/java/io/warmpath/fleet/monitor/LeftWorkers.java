package io.warmpath.fleet.monitor;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.FleetTask;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Asks workers on that have left the fleet, until the last of their requests has ended. One that
 * fails its checks then is lost: nobody will ever say that it is well again. {@link #tick} on the
 * fleet's thread; questions run on {@code probes}.
 */
public final class LeftWorkers implements FleetTask {
    /** Who sees to the requests. Called on the fleet's thread. */
    public interface Requests {
        /** Nobody: they wait for their own time-outs. */
        Requests NONE =
                new Requests() {
                    @Override
                    public void lost(Worker worker) {}

                    @Override
                    public void ended(Worker worker) {}
                };

        /** Nothing will come any more from where nothing has come for a while. */
        void lost(Worker worker);

        /** None is left, and no other worker has its address. */
        void ended(Worker worker);
    }

    private final FleetRegistry registry;
    private final WorkerProbe probe;
    private final Executor probes;
    private final LongSupplier nanoTime;
    private final FleetMonitor.Timing timing;
    private final Predicate<Set<WorkerSlot>> running;
    private final LifeSigns signs;
    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final List<Left> left = new ArrayList<>(); // tick's
    private volatile Runnable wake = () -> {};
    private volatile Requests requests = Requests.NONE;

    /** {@code running}: whether a request runs on one of these slots, which are closed by now. */
    public LeftWorkers(
            FleetRegistry registry,
            WorkerProbe probe,
            Executor probes,
            LongSupplier nanoTime,
            FleetMonitor.Timing timing,
            Predicate<Set<WorkerSlot>> running,
            LifeSigns signs) {
        this.registry = registry;
        this.probe = probe;
        this.probes = probes;
        this.nanoTime = nanoTime;
        this.timing = timing;
        this.running = running;
        this.signs = signs;
        registry.addListener(
                new FleetListener() {
                    @Override
                    public void removed(Worker worker) {
                        post(() -> left.add(new Left(worker, nanoTime.getAsLong())));
                    }
                });
    }

    @Override
    public void onWake(Runnable wake) {
        this.wake = wake;
    }

    /** From now on. */
    public void seenToBy(Requests by) {
        requests = by;
    }

    private void post(Runnable message) {
        inbox.add(message);
        wake.run();
    }

    @Override
    public long tick() {
        for (Runnable m = inbox.poll(); m != null; m = inbox.poll()) {
            m.run();
        }
        long now = nanoTime.getAsLong();
        for (Left l : List.copyOf(left)) {
            // Not at once: a request that was decided on the last snapshot may be about to be
            // booked.
            if (now - l.sinceNanos >= Suspicion.LISTEN_POLL.toNanos() && !running.test(l.slots)) {
                left.remove(l);
                if (registry.idAt(l.worker.url()) == null) {
                    requests.ended(l.worker);
                }
            } else if (!l.lost && !l.inFlight && now - l.dueNanos >= 0) {
                ask(l, now);
            }
        }
        long longest = timing.healthInterval().toNanos();
        return left.isEmpty() ? longest : Math.min(longest, timing.unhealthyInterval().toNanos());
    }

    private void ask(Left l, long now) {
        l.inFlight = true;
        boolean quiet = now - signs.last(l.worker, l.sinceNanos) >= timing.quiet().toNanos();
        probes.execute(
                () -> {
                    WorkerProbe.Verdict seen = verdict(l, quiet);
                    post(() -> answered(l, now, seen));
                });
    }

    /** {@code deep}: it has been quiet, and is to show that it computes. */
    private WorkerProbe.Verdict verdict(Left l, boolean deep) {
        try {
            return (deep
                            ? probe.deepHealth(l.spec, l.worker.kind())
                            : probe.health(l.spec, l.worker.kind()))
                    .verdict();
        } catch (RuntimeException e) {
            return WorkerProbe.Verdict.FAILING;
        }
    }

    private void answered(Left l, long asked, WorkerProbe.Verdict seen) {
        l.inFlight = false;
        boolean fails =
                switch (seen) {
                    // One that ends takes nothing new, not even connections, and finishes what it
                    // has; when its process has ended, its connections break.
                    case OK, UNAVAILABLE, DRAINING, REFUSED, NOT_ASKED -> false;
                    case LATE -> signs.last(l.worker, asked) == asked;
                    case FAILING -> true;
                };
        l.failures = fails ? l.failures + 1 : 0;
        l.dueNanos =
                nanoTime.getAsLong()
                        + (fails ? timing.unhealthyInterval() : timing.healthInterval()).toNanos();
        if (l.failures >= timing.failuresToUnhealthy()) {
            l.lost = true;
            requests.lost(l.worker);
        }
    }

    /** One that has left. */
    private static final class Left {
        final Worker worker;
        final WorkerSpec spec;
        final Set<WorkerSlot> slots;
        final long sinceNanos;
        long dueNanos;
        boolean inFlight;
        boolean lost;
        int failures; // in a row

        Left(Worker worker, long now) {
            this.worker = worker;
            this.spec =
                    new WorkerSpecBuilder(worker.url())
                            .kind(worker.kind())
                            .role(worker.disaggregation().role(), 0)
                            .build();
            this.slots = worker.ranks().stream().map(Worker.Rank::slot).collect(Collectors.toSet());
            this.sinceNanos = now;
            this.dueNanos = now;
        }
    }
}
