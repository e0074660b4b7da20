package io.warmpath.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Judges workers by the requests that go there, beside their health checks: a worker may say that
 * it is well and fail all the same. {@link #ended} and {@link #firstToken}: any thread, no lock, a
 * few additions; only what can change a verdict is handed over. {@link #tick} one thread, that of
 * the fleet's monitor. A worker whose health checks fail is the monitor's; when it is back it
 * starts with a clean slate.
 */
public final class PassiveHealth implements FleetTask {
    private static final long NEVER = 0;

    private final FleetRegistry registry;
    private final HealthOptions options;
    private final LongSupplier nanoTime;
    private final LatencyWatch latency;
    private final Map<Long, Seen> seen = new ConcurrentHashMap<>();
    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final LongAdder suspensions = new LongAdder();
    private volatile Runnable wake = () -> {};
    private long windowEnd; // tick's

    public PassiveHealth(FleetRegistry registry, HealthOptions options, LongSupplier nanoTime) {
        this.registry = registry;
        this.options = options;
        this.nanoTime = nanoTime;
        this.latency = new LatencyWatch(options);
        this.windowEnd = nanoTime.getAsLong() + options.window().toNanos();
        registry.addListener(
                new FleetListener() {
                    @Override
                    public void changed(Worker before, Worker after, String why) {
                        if (isOthers(before.state()) || isOthers(after.state())) {
                            post(() -> seen.remove(after.id()));
                        }
                    }

                    @Override
                    public void removed(Worker worker) {
                        post(() -> seen.remove(worker.id()));
                    }
                });
        registry.onEnded(this);
    }

    /** Neither ready nor in a state that is given here. */
    private static boolean isOthers(WorkerState state) {
        return state != WorkerState.READY
                && state != WorkerState.FULL
                && state != WorkerState.SUSPENDED
                && state != WorkerState.TRIAL;
    }

    @Override
    public void onWake(Runnable wake) {
        this.wake = wake;
    }

    /** Times a worker was suspended. */
    public long suspensions() {
        return suspensions.sum();
    }

    public void ended(long worker, RequestOutcome outcome, long beganNanos) {
        Seen s = seen.computeIfAbsent(worker, id -> new Seen(options));
        if (outcome == RequestOutcome.OK) {
            long now = nanoTime.getAsLong();
            s.answered.setOpaque(now == NEVER ? now + 1 : now);
        }
        if (outcome != RequestOutcome.OK || s.listens) {
            post(() -> judge(worker, outcome, beganNanos));
        }
    }

    void full(long worker, Duration pause) {
        post(() -> isFull(worker, pause));
    }

    /**
     * When a worker last answered a request well. Any thread.
     *
     * @param otherwise of a worker that has answered none since
     */
    long lastAnswer(long worker, long otherwise) {
        Seen s = seen.get(worker);
        long at = s == null ? NEVER : s.answered.getOpaque();
        return at != NEVER && at - otherwise > 0 ? at : otherwise;
    }

    void firstToken(long worker, long nanos, int computedTokens) {
        Seen s = seen.computeIfAbsent(worker, id -> new Seen(options));
        s.count.increment();
        s.nanos.add(nanos);
        s.tokens.add(computedTokens);
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
        if (now - windowEnd >= 0) {
            windowEnd = now + options.window().toNanos();
            compare(now);
        }
        long next = windowEnd - now;
        for (Map.Entry<Long, Seen> e : seen.entrySet()) {
            Breaker breaker = e.getValue().breaker;
            if (breaker.tick(now)) {
                e.getValue().listens = true;
                registry.tryOut(e.getKey());
            }
            if (breaker.state() == Breaker.State.OPEN) {
                next = Math.min(next, breaker.dueNanos() - now);
            }
            next = Math.min(next, untilRoom(e.getKey(), e.getValue(), now));
        }
        return Math.max(0, next);
    }

    private void judge(long worker, RequestOutcome outcome, long began) {
        Seen s = seen.computeIfAbsent(worker, id -> new Seen(options));
        long now = nanoTime.getAsLong();
        Breaker breaker = s.breaker;
        if (outcome == RequestOutcome.OK) {
            if (breaker.succeeded(began, now)) {
                registry.recovered(worker);
            }
        } else if (breaker.failed(began, now)) {
            suspended(worker, "its requests fail, the last one: " + word(outcome));
        }
        s.listens = breaker.listens();
    }

    private void isFull(long worker, Duration pause) {
        Seen s = seen.computeIfAbsent(worker, id -> new Seen(options));
        long until = nanoTime.getAsLong() + pause.toNanos();
        if (!s.full || until - s.fullUntil > 0) {
            s.fullUntil = until;
        }
        s.full = true;
        registry.full(worker, "its queue is full; it is asked again within " + words(pause));
    }

    private static String words(Duration pause) {
        return Math.max(1, pause.toSeconds()) + " s";
    }

    /** Nanoseconds until its pause is over. */
    private long untilRoom(long worker, Seen s, long now) {
        if (!s.full) {
            return Long.MAX_VALUE;
        }
        if (now - s.fullUntil < 0) {
            return s.fullUntil - now;
        }
        s.full = false;
        registry.room(worker, s.breaker.state() == Breaker.State.TRIAL);
        return Long.MAX_VALUE;
    }

    private static String word(RequestOutcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }

    private void suspended(long worker, String why) {
        suspensions.increment();
        registry.suspend(worker, why);
    }

    private void compare(long now) {
        seen.keySet().removeIf(worker -> registry.byId(worker) == null); // late ends of requests
        List<LatencyWatch.Sample> window = new ArrayList<>();
        Map<Long, Seen> open = new HashMap<>();
        for (Worker w : registry.snapshot().workers()) {
            Seen s = seen.get(w.id());
            if (s != null && w.state() == WorkerState.READY) {
                open.put(w.id(), s);
                window.add(s.take(w.id(), w.models()));
            }
        }
        latency.outliers(window)
                .forEach(
                        (worker, times) -> {
                            Seen s = open.get(worker);
                            if (s != null && s.breaker.open(now)) {
                                suspended(
                                        worker,
                                        "its first tokens take %.0f times as long as its peers'"
                                                .formatted(times));
                            }
                        });
    }

    /** What is known of one worker. The breaker and fullness are the tick's; the rest anybody's. */
    private static final class Seen {
        final Breaker breaker;
        final LongAdder count = new LongAdder();
        final LongAdder nanos = new LongAdder();
        final LongAdder tokens = new LongAdder();
        final AtomicLong answered = new AtomicLong(NEVER); // a hint: opaque, pairs with nothing
        volatile boolean listens;
        boolean full;
        long fullUntil;

        Seen(HealthOptions options) {
            breaker = new Breaker(options);
        }

        // A first token that comes in between may be counted here and timed in the next window.
        LatencyWatch.Sample take(long worker, Object peers) {
            return new LatencyWatch.Sample(
                    worker,
                    peers,
                    count.sumThenReset(),
                    nanos.sumThenReset(),
                    tokens.sumThenReset());
        }
    }
}
