package io.warmpath.gateway.agent;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.session.ControlledSession.Place;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Tells engines to let go of sessions, some at once, the others in a queue; again after a while
 * when one does not answer. What is given up, the engine itself ends by its own time-out. {@link
 * #accept} any thread, never waits; all else on one event loop of its own.
 */
public final class SessionCloser implements Consumer<Place> {
    private static final Logger LOG = Logger.getLogger(SessionCloser.class);
    private static final int AT_ONCE = 16;
    private static final int TRIES = 3;
    private static final long FIRST_PAUSE_MILLIS = 1_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** How closes ended. */
    public enum Result {
        OK,
        /** After all tries. */
        FAILED,
        /** The engine is gone, or another process: so is the session. */
        GONE,
        /** The queue was full. */
        DROPPED
    }

    private record Job(Place place, int tries) {}

    private final Vertx vertx;
    private final Fleet fleet;
    private final int max;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Map<Result, LongAdder> results = new EnumMap<>(Result.class);
    private volatile @Nullable EngineSessions sessions;
    private volatile @Nullable Context context;

    // Event loop only.
    private final ArrayDeque<Job> queue = new ArrayDeque<>();
    private int running;

    /** {@code max}: closes that may wait. */
    public SessionCloser(Vertx vertx, Fleet fleet, int max) {
        this.vertx = vertx;
        this.fleet = fleet;
        this.max = max;
        for (Result r : Result.values()) {
            results.put(r, new LongAdder());
        }
    }

    /** What it asks engines with; to be called once, before anything is closed. */
    public void through(EngineSessions engines) {
        sessions = engines;
        context = vertx.getOrCreateContext();
    }

    /** How many ended so. */
    public long counted(Result result) {
        return adder(result).sum();
    }

    /** Closes that wait for an answer, or to be asked. */
    public int waiting() {
        return waiting.get();
    }

    @Override
    public void accept(Place place) {
        Context loop = context;
        if (loop == null || waiting.incrementAndGet() > max) {
            if (loop != null) {
                waiting.decrementAndGet();
            }
            count(Result.DROPPED);
            return;
        }
        loop.runOnContext(
                v -> {
                    queue.add(new Job(place, 0));
                    next();
                });
    }

    private void next() {
        while (running < AT_ONCE && !queue.isEmpty()) {
            Job job = queue.remove();
            Worker worker = worker(job.place());
            if (worker == null) {
                waiting.decrementAndGet();
                count(Result.GONE);
            } else {
                running++;
                ask(job, worker);
            }
        }
    }

    private void ask(Job job, Worker worker) {
        EngineSessions engines = Objects.requireNonNull(sessions);
        Context loop = Objects.requireNonNull(context);
        engines.ask(
                loop,
                worker,
                "/close_session",
                GatewayJson.object().put("session_id", engines.id(job.place())),
                TIMEOUT,
                null,
                problem -> {
                    if (problem == null) {
                        finish(Result.OK);
                    } else if (job.tries() + 1 < TRIES) {
                        running--;
                        vertx.setTimer(
                                FIRST_PAUSE_MILLIS << (2 * job.tries()),
                                t -> {
                                    queue.add(new Job(job.place(), job.tries() + 1));
                                    next();
                                });
                        next();
                    } else {
                        LOG.warnf(
                                "%s has not closed a session, which it holds until its own"
                                        + " time-out: %s",
                                worker.name(), problem);
                        finish(Result.FAILED);
                    }
                });
    }

    private void finish(Result result) {
        running--;
        waiting.decrementAndGet();
        count(result);
        next();
    }

    private void count(Result result) {
        adder(result).increment();
    }

    private LongAdder adder(Result result) {
        return Objects.requireNonNull(results.get(result));
    }

    /** Null when that process is gone. */
    private @Nullable Worker worker(Place place) {
        for (Worker w : fleet.snapshot().workers()) {
            if (w.id() == place.worker()) {
                for (Worker.Rank r : w.ranks()) {
                    if (r.slot().value() == place.slot()) {
                        return w;
                    }
                }
            }
        }
        return null;
    }
}
