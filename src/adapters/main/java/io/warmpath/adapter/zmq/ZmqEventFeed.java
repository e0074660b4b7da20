package io.warmpath.adapter.zmq;

import io.warmpath.events.BatchSink;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.FeedCalls;
import io.warmpath.events.FeedHandle;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of many engines over ZeroMQ and applies them to the index.
 *
 * <p>{@link #subscribe}, {@link #close} and the subscriptions' methods: any thread; they wait for
 * the feed's own thread, so never call them on an event loop. One platform thread reads every
 * connection and does all decoding and applying; engines emit far less than it can take. It sleeps
 * in one selector and looks only at the connections that have something, so that a thousand idle
 * sources cost the busy one nothing; it speaks ZMTP itself, since a ZeroMQ library hands each
 * message from its I/O thread to ours through a queue and a wake-up of its own.
 */
public final class ZmqEventFeed implements EventFeed {
    /**
     * @param replayTimeout silence of a replay socket after which the replay counts as failed
     * @param auditInterval silence of a source after which its replay socket is asked whether
     *     something was missed
     * @param stallTimeout how long requests may be answered without the events they must cause
     * @param restoredExpiry how long what came from a file may stay unconfirmed
     * @param reconnectInitial first pause before a lost connection is tried again; doubles
     * @param reconnectMax longest such pause
     */
    public record Settings(
            Duration replayTimeout,
            Duration auditInterval,
            Duration stallTimeout,
            Duration restoredExpiry,
            Duration reconnectInitial,
            Duration reconnectMax) {
        public static final Settings DEFAULT =
                new Settings(
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(10),
                        Duration.ofMinutes(10),
                        Duration.ofMillis(100),
                        Duration.ofSeconds(5));
    }

    private static final Logger LOG = Logger.getLogger(ZmqEventFeed.class);

    /** Between two looks at the clock of each source. */
    private static final int TICK_MILLIS = 20;

    /** Read at once from one connection. */
    private static final int READ_BYTES = 128 << 10;

    /** For messages that have begun, where the owner does not say. */
    private static final long ROOM_BYTES = 256L << 20;

    private final SessionMaker sessions;
    private final EventCounters counters;
    private final Settings settings;
    private final LongSupplier nanoTime;
    private final @Nullable AddressGuard guard;
    private final ZmtpLimits limits;
    private final FeedCalls calls;
    private final Thread thread;
    private volatile boolean stopping;

    // Owned by the thread.
    private final Selector selector;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    private final List<ZmqSource> sources = new ArrayList<>();

    /** Connects to wherever a name leads. */
    public ZmqEventFeed(
            PrefixIndex index, EventCounters counters, Settings settings, LongSupplier nanoTime) {
        this(index, counters, settings, nanoTime, new MessageRoom(ROOM_BYTES), null);
    }

    /**
     * @param room for messages that have begun
     * @param guard asked of what names lead to; null: they lead anywhere
     */
    public ZmqEventFeed(
            PrefixIndex index,
            EventCounters counters,
            Settings settings,
            LongSupplier nanoTime,
            MessageRoom room,
            @Nullable AddressGuard guard) {
        this(
                (source, replay, listener, timing, clock) ->
                        new SourceSession(
                                source,
                                index,
                                new KvEventDecoder(),
                                counters,
                                replay,
                                listener,
                                timing,
                                clock),
                counters,
                settings,
                nanoTime,
                room,
                guard);
    }

    /** For batches that go elsewhere than into an index: as they came, in their order. */
    public ZmqEventFeed(
            Function<EventSource, BatchSink> sinks,
            EventCounters counters,
            Settings settings,
            LongSupplier nanoTime) {
        this(
                (source, replay, listener, timing, clock) ->
                        new SourceSession(
                                source,
                                sinks.apply(source),
                                counters,
                                replay,
                                listener,
                                timing,
                                clock),
                counters,
                settings,
                nanoTime,
                new MessageRoom(ROOM_BYTES),
                null);
    }

    private ZmqEventFeed(
            SessionMaker sessions,
            EventCounters counters,
            Settings settings,
            LongSupplier nanoTime,
            MessageRoom room,
            @Nullable AddressGuard guard) {
        this.guard = guard;
        this.limits = ZmtpLimits.ofEvents(room);
        this.sessions = sessions;
        this.counters = counters;
        this.settings = settings;
        this.nanoTime = nanoTime;
        try {
            this.selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("no selector for the KV events", e);
        }
        this.calls = new FeedCalls(selector::wakeup);
        this.thread = Thread.ofPlatform().name("warmpath-kv-events").daemon().unstarted(this::run);
        thread.start();
    }

    public EventCounters counters() {
        return counters;
    }

    /**
     * @throws IllegalArgumentException when an endpoint cannot be used: a malformed address, or a
     *     port to bind that is taken
     */
    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        try {
            ZmqSource opened = calls.call(() -> open(source, listener, from));
            return new FeedHandle(
                    source, opened.session(), calls, () -> drop(opened), opened::hurry);
        } catch (CancellationException e) {
            throw new IllegalStateException("the event feed is closed", e);
        }
    }

    /** O(sources + blocks in spaces of their own), on the feed's thread. */
    @Override
    public List<SourceMark> marks() {
        try {
            return calls.call(
                    () ->
                            sources.stream()
                                    .map(s -> s.session().mark())
                                    .filter(Objects::nonNull)
                                    .toList());
        } catch (CancellationException e) {
            throw new IllegalStateException("the event feed is closed", e);
        }
    }

    @Override
    public void close() {
        stopping = true;
        selector.wakeup();
        calls.awaitEnd();
    }

    private ZmqSource open(EventSource source, SourceListener listener, @Nullable SourceMark from) {
        ZmqSource opened =
                new ZmqSource(
                        source, selector, buffer, sessions, counters, settings, nanoTime, limits,
                        listener, guard);
        try {
            opened.open(from);
        } catch (IOException | IllegalArgumentException e) {
            opened.close();
            throw new IllegalArgumentException(
                    "cannot listen to the KV events of "
                            + source.worker()
                            + " at "
                            + source.endpoint()
                            + (source.replayEndpoint() == null
                                    ? ""
                                    : " with replay at " + source.replayEndpoint())
                            + ": "
                            + e.getMessage()
                            + "; check the event endpoints of this worker",
                    e);
        }
        sources.add(opened);
        return opened;
    }

    private void drop(ZmqSource source) {
        sources.remove(source);
        source.close();
    }

    private void run() {
        try (selector) {
            TickRound round = new TickRound(TICK_MILLIS * 1_000_000L, nanoTime.getAsLong());
            while (!stopping) {
                calls.runAll();
                // 0 waits for a call: without sources there is no clock to look at.
                selector.select(this::ready, sources.isEmpty() ? 0 : TICK_MILLIS);
                tick(round);
            }
        } catch (IOException e) {
            LOG.error("the KV event thread died; the prefix index gets no more events", e);
            throw new UncheckedIOException(e);
        } catch (RuntimeException | Error e) {
            LOG.error("the KV event thread died; the prefix index gets no more events", e);
            throw e;
        } finally {
            sources.forEach(ZmqSource::close);
            sources.clear();
            calls.end();
        }
    }

    private void tick(TickRound round) {
        long now = nanoTime.getAsLong();
        int until = round.until(now, sources.size());
        if (until > round.from()) {
            // A copy: a source whose events cannot be applied is dropped.
            for (ZmqSource source : List.copyOf(sources.subList(round.from(), until))) {
                guarded(source, source::tick);
            }
        }
        round.looked(until, now);
    }

    private void ready(SelectionKey key) {
        if (key.isValid() && key.attachment() instanceof ZmtpLoop.Attached a) {
            ZmqSource owner = a.owner();
            if (owner != null) {
                guarded(owner, a.handler()::ready);
            }
        }
    }

    private void guarded(ZmqSource source, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            LOG.errorf(
                    e,
                    "the KV events of %s cannot be applied; it is routed without them from now on",
                    source.source().worker());
            sources.remove(source);
            source.giveUp("its events cannot be applied: " + e);
        }
    }
}
