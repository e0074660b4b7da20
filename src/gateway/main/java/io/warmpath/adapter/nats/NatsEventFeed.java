package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.api.StreamInfo;
import io.warmpath.events.BatchDecoder;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.FeedCalls;
import io.warmpath.events.FeedHandle;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceSession;
import io.warmpath.prefix.PrefixIndex;
import java.io.IOException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of many engines from a JetStream stream and applies them to the index.
 *
 * <p>{@link #subscribe}, {@link #close} and the subscriptions' methods: any thread; they wait for
 * the feed's own thread, so never call them on an event loop. That thread reads, decodes and
 * applies; what it does not take stays in the stream, which is the bound.
 *
 * <p>One durable consumer reads the whole stream. A source that is subscribed to later reads what
 * went by for itself, by its subject, until it has come as far. How far this gateway is, is known
 * by numbers of the stream ({@link #streamPosition}), not by what the server remembers of the
 * consumer: the index lives in memory, so a restart begins where a snapshot ends, or at the start.
 * Acknowledgements follow what was applied; they tell others what may be purged.
 */
public final class NatsEventFeed implements EventFeed {
    /**
     * @param routerId names this gateway among those of one stream
     * @param retention how long the stream keeps events, when this gateway makes it
     * @param replayTimeout how long a relay's answer is waited for
     * @param stallTimeout how long requests may be answered without the events they must cause
     * @param restoredExpiry how long what came from a snapshot may stay unconfirmed
     * @param relayTimeout silence after which a relay counts as gone
     */
    public record Settings(
            String routerId,
            Duration retention,
            Duration replayTimeout,
            Duration stallTimeout,
            Duration restoredExpiry,
            Duration relayTimeout) {}

    private static final Logger LOG = Logger.getLogger(NatsEventFeed.class);

    private static final int BURST = 512;
    private static final long WAIT_MILLIS = 10;

    /** Batches behind holes, of all sources, from which on no more are read. */
    private static final int MOST_WAITING = 50_000;

    private static final long RETRY_NANOS = 250_000_000;

    /** Signs of life find holes at the end; the silence of an engine alone asks for nothing. */
    private static final Duration NO_AUDIT = Duration.ofDays(1);

    private final NatsLink link;
    private final NatsNames names;
    private final PrefixIndex index;
    private final BatchDecoder decoder;
    private final EventCounters counters;
    private final Settings settings;
    private final LongSupplier nanoTime;
    private final FeedCalls calls = new FeedCalls(() -> {}); // it looks every few milliseconds
    private final LongAdder troubles = new LongAdder();
    private final Thread thread;
    private volatile boolean stopping;
    private volatile long position;
    private volatile long lag;

    // Owned by the thread.
    private final Map<String, NatsSource> bySubject = new LinkedHashMap<>();
    private final RelayTalk relays;
    private final CatchUps catchUps;
    private @Nullable StreamReader reader;
    private @Nullable ZonedDateTime made;
    private long start;
    private boolean linked;
    private long losses;
    private long retryAt;
    private boolean troubled;

    /** So much waits behind holes that nothing is read. */
    private boolean full;

    /**
     * @param start number of the stream up to which a snapshot has everything; 0: no snapshot
     */
    public NatsEventFeed(
            NatsLink link,
            NatsNames names,
            PrefixIndex index,
            BatchDecoder decoder,
            EventCounters counters,
            Settings settings,
            long start,
            LongSupplier nanoTime) {
        this.link = link;
        this.names = names;
        this.relays = new RelayTalk(names);
        this.catchUps = new CatchUps(names, BURST);
        this.index = index;
        this.decoder = decoder;
        this.counters = counters;
        this.settings = settings;
        this.start = start;
        this.position = start;
        this.nanoTime = nanoTime;
        this.retryAt = nanoTime.getAsLong();
        this.thread = Thread.ofPlatform().name("warmpath-kv-events").daemon().unstarted(this::run);
        thread.start();
    }

    @Override
    public long streamPosition() {
        return position;
    }

    /** Messages of the stream that have not been read yet. Any thread. */
    public long streamLag() {
        return lag;
    }

    /** How often the stream had to be opened again. Any thread. */
    public long troubles() {
        return troubles.sum();
    }

    @Override
    public boolean needsEndpoints() {
        return false;
    }

    @Override
    public Subscription subscribe(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        try {
            NatsSource opened = calls.call(() -> open(source, listener, from));
            return new FeedHandle(source, opened.session(), calls, () -> drop(opened), () -> {});
        } catch (CancellationException e) {
            throw new IllegalStateException("the event feed is closed", e);
        }
    }

    /** O(sources + blocks in spaces of their own), on the feed's thread. */
    @Override
    public List<SourceMark> marks() {
        return marksAt().marks();
    }

    /** {@code position}: see {@link #streamPosition}; of the same instant as the marks. */
    public record Marks(long position, List<SourceMark> marks) {}

    /** Where the sources stand, and the stream, at one instant. */
    public Marks marksAt() {
        try {
            return calls.call(
                    () ->
                            new Marks(
                                    applied(),
                                    bySubject.values().stream()
                                            .map(s -> s.session().mark())
                                            .filter(Objects::nonNull)
                                            .toList()));
        } catch (CancellationException e) {
            throw new IllegalStateException("the event feed is closed", e);
        }
    }

    @Override
    public void close() {
        stopping = true;
        calls.awaitEnd();
    }

    private NatsSource open(
            EventSource source, SourceListener listener, @Nullable SourceMark from) {
        String subject = names.events(source.workerId(), source.dpRank());
        if (bySubject.containsKey(subject)) {
            throw new IllegalArgumentException(
                    "worker "
                            + source.worker()
                            + " and another one have the same id and rank; events are told apart by"
                            + " them: give one another id");
        }
        NatsSource opened =
                new NatsSource(
                        source,
                        counters,
                        number -> ask(subject, number),
                        () -> reading(subject),
                        settings.relayTimeout().toNanos(),
                        nanoTime.getAsLong(),
                        link ->
                                new SourceSession(
                                        source,
                                        index,
                                        decoder,
                                        counters,
                                        link,
                                        (before, now) -> listener.changed(source, before, now),
                                        new SourceSession.Timing(
                                                settings.replayTimeout().toNanos(),
                                                NO_AUDIT.toNanos(),
                                                settings.stallTimeout().toNanos()),
                                        nanoTime));
        if (from != null) {
            opened.resume(from, settings.restoredExpiry().toNanos(), start);
        }
        opened.linked(linked, nanoTime.getAsLong());
        bySubject.put(subject, opened);
        relays.add(opened);
        return opened;
    }

    private void drop(NatsSource gone) {
        bySubject.remove(names.events(gone.source().workerId(), gone.source().dpRank()), gone);
        relays.remove(gone);
        catchUps.drop(gone);
    }

    private void run() {
        try {
            while (!stopping) {
                calls.runAll();
                long now = nanoTime.getAsLong();
                follow(now);
                relays.take(now, reader != null && reader.pending() == 0);
                boolean open = linked && ready(now);
                if (!open || !readAll()) {
                    LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS));
                }
                List.copyOf(bySubject.values()).forEach(s -> s.tick(now, linked));
                position = applied();
            }
        } catch (InterruptedException e) {
            LOG.debug("the KV event thread was interrupted");
        } catch (RuntimeException | Error e) {
            LOG.error("the KV event thread died; the prefix index gets no more events", e);
            throw e;
        } finally {
            closeReaders();
            bySubject.values().forEach(s -> s.session().close("the gateway ends"));
            bySubject.clear();
            calls.end();
        }
    }

    /** The connection came or went. */
    private void follow(long now) {
        boolean there = link.connected();
        if (there != linked || link.losses() != losses) {
            // Even a connection that is back already: what was under way is lost.
            losses = link.losses();
            closeReaders();
            linked = there;
            retryAt = now;
            bySubject.values().forEach(s -> s.linked(there, now));
        }
    }

    private void closeReaders() {
        if (reader != null) {
            start = reader.position();
            reader.close();
            reader = null;
        }
        catchUps.closeAll();
    }

    /** True when the stream is being read. */
    private boolean ready(long now) throws InterruptedException {
        if (reader != null) {
            return true;
        }
        if (now - retryAt < 0) {
            return false;
        }
        retryAt = now + RETRY_NANOS;
        Connection c = link.connection().orElse(null);
        if (c == null) {
            return false;
        }
        try {
            relays.listen(c);
            StreamInfo info = EventStream.ensure(c, names, settings.retention());
            ZonedDateTime madeNow = info.getCreateTime();
            if (info.getStreamState().getLastSequence() < start
                    || (made != null && !made.equals(madeNow))) {
                LOG.warn("The stream of KV events is another one than before: it is read anew");
                start = 0;
                bySubject.values().forEach(NatsSource::anotherStream);
            }
            made = madeNow;
            reader =
                    StreamReader.durable(
                            c, names.stream(), NatsNames.consumer(settings.routerId()), start);
            if (troubled) {
                troubled = false;
                LOG.info("The stream of KV events is read again");
            }
            return true;
        } catch (IOException | JetStreamApiException | IllegalStateException e) {
            trouble(e);
            return false;
        }
    }

    private void trouble(Exception e) {
        troubles.increment();
        LOG.logf(
                troubled ? Logger.Level.DEBUG : Logger.Level.WARN,
                "The stream of KV events %s cannot be read: %s; tried again",
                names.stream(),
                e.getMessage());
        troubled = true;
        closeReaders();
    }

    private void ask(String subject, long from) {
        NatsSource asking = Objects.requireNonNull(bySubject.get(subject));
        boolean late = asking.catchingUp || reader == null || reader.pending() > 0;
        relays.ask(asking.source(), from, link.connection().orElse(null), late);
    }

    /** False when there was nothing to wait for. */
    private boolean readAll() throws InterruptedException {
        StreamReader r = reader;
        if (r == null) {
            return false;
        }
        int waiting = bySubject.values().stream().mapToInt(s -> s.session().waiting()).sum();
        full = waiting >= MOST_WAITING;
        if (full) {
            return false; // until holes are closed, or given up
        }
        try {
            int n = r.read(BURST, catchUps.isEmpty() ? WAIT_MILLIS : 1, this::take);
            lag = r.pending();
            bySubject.values().forEach(s -> s.session().drained(n == BURST && lag > 0));
            catchUps.step(
                    link.connection().orElseThrow(() -> new IOException("no connection")),
                    bySubject.values(),
                    this::stored);
            // Others may purge what is acknowledged: not before the last source has it.
            if (applied() >= r.position()) {
                r.acknowledge();
            }
            return true;
        } catch (IOException | JetStreamApiException | IllegalStateException e) {
            trouble(e);
            return false;
        }
    }

    /** Whether the stream has more of a source, which is being read. */
    private boolean reading(String subject) {
        NatsSource s = bySubject.get(subject);
        StreamReader r = reader;
        return s != null && r != null && !full && (s.catchingUp || r.pending() > 0);
    }

    private void take(String subject, long sequence, byte[] data) {
        NatsSource s = bySubject.get(subject);
        if (s == null) {
            return;
        }
        if (s.catchingUp) {
            s.passed = sequence;
        } else {
            stored(s, sequence, data);
        }
    }

    private void stored(NatsSource s, long sequence, byte[] data) {
        try {
            s.stored(sequence, data);
        } catch (RuntimeException e) {
            LOG.errorf(
                    e,
                    "the KV events of %s cannot be applied; it is routed without them from now on",
                    s.source().worker());
            drop(s);
            s.session().close("its events cannot be applied: " + e);
        }
    }

    /** See {@link #streamPosition}. */
    private long applied() {
        long least = reader == null ? start : reader.position();
        for (NatsSource s : bySubject.values()) {
            if (s.catchingUp || s.session().waiting() > 0) {
                least = Math.min(least, Math.max(s.applied(), 0));
            }
        }
        return least;
    }
}
