package io.warmpath.wiring.warmup;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Two warm-ups: one at once, for what is known without an engine, and one for the model and the
 * kind of the first engine that is ready, once it is clear where that model's tokens come from. The
 * second is left out where it would be the first again. {@link #start} once; all else any thread.
 */
public final class WarmStart implements FleetListener, AutoCloseable {
    private static final Logger LOG = Logger.getLogger(WarmStart.class);

    private final Function<Warmup.Target, Warmup> make;
    private final Warmup.Target known;
    private final Duration patience;
    private final Warmup first;
    private final CompletableFuture<Warmup.Target> engine = new CompletableFuture<>();
    private final CompletableFuture<Void> warm;

    private volatile boolean engineSeen; // written by the fleet's one thread
    private @Nullable Warmup second; // guarded by this
    private boolean closed; // guarded by this

    /**
     * @param make a warm-up for a target, not started
     * @param known what can be said before an engine is there
     * @param patience the longest that the first ready engine waits for {@link #settled}
     */
    public WarmStart(Function<Warmup.Target, Warmup> make, Warmup.Target known, Duration patience) {
        this.make = make;
        this.known = known;
        this.patience = patience;
        first = make.apply(known);
        warm =
                first.ended()
                        .thenCombine(engine, (none, target) -> target)
                        .thenComposeAsync(this::again)
                        .exceptionally(WarmStart::failed)
                        .toCompletableFuture();
    }

    public void start() {
        first.start();
    }

    private static @Nullable Void failed(Throwable e) {
        LOG.warn("The second warm-up could not begin, first requests will be slower", e);
        return null;
    }

    private CompletableFuture<Void> again(Warmup.Target target) {
        Warmup next;
        synchronized (this) {
            if (closed || first.isOff() || target.equals(known)) {
                return CompletableFuture.completedFuture(null);
            }
            next = make.apply(target);
            second = next;
        }
        next.start();
        return next.ended().toCompletableFuture();
    }

    /** An engine is ready and both warm-ups have ended, or there are none. */
    public boolean warm() {
        return first.isOff() || warm.isDone();
    }

    /** {@link #warm}, or no engine has been ready, and what needs none has ended. */
    public boolean warmSoFar() {
        return warm() || (!engineSeen && first.ended().toCompletableFuture().isDone());
    }

    /** The one that needs no engine. */
    public Warmup first() {
        return first;
    }

    /** It is clear where this worker's models have their tokens from. */
    public void settled(Worker worker) {
        if (worker.state() == WorkerState.READY) {
            engine.complete(targetOf(worker));
        }
    }

    private Warmup.Target targetOf(Worker worker) {
        return new Warmup.Target(
                worker.models().stream().sorted().findFirst().orElse(known.model()), worker.kind());
    }

    @Override
    public void added(Worker worker) {
        ready(worker);
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        ready(after);
    }

    private void ready(Worker worker) {
        engineSeen |= worker.state() == WorkerState.READY;
        if (worker.state() == WorkerState.READY && !engine.isDone()) {
            engine.completeOnTimeout(targetOf(worker), patience.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Ends what still runs, and waits for that. */
    @Override
    public void close() {
        Warmup last;
        synchronized (this) {
            closed = true;
            last = second;
        }
        first.close();
        if (last != null) {
            last.close();
        }
    }
}
