package io.warmpath.adapter.trtllm;

import io.warmpath.events.DropReason;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.FeedCalls;
import io.warmpath.events.FeedHandle;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks engines for their events again and again: {@code POST /kv_cache_events} answers what has
 * happened since it was asked last, and keeps nothing of it. So one reader alone gets all. What
 * another one takes, a lost answer, or a buffer that ran over is a hole in the numbers of the
 * events, which nobody can fill: what the rank has told is forgotten.
 *
 * <p>{@link #subscribe}, {@link #close} and the methods of a subscription: any thread, they wait,
 * so never on an event loop. Answers are applied on one thread; each question waits on a virtual
 * one.
 */
public final class TrtllmEventFeed implements EventFeed {
    /** After so many questions in vain the engine's events count as gone. */
    private static final int GIVEN_UP = 3;

    /**
     * @param interval between an answer and the next question
     * @param retryMin until the next question after one in vain, doubled with each, up to {@code
     *     retryMax}
     */
    public record Settings(
            SourceSession.Timing timing, Duration interval, Duration retryMin, Duration retryMax) {}

    /** One rank that is followed. On the feed's thread. */
    private record Rank(EventSource source, SourceSession session, EventDecoder decoder) {}

    /** One engine, asked for the events of all its ranks. On the feed's thread. */
    private static final class Engine {
        final URI worker;
        final Map<Integer, Rank> ranks = new TreeMap<>();
        int failures;

        Engine(URI worker) {
            this.worker = worker;
        }
    }

    private final EngineHttp http;
    private final PrefixIndex index;
    private final EventCounters counters;
    private final Settings settings;
    private final LongSupplier nanoTime;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().name("warmpath-polled-events").daemon().factory());
    private final ExecutorService questions = Executors.newVirtualThreadPerTaskExecutor();
    private final FeedCalls calls = new FeedCalls(this::wake);
    private final Map<String, Engine> engines = new HashMap<>(); // the thread's own

    public TrtllmEventFeed(
            EngineHttp http,
            PrefixIndex index,
            EventCounters counters,
            Settings settings,
            LongSupplier nanoTime) {
        this.http = http;
        this.index = index;
        this.counters = counters;
        this.settings = settings;
        this.nanoTime = nanoTime;
    }

    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        return calls.call(
                () -> {
                    EventDecoder decoder = new EventDecoder(source.blockSize());
                    SourceSession session =
                            new SourceSession(
                                    source,
                                    index,
                                    decoder,
                                    counters,
                                    null,
                                    (before, now) -> listener.changed(source, before, now),
                                    settings.timing(),
                                    nanoTime);
                    Rank rank = new Rank(source, session, decoder);
                    follow(rank);
                    return new FeedHandle(source, session, calls, () -> drop(rank), () -> {});
                });
    }

    private void follow(Rank rank) {
        String endpoint = rank.source.endpoint();
        Engine engine = engines.get(endpoint);
        if (engine == null) {
            engine =
                    new Engine(
                            URI.create(
                                    endpoint.substring(
                                            0, endpoint.length() - EventEndpoint.POLLED.length())));
            engines.put(endpoint, engine);
            askIn(engine, settings.interval()); // its other ranks are followed by then
        }
        if (engine.ranks.isEmpty()) {
            engine.failures = 0;
        }
        engine.ranks.put(rank.source.dpRank(), rank);
    }

    /**
     * What is being asked for on behalf of the old source the new one gets: two that ask would take
     * the events from each other.
     */
    private void drop(Rank rank) {
        Engine engine = engines.get(rank.source.endpoint());
        if (engine != null) {
            engine.ranks.remove(rank.source.dpRank(), rank);
        }
    }

    /** None: what was said while no gateway ran can be gone, and nothing tells how much it was. */
    @Override
    public List<SourceMark> marks() {
        return List.of();
    }

    @Override
    public void close() {
        questions.shutdownNow();
        try {
            thread.execute(calls::end);
        } catch (RejectedExecutionException closed) {
            return;
        }
        calls.awaitEnd();
        thread.shutdownNow();
    }

    private void wake() {
        onThread(calls::runAll);
    }

    private void onThread(Runnable work) {
        try {
            thread.execute(work);
        } catch (RejectedExecutionException closed) {
            // Nobody is left who could be told.
        }
    }

    private void askIn(Engine engine, Duration delay) {
        try {
            Future<?> unused =
                    thread.schedule(
                            () -> askIfFollowed(engine), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            // Nobody asks any more.
        }
    }

    private void askIfFollowed(Engine engine) {
        if (engine.ranks.isEmpty()) {
            engines.values().remove(engine);
        } else {
            questions.execute(() -> ask(engine));
        }
    }

    /** On a thread of its own. */
    private void ask(Engine engine) {
        EventAnswer answer;
        try {
            EngineHttp.Answer got = http.post(engine.worker, EventEndpoint.POLLED, "", null);
            answer =
                    got.ok()
                            ? EventAnswer.read(got.body().getBytes(StandardCharsets.UTF_8))
                            : new EventAnswer(List.of(), "it answered " + got.status());
        } catch (IOException | RuntimeException e) {
            answer = new EventAnswer(List.of(), String.valueOf(e.getMessage()));
        }
        EventAnswer its = answer;
        onThread(() -> answered(engine, its));
    }

    private void answered(Engine engine, EventAnswer answer) {
        if (engine.ranks.isEmpty()) {
            engines.values().remove(engine);
            return;
        }
        String problem = answer.problem();
        if (problem == null) {
            reached(engine);
        } else {
            failed(engine, "POST " + EventEndpoint.POLLED + ": " + problem);
        }
        for (EventAnswer.Event event : answer.events()) {
            Rank rank = engine.ranks.get(event.rank());
            if (rank == null) {
                counters.drop(DropReason.UNKNOWN_RANK);
            } else if (event.id() < 0) {
                rank.session.unusable("no event_id");
            } else {
                guarded(rank, () -> deliver(rank, event));
            }
        }
        for (Rank rank : List.copyOf(engine.ranks.values())) {
            guarded(rank, rank.session::tick);
        }
        askIn(engine, engine.failures == 0 ? settings.interval() : backoff(engine.failures));
    }

    /** The queue repeats nothing: a number that falls back is another process's. */
    private static void deliver(Rank rank, EventAnswer.Event event) {
        SourceSession session = rank.session;
        if (session.started()
                && (Long.compareUnsigned(event.id(), session.next()) < 0
                        || rank.decoder.contradicts(event.window()))) {
            rank.decoder.forget();
            session.anotherProcess();
        }
        session.live(event.id(), event.json());
    }

    /** A source whose events cannot be applied is given up; its state says why. */
    private void guarded(Rank rank, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            drop(rank);
            rank.session.close("its events cannot be applied: " + e);
        }
    }

    private static void reached(Engine engine) {
        if (engine.failures == 0) {
            return;
        }
        boolean wasGone = engine.failures >= GIVEN_UP;
        engine.failures = 0;
        for (Rank rank : engine.ranks.values()) {
            rank.session.away(null);
            if (wasGone) {
                // It has kept what nobody asked for: another process is known by its numbers.
                rank.session.rejoined(false);
            }
        }
    }

    private void failed(Engine engine, String why) {
        counters.pollFailed();
        engine.failures++;
        for (Rank rank : engine.ranks.values()) {
            if (engine.failures < GIVEN_UP) {
                rank.session.away(why);
            } else if (engine.failures == GIVEN_UP) {
                rank.session.disconnected(why);
            }
        }
    }

    private Duration backoff(int failures) {
        Duration doubled = settings.retryMin().multipliedBy(1L << Math.min(failures - 1, 20));
        return doubled.compareTo(settings.retryMax()) < 0 ? doubled : settings.retryMax();
    }
}
