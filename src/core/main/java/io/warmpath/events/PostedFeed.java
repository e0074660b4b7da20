package io.warmpath.events;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixIndex;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the batches that engines post, in order, and applies them to the index.
 *
 * <p>{@link #post}: any thread, never waits. The rest: any thread, waits for the feed's own, so
 * never on an event loop. That one thread reads and applies every batch.
 *
 * <p>A source here has no replay. A batch that is not the next one is refused with the number that
 * is, so that the engine sends again from there; until it does, the source counts as repairing, and
 * when it takes too long all that it has told is forgotten. A higher epoch is another process: it
 * begins at 0, and what the old one held is dropped. Nothing is kept over a restart of this
 * gateway: the first batch that comes then is taken whatever its number, and the source knows too
 * little until its engine clears or begins another epoch.
 */
public final class PostedFeed implements EventFeed {
    /** Batches, and bytes of them, that may wait to be applied. */
    private static final int MOST_WAITING = 1024;

    private static final long MOST_WAITING_BYTES = 64L << 20;

    private static final long TICK_MILLIS = 50;

    /**
     * A batch that was taken, or was known already.
     *
     * @param next number of the batch that should come now
     */
    public record Taken(long next, boolean repeated, EventView state) {}

    private record Key(String worker, int dpRank) {}

    private final PrefixIndex index;
    private final EventCounters counters;
    private final SourceSession.Timing timing;
    private final LongSupplier nanoTime;
    private final AtomicLong waiting = new AtomicLong();
    private final AtomicLong waitingBytes = new AtomicLong();
    private final ScheduledExecutorService thread;

    // The thread's own.
    private final Map<Key, Source> sources = new HashMap<>();
    private @Nullable Future<?> ticking; // while there are sources, or since there were

    /**
     * @param timing the replay's time-out is how long missing batches are waited for; there is no
     *     audit
     */
    public PostedFeed(
            PrefixIndex index,
            EventCounters counters,
            SourceSession.Timing timing,
            LongSupplier nanoTime) {
        this.index = index;
        this.counters = counters;
        this.timing = timing;
        this.nanoTime = nanoTime;
        this.thread =
                Executors.newSingleThreadScheduledExecutor(
                        Thread.ofPlatform().name("warmpath-posted-events").daemon().factory());
    }

    /**
     * Hands a body over. One of the two is told, on the feed's thread, and must not wait.
     *
     * @param reader makes a batch of the body, on the feed's thread
     * @param refused told what the reader threw, or a {@link GatewayException}: nothing of the body
     *     was applied
     * @return false when too much waits already; then nobody is told anything
     */
    public boolean post(
            byte[] body,
            Function<byte[], PostedBatch> reader,
            Consumer<Taken> taken,
            Consumer<RuntimeException> refused) {
        long bytes = waitingBytes.addAndGet(body.length);
        if (waiting.incrementAndGet() > MOST_WAITING || bytes > MOST_WAITING_BYTES) {
            done(body);
            return false;
        }
        try {
            thread.execute(() -> run(body, reader, taken, refused));
            return true;
        } catch (RejectedExecutionException closed) {
            done(body);
            return false;
        }
    }

    private void done(byte[] body) {
        waiting.decrementAndGet();
        waitingBytes.addAndGet(-body.length);
    }

    private void run(
            byte[] body,
            Function<byte[], PostedBatch> reader,
            Consumer<Taken> taken,
            Consumer<RuntimeException> refused) {
        Taken done;
        try {
            done = take(body, reader.apply(body));
        } catch (RuntimeException e) {
            refused.accept(e);
            return;
        } finally {
            done(body);
        }
        taken.accept(done);
    }

    private Taken take(byte[] body, PostedBatch posted) {
        Source source = sources.get(new Key(posted.worker(), posted.dpRank()));
        if (source == null) {
            throw new GatewayException(
                    new GatewayError.BadRequest(
                            "worker",
                            "No worker `"
                                    + posted.worker()
                                    + "` with a rank "
                                    + posted.dpRank()
                                    + " has `post` as its events-endpoint; register it so, or see"
                                    + " GET /events/sources."));
        }
        return source.take(body, posted);
    }

    private void tick() {
        Future<?> running = ticking;
        if (sources.isEmpty() && running != null) {
            running.cancel(false); // nothing posts here: no wake-ups for it
            ticking = null;
        }
        for (Source source : List.copyOf(sources.values())) {
            source.guarded(source.session::tick);
        }
    }

    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        return call(
                () -> {
                    Source made = new Source(source, listener);
                    sources.put(made.key(), made);
                    if (ticking == null) {
                        ticking =
                                thread.scheduleWithFixedDelay(
                                        this::tick,
                                        TICK_MILLIS,
                                        TICK_MILLIS,
                                        TimeUnit.MILLISECONDS);
                    }
                    return made;
                });
    }

    /** None: nothing could confirm after a restart what a posted source had told before. */
    @Override
    public List<SourceMark> marks() {
        return List.of();
    }

    @Override
    public void close() {
        thread.shutdown();
        boolean interrupted = false;
        while (!thread.isTerminated()) {
            try {
                thread.awaitTermination(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private <T> T call(Callable<T> work) {
        Future<T> task;
        try {
            task = thread.submit(work);
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the event feed is closed", e);
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One rank that posts. On the feed's thread, but for what a subscriber may call. */
    private final class Source implements Subscription {
        private final EventSource source;
        private final SourceSession session;
        private KvBatch batch = new KvBatch(0, KvBatch.NO_RANK, List.of(), 0, 0);
        private boolean begun;
        private long epoch;
        private long next;

        Source(EventSource source, SourceListener listener) {
            this.source = source;
            this.session =
                    new SourceSession(
                            source,
                            index,
                            body -> batch,
                            counters,
                            null,
                            (before, now) -> listener.changed(source, before, now),
                            timing,
                            nanoTime);
        }

        Key key() {
            return new Key(source.worker(), source.dpRank());
        }

        Taken take(byte[] body, PostedBatch posted) {
            if (begun && posted.epoch() < epoch) {
                throw unexpected(posted, epoch, next, "another process has posted since");
            }
            if (!begun) {
                begun = true;
                epoch = posted.epoch();
                next = posted.sequence();
            } else if (posted.epoch() > epoch) {
                if (posted.sequence() != 0) {
                    throw unexpected(posted, posted.epoch(), 0, "an epoch begins with batch 0");
                }
                epoch = posted.epoch();
                next = 0;
            }
            if (posted.sequence() < next) {
                session.repeated();
                return new Taken(next, true, session.status().state());
            }
            if (posted.sequence() > next) {
                session.refused(next, posted.sequence());
                throw unexpected(posted, epoch, next, "batches before it have not come");
            }
            next = posted.sequence() + 1;
            batch = posted.batch();
            // Batch 0 of a new process is told from the old one's: the bodies differ in the epoch.
            guarded(() -> session.live(posted.sequence(), body));
            return new Taken(next, false, session.status().state());
        }

        /** A source whose events cannot be applied is given up; its state says why. */
        void guarded(Runnable work) {
            try {
                work.run();
            } catch (RuntimeException e) {
                sources.remove(key(), this);
                session.close("its events cannot be applied: " + e);
            }
        }

        private GatewayException unexpected(
                PostedBatch posted, long expectedEpoch, long expected, String why) {
            return new GatewayException(
                    new GatewayError.EventsOutOfOrder(
                            "Batch "
                                    + posted.sequence()
                                    + " of epoch "
                                    + posted.epoch()
                                    + " of "
                                    + source.worker()
                                    + "/"
                                    + source.dpRank()
                                    + " was not applied: "
                                    + why
                                    + "; go on with batch "
                                    + expected
                                    + " of epoch "
                                    + expectedEpoch
                                    + ".",
                            expectedEpoch,
                            expected));
        }

        @Override
        public EventSource source() {
            return source;
        }

        @Override
        public SourceStatus status() {
            return session.status();
        }

        @Override
        public EventView state() {
            return session.state();
        }

        @Override
        public void computed(long began) {
            session.computed(began);
        }

        @Override
        public void close() {
            try {
                call(() -> sources.remove(key(), this));
            } catch (IllegalStateException closed) {
                if (!thread.isShutdown()) {
                    throw closed;
                }
                // The whole feed was closed, and with it this source.
            }
        }
    }

    /** Whether a source at this endpoint posts. */
    public static boolean serves(EventSource source) {
        return source.endpoint().equals(EventEndpoint.POSTED);
    }
}
