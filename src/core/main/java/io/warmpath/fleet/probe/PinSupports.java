package io.warmpath.fleet.probe;

import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * How each worker can be made to keep a prefix: the operator's word first, the engine's second. Any
 * thread; {@link #of} is a look-up. A worker is asked once per incarnation, on the executor, and
 * some times more when it does not answer; until then it supports nothing.
 */
public final class PinSupports implements FleetListener {
    private static final int TRIES = 5;

    private final PinProbe probe;
    private final EngineHttp http;
    private final Executor executor;
    private final Duration pause;
    private final LongFunction<@Nullable PinSupport> told;
    private final Map<Long, Known> known = new ConcurrentHashMap<>();

    private record Known(List<Worker.Rank> incarnation, PinSupport support) {}

    /**
     * @param executor its threads may block
     * @param pause between two tries
     * @param told what the operator says of a worker, by its id; null: nothing
     */
    public PinSupports(
            PinProbe probe,
            EngineHttp http,
            Executor executor,
            Duration pause,
            LongFunction<@Nullable PinSupport> told) {
        this.probe = probe;
        this.http = http;
        this.executor = executor;
        this.pause = pause;
        this.told = told;
    }

    public PinSupport of(long worker) {
        Known k = known.get(worker);
        return k == null ? PinSupport.NONE : k.support;
    }

    /** This worker turned out not to have what it was believed to have. */
    public void withdrawn(long worker) {
        known.computeIfPresent(worker, (w, k) -> new Known(k.incarnation, PinSupport.NONE));
    }

    @Override
    public void attached(Worker worker, List<EventEndpoint> events, String noEvents) {
        PinSupport said = told.apply(worker.id());
        known.put(worker.id(), new Known(worker.ranks(), said == null ? PinSupport.NONE : said));
        if (said == null) {
            executor.execute(() -> ask(worker));
        }
    }

    @Override
    public void detached(Worker worker) {
        known.remove(worker.id());
    }

    private void ask(Worker worker) {
        for (int i = 0; i < TRIES; i++) {
            try {
                PinSupport support = probe.ask(worker, http);
                // Not if it is gone, or has come back as another, meanwhile.
                known.computeIfPresent(
                        worker.id(),
                        (w, k) ->
                                k.incarnation.equals(worker.ranks())
                                        ? new Known(k.incarnation, support)
                                        : k);
                return;
            } catch (IOException e) {
                try {
                    Thread.sleep(pause);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }
}
