package io.warmpath.fleet.monitor;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.FleetTask;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerProfile;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.probe.ProbeException;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides when which worker is asked, and what an answer means for its state.
 *
 * <p>The usual question is a cheap one, and what a worker does counts more: one that sends bytes or
 * events is only busy, however late it answers. One that has requests and shows no sign of life is
 * asked the deep question of its kind, beside the cheap one; when that fails, it must be answered
 * well, or the worker show a sign of life, before it is well again. One that drains is asked like
 * any other until it leaves; {@link LeftWorkers} asks it from then on.
 *
 * <p>What an engine tells of itself in a form that is not usable keeps it from nothing; it is asked
 * for it again, each time that it is asked what it serves.
 *
 * <p>{@link #tick} runs on one thread only and does not block, except for listeners of the
 * registry; questions run on {@code probes}. {@link #suspect} any thread, no blocking. Times are
 * nanoseconds of the given clock.
 */
public final class FleetMonitor implements FleetTask {
    /**
     * @param healthInterval between checks of a ready worker, or its last good answer and a check;
     *     {@value #BUSY_INTERVALS} of them lie between two checks of one that answers requests
     * @param unhealthyInterval between checks of an unhealthy one
     * @param failuresToUnhealthy failed checks in a row that make a worker unhealthy
     * @param learnMin first pause after a worker did not answer who it is; doubles up to {@code
     *     learnMax}
     * @param drainTimeout a draining worker is removed after this, finished or not
     * @param slowStart how long a worker that came back takes until it gets its full share
     * @param quiet how long a worker may have requests and show no sign of life until it is asked
     *     the deep question
     * @param jitter of a pause between health checks, in nanoseconds, so that gateways and workers
     *     do not fall into step
     */
    public record Timing(
            Duration healthInterval,
            Duration unhealthyInterval,
            int failuresToUnhealthy,
            Duration learnMin,
            Duration learnMax,
            Duration drainTimeout,
            Duration slowStart,
            Duration quiet,
            LongUnaryOperator jitter) {

        /** Without slow start and jitter; quiet for ten seconds. */
        public Timing(
                Duration healthInterval,
                Duration unhealthyInterval,
                int failuresToUnhealthy,
                Duration learnMin,
                Duration learnMax,
                Duration drainTimeout) {
            this(
                    healthInterval,
                    unhealthyInterval,
                    failuresToUnhealthy,
                    learnMin,
                    learnMax,
                    drainTimeout,
                    Duration.ZERO,
                    Duration.ofSeconds(10),
                    LongUnaryOperator.identity());
        }
    }

    /** An answer shows that a worker is well, but not that it says it is draining. */
    private static final int BUSY_INTERVALS = 4;

    /** Between two looks at what a worker serves; the next health check after that takes one. */
    private static final Duration MODELS_INTERVAL = Duration.ofSeconds(10);

    private static final Duration DRAIN_POLL = Duration.ofMillis(100);

    /** How exactly a slow start ends: only then the list of candidates is the snapshot's again. */
    private static final Duration RAMP_POLL = Duration.ofMillis(500);

    private final FleetRegistry registry;
    private final WorkerProbe probe;
    private final Executor probes;
    private final LongSupplier nanoTime;
    private final Timing timing;
    private final ToLongFunction<WorkerSlot> running;
    private final LifeSigns signs;

    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private volatile Runnable wake = () -> {};
    private final LongAdder failedProbes = new LongAdder();

    // Only touched by tick().
    private final Map<Long, Watch> watches = new HashMap<>();
    private long seenVersion = -1;

    /**
     * @param running requests that are running on a slot now
     * @param signs what workers do, beside the answers that the registry knows of
     */
    public FleetMonitor(
            FleetRegistry registry,
            WorkerProbe probe,
            Executor probes,
            LongSupplier nanoTime,
            Timing timing,
            ToLongFunction<WorkerSlot> running,
            LifeSigns signs) {
        this.signs = signs;
        this.registry = registry;
        this.probe = probe;
        this.probes = probes;
        this.nanoTime = nanoTime;
        this.timing = timing;
        this.running = running;
        registry.onFailure(this::suspect);
        registry.addListener(
                new FleetListener() {
                    @Override
                    public void added(Worker worker) {
                        wake.run();
                    }

                    @Override
                    public void changed(Worker before, Worker after, String why) {
                        wake.run();
                    }

                    @Override
                    public void removed(Worker worker) {
                        post(() -> forget(worker.id()));
                    }
                });
    }

    /** The same id may be added again before the next tick, and must start afresh. */
    private void forget(long id) {
        watches.remove(id);
        seenVersion = -1;
    }

    @Override
    public void onWake(Runnable wake) {
        this.wake = wake;
    }

    /** Health checks and questions that failed. */
    public long failedProbes() {
        return failedProbes.sum();
    }

    /** Checks this worker at the next tick. */
    public void suspect(long workerId) {
        post(
                () -> {
                    Watch w = watches.get(workerId);
                    if (w != null) {
                        w.suspected = true;
                    }
                });
    }

    private void post(Runnable message) {
        inbox.add(message);
        wake.run();
    }

    @Override
    public long tick() {
        followRegistry();
        for (Runnable m = inbox.poll(); m != null; m = inbox.poll()) {
            m.run();
        }
        followRegistry();
        long now = nanoTime.getAsLong();
        long next = timing.healthInterval().toNanos();
        if (registry.endRamps(timing.slowStart().toNanos())) {
            next = Math.min(next, RAMP_POLL.toNanos());
        }
        for (Watch w : new ArrayList<>(watches.values())) {
            WorkerStatus s = registry.byId(w.id);
            if (s == null) {
                continue; // removed by an earlier watch of this round
            }
            if (s.worker().state() == WorkerState.DRAINING) {
                if (drained(w, s, now)) {
                    registry.removeDrained(w.id);
                    watches.remove(w.id);
                    seenVersion = -1; // it may be wanted again by now
                    continue;
                }
                next = Math.min(next, DRAIN_POLL.toNanos());
            } else {
                w.drainDeadline = Watch.NONE;
            }
            if (!w.inFlight && (w.suspected || (w.isDue(s, now) && !putOff(w, s, now)))) {
                ask(w, s);
            }
            if (listen(w, s, now)) {
                next = Math.min(next, Suspicion.LISTEN_POLL.toNanos());
            }
            if (!w.inFlight) {
                next = Math.min(next, Math.max(0, w.dueNanos - now));
            }
        }
        return next;
    }

    private void followRegistry() {
        FleetSnapshot snapshot = registry.snapshot();
        if (snapshot.version() == seenVersion) {
            return;
        }
        seenVersion = snapshot.version();
        List<Long> ids = snapshot.workers().stream().map(Worker::id).toList();
        watches.keySet().retainAll(ids);
        long now = nanoTime.getAsLong();
        ids.forEach(id -> watches.computeIfAbsent(id, i -> new Watch(i, now, timing)));
    }

    private boolean drained(Watch w, WorkerStatus s, long now) {
        if (w.drainDeadline == Watch.NONE) {
            // Not at the first look: a request that was decided on the last snapshot may be
            // about to be booked.
            w.drainDeadline = now + timing.drainTimeout().toNanos();
            return false;
        }
        return now - w.drainDeadline >= 0 || !hasRequests(s);
    }

    /** Puts off a check that is due when requests have shown meanwhile that the worker is well. */
    private boolean putOff(Watch w, WorkerStatus s, long now) {
        if (w.failures > 0 || s.worker().state() != WorkerState.READY || w.isToBeLearnt(s)) {
            return false;
        }
        long answered = registry.lastAnswer(w.id, w.knownNanos);
        long last = w.knownNanos + BUSY_INTERVALS * timing.healthInterval().toNanos();
        if (answered == w.knownNanos || last - now <= 0) {
            return false;
        }
        long due = answered + jittered(timing.healthInterval()).toNanos();
        if (due - now <= 0) {
            return false;
        }
        w.dueNanos = now + Math.min(due - now, last - now);
        return true;
    }

    /**
     * Follows how long a worker has been quiet under requests, and asks it when that is too long.
     *
     * @return whether it is to be listened to again soon
     */
    private boolean listen(Watch w, WorkerStatus s, long now) {
        boolean counts =
                switch (s.worker().state()) {
                    case READY, FULL, SUSPENDED, TRIAL, PAUSED, DRAINING, DRAINED -> true;
                    case UNHEALTHY -> w.suspicion.isMute();
                    case STARTING -> false;
                };
        if (!counts || (!w.suspicion.isMute() && !hasRequests(s))) {
            w.suspicion.rest();
            return false;
        }
        if (w.suspicion.listen(now, since -> lastSign(w, s, since))) {
            registry.healthy(w.id);
        }
        if (w.suspicion.isDue(now)) {
            askDeep(w, s);
        }
        return true;
    }

    private boolean hasRequests(WorkerStatus s) {
        return s.worker().ranks().stream().anyMatch(r -> running.applyAsLong(r.slot()) > 0);
    }

    private long lastSign(Watch w, WorkerStatus s, long otherwise) {
        return signs.last(s.worker(), registry.lastAnswer(w.id, otherwise));
    }

    /** The deep question of this worker is open. The monitor's thread. */
    boolean asksDeep(long workerId) {
        Watch w = watches.get(workerId);
        return w != null && w.suspicion.isOpen();
    }

    private void askDeep(Watch w, WorkerStatus s) {
        w.suspicion.asked();
        long asked = nanoTime.getAsLong();
        probes.execute(
                () -> {
                    WorkerProbe.Health seen =
                            safely(() -> probe.deepHealth(s.spec(), s.worker().kind()));
                    post(() -> onDeep(w, s, asked, seen));
                });
    }

    private void ask(Watch w, WorkerStatus s) {
        w.inFlight = true;
        w.askedNanos = nanoTime.getAsLong();
        w.suspected = false;
        boolean learn = w.isToBeLearnt(s);
        boolean models = w.looksAtModels(s, w.askedNanos);
        probes.execute(learn ? () -> learn(w, s, false) : () -> check(w, s, models));
    }

    // On a probe thread: ask, then report back through the inbox.

    private void learn(Watch w, WorkerStatus s, boolean restarted) {
        try {
            WorkerProfile profile = probe.learn(s.spec());
            post(() -> onLearnt(w, s.spec(), profile, restarted));
        } catch (ProbeException | RuntimeException e) {
            post(() -> onNotLearnt(w, s.spec(), String.valueOf(e.getMessage())));
        }
    }

    /** {@code models}: whether it is asked what it serves, too. */
    private void check(Watch w, WorkerStatus s, boolean models) {
        WorkerProbe.Health seen = safely(() -> probe.health(s.spec(), s.worker().kind()));
        post(() -> onHealth(w, s, seen));
        if (models && seen.verdict() == WorkerProbe.Verdict.OK) {
            try {
                if (!w.unread.isEmpty()) {
                    WorkerProfile again = probe.learn(s.spec());
                    post(() -> onReadAgain(w, s.spec(), again));
                    return;
                }
                ServedModels served = probe.served(s.spec());
                post(() -> registry.serves(w.id, served));
            } catch (ProbeException | RuntimeException e) {
                failedProbes.increment(); // it is asked again, and its health is judged elsewhere
            }
        }
    }

    private static WorkerProbe.Health safely(Supplier<WorkerProbe.Health> question) {
        try {
            return question.get();
        } catch (RuntimeException e) {
            return new WorkerProbe.Health(WorkerProbe.Verdict.FAILING, String.valueOf(e));
        }
    }

    // On the monitor's thread.

    private void onLearnt(Watch w, WorkerSpec spec, WorkerProfile profile, boolean restarted) {
        if (watches.get(w.id) != w) {
            return; // removed meanwhile
        }
        try {
            registry.learnt(w.id, profile, restarted);
        } catch (RuntimeException e) { // no slot left, for one
            onNotLearnt(w, spec, String.valueOf(e.getMessage()));
            return;
        }
        w.learntFrom = spec;
        w.unread = profile.unread();
        w.modelsNanos = nanoTime.getAsLong();
        w.processGone = false;
        w.failures = 0;
        w.suspicion.computes();
        w.backoff = timing.learnMin();
        w.rest(nanoTime.getAsLong(), jittered(timing.healthInterval()));
    }

    /** Facts that could not be had before may be there; the worker serves with what it had. */
    private void onReadAgain(Watch w, WorkerSpec spec, WorkerProfile profile) {
        WorkerStatus s = registry.byId(w.id);
        if (watches.get(w.id) != w || s == null || !s.spec().equals(spec)) {
            return; // removed meanwhile, or another
        }
        if (profile.unread().equals(w.unread) || s.worker().state() != WorkerState.READY) {
            registry.serves(w.id, profile.served());
        } else {
            w.unread = profile.unread();
            registry.learnt(w.id, profile, false);
        }
    }

    private boolean isLeaving(long id) {
        WorkerStatus s = registry.byId(id);
        return s == null || s.worker().state() == WorkerState.DRAINING;
    }

    private Duration jittered(Duration pause) {
        return Duration.ofNanos(timing.jitter().applyAsLong(pause.toNanos()));
    }

    private void onNotLearnt(Watch w, WorkerSpec spec, String problem) {
        if (watches.get(w.id) != w) {
            return; // removed meanwhile
        }
        failedProbes.increment();
        w.failedFrom = spec;
        registry.unhealthy(w.id, problem);
        w.rest(nanoTime.getAsLong(), w.backoff);
        Duration twice = w.backoff.multipliedBy(2);
        w.backoff = twice.compareTo(timing.learnMax()) > 0 ? timing.learnMax() : twice;
    }

    private void onHealth(Watch w, WorkerStatus s, WorkerProbe.Health health) {
        if (watches.get(w.id) != w) {
            return; // removed meanwhile
        }
        if (health.verdict() == WorkerProbe.Verdict.OK) {
            w.failures = 0;
            if (w.processGone && !isLeaving(w.id)) {
                // Refused before, answers now: a new process with an empty cache, which may even
                // serve another model.
                probes.execute(() -> learn(w, s, true));
                return;
            }
            if (!w.suspicion.isMute()) {
                registry.healthy(w.id);
            } else if (!w.suspicion.isOpen()) {
                askDeep(w, s);
            }
            w.rest(nanoTime.getAsLong(), jittered(timing.healthInterval()));
            return;
        }
        if (health.verdict() == WorkerProbe.Verdict.NOT_ASKED) {
            w.rest(nanoTime.getAsLong(), jittered(timing.unhealthyInterval()));
            return;
        }
        if (health.verdict() == WorkerProbe.Verdict.LATE
                && lastSign(w, s, w.askedNanos) != w.askedNanos) {
            w.failures = 0; // it is busy: something came from it while it was asked
            w.rest(nanoTime.getAsLong(), jittered(timing.healthInterval()));
            return;
        }
        failedProbes.increment();
        boolean refused = health.verdict() == WorkerProbe.Verdict.REFUSED;
        boolean knows = health.verdict() == WorkerProbe.Verdict.UNAVAILABLE;
        w.processGone |= refused;
        w.failures++;
        boolean takesNone = health.verdict() == WorkerProbe.Verdict.DRAINING;
        if (takesNone || (knows && s.worker().state().isTakenOut())) {
            if (!w.suspicion.isMute()) {
                registry.paused(w.id, health.detail());
            }
        } else if (refused || knows || w.failures >= timing.failuresToUnhealthy()) {
            registry.unhealthy(w.id, health.detail(), refused);
        }
        w.rest(nanoTime.getAsLong(), jittered(timing.unhealthyInterval()));
    }

    private void onDeep(Watch w, WorkerStatus s, long asked, WorkerProbe.Health health) {
        if (watches.get(w.id) != w) {
            return; // removed meanwhile
        }
        long now = nanoTime.getAsLong();
        if (health.verdict() == WorkerProbe.Verdict.OK || lastSign(w, s, asked) != asked) {
            if (w.suspicion.answeredWell(now)) {
                registry.healthy(w.id);
            }
            return;
        }
        if (health.verdict() == WorkerProbe.Verdict.NOT_ASKED
                || health.verdict() == WorkerProbe.Verdict.DRAINING) {
            w.suspicion.notAsked(now);
            return;
        }
        failedProbes.increment();
        if (w.suspicion.answeredBadly(now)) {
            registry.unhealthy(w.id, "it has requests, and computes nothing: " + health.detail());
        }
    }

    /** What the monitor remembers of one worker. */
    private static final class Watch {
        static final long NONE = Long.MIN_VALUE;

        final long id;
        long knownNanos; // when the last question ended, at first when the watch began
        long dueNanos;
        boolean inFlight;
        long askedNanos;
        final Suspicion suspicion;
        boolean suspected;
        boolean processGone;
        int failures;
        @Nullable WorkerSpec learntFrom;
        volatile List<String> unread = List.of(); // of what it tells; a probe's thread looks too
        long modelsNanos; // when it was last asked what it serves
        @Nullable WorkerSpec failedFrom; // has been tried, is tried again when the pause is over
        Duration backoff;
        long drainDeadline = NONE;

        Watch(long id, long now, Timing timing) {
            this.id = id;
            this.knownNanos = now;
            this.dueNanos = now;
            this.backoff = timing.learnMin();
            this.suspicion =
                    new Suspicion(
                            now,
                            timing.quiet(),
                            timing.healthInterval(),
                            timing.failuresToUnhealthy());
        }

        boolean isDue(WorkerStatus s, long now) {
            return dueNanos - now <= 0 || (isToBeLearnt(s) && !s.spec().equals(failedFrom));
        }

        /** It is time to ask what it serves; then the next time is counted from now. */
        boolean looksAtModels(WorkerStatus s, long now) {
            if ((!s.spec().models().isEmpty() && unread.isEmpty())
                    || learntFrom == null
                    || now - modelsNanos < MODELS_INTERVAL.toNanos()) {
                return false;
            }
            modelsNanos = now;
            return true;
        }

        /** It has not said who it is, or has another record by now; one that leaves need not. */
        boolean isToBeLearnt(WorkerStatus s) {
            WorkerState state = s.worker().state();
            return state == WorkerState.STARTING
                    || (state != WorkerState.DRAINING
                            && learntFrom != null
                            && !learntFrom.equals(s.spec()));
        }

        void rest(long now, Duration pause) {
            inFlight = false;
            knownNanos = now;
            dueNanos = now + pause.toNanos();
        }
    }
}
