package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamOptions;
import io.nats.client.Message;
import io.nats.client.api.MessageInfo;
import io.warmpath.events.BatchSink;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Passes the batches of some engine ranks on to JetStream, and answers who missed some. Knows
 * nothing of how an engine is read: {@link #sink} takes what its session delivers. One thread sends
 * for all ranks; what it keeps lies in the stream itself, so that a relay that starts goes on where
 * one before it ended ({@link #resume}).
 */
public final class Relay implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(Relay.class);

    private static final long ALIVE_NANOS = 1_000_000_000;
    private static final long IDLE_NANOS = 50_000_000;
    private static final Duration ACK_TIMEOUT = Duration.ofSeconds(5);

    /**
     * @param ringBytes what is kept of one rank, sent or not
     * @param retention how long the stream keeps events, when this relay makes it
     */
    public record Options(long ringBytes, Duration retention) {
        public static final Options DEFAULT = new Options(64L << 20, Duration.ofHours(1));
    }

    private final NatsLink link;
    private final NatsNames names;
    private final Options options;
    private final LongSupplier nanoTime;
    private final LongSupplier millis;
    private final LongSupplier random;
    private final Predicate<EventSource> engineThere;
    private final List<RelayLane> lanes = new CopyOnWriteArrayList<>();
    private final ConcurrentHashMap<EventSource, RelayLane> bySource = new ConcurrentHashMap<>();
    private final Semaphore work = new Semaphore(0);
    private final Set<RelayLane> listening = new HashSet<>();
    private final Thread thread;
    private volatile boolean stopping;
    private String reported = "";
    private long toldOverflow;

    /**
     * @param random 64 random bits
     * @param engineThere whether the engine of a source is connected; any thread
     */
    public Relay(
            NatsLink link,
            NatsNames names,
            Options options,
            LongSupplier nanoTime,
            LongSupplier millis,
            LongSupplier random,
            Predicate<EventSource> engineThere) {
        this.link = link;
        this.names = names;
        this.options = options;
        this.nanoTime = nanoTime;
        this.millis = millis;
        this.random = random;
        this.engineThere = engineThere;
        this.thread = Thread.ofPlatform().name("warmpath-relay").daemon().unstarted(this::run);
        thread.start();
    }

    /** Where the batches of a source go. */
    public BatchSink sink(EventSource source) {
        return lane(source);
    }

    private RelayLane lane(EventSource source) {
        return bySource.computeIfAbsent(
                source,
                s -> {
                    RelayLane lane =
                            new RelayLane(
                                    s,
                                    names.events(s.workerId(), s.dpRank()),
                                    options.ringBytes(),
                                    nanoTime,
                                    millis,
                                    this::process,
                                    work::release);
                    lanes.add(lane);
                    return lane;
                });
    }

    private long process() {
        long id = random.getAsLong();
        return id == 0 ? 1 : id;
    }

    /**
     * Where the engine is to be asked to go on, from the newest message of the stream; null when
     * there is none. Before the source is subscribed to; needs a connection.
     *
     * @throws IOException when the server does not answer
     */
    public @Nullable SourceMark resume(EventSource source) throws IOException {
        Connection c = link.connection().orElseThrow(() -> new IOException("no NATS server"));
        try {
            EventStream.ensure(c, names, options.retention());
            MessageInfo newest =
                    c.jetStreamManagement()
                            .getLastMessage(
                                    names.stream(),
                                    names.events(source.workerId(), source.dpRank()));
            byte[] data = newest.getData();
            return data == null ? null : lane(source).resume(Envelope.decode(data));
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() == 404) {
                return null;
            }
            throw new IOException(e.getMessage(), e);
        } catch (Envelope.BadEnvelope e) {
            LOG.warnf(
                    "The newest message of %s/%d in the stream is %s: its events are told anew",
                    source.worker(), source.dpRank(), e.getMessage());
            return null;
        } catch (IllegalStateException e) {
            throw new IOException("the connection to NATS was lost", e);
        }
    }

    /** Messages that the server has stored. */
    public long messages() {
        return lanes.stream().mapToLong(RelayLane::messages).sum();
    }

    /** Batches in them. */
    public long batches() {
        return lanes.stream().mapToLong(RelayLane::batches).sum();
    }

    /** Messages that were not stored at the first try. */
    public long failures() {
        return lanes.stream().mapToLong(RelayLane::failures).sum();
    }

    /** Batches that wait to be sent. */
    public long waiting() {
        return lanes.stream().mapToLong(l -> l.ring().waiting()).sum();
    }

    /** Batches that went before they were sent. */
    public long overflowed() {
        return lanes.stream().mapToLong(l -> l.ring().overflowed()).sum();
    }

    /** Sends what still waits, for a moment, and ends. */
    @Override
    public void close() {
        stopping = true;
        work.release();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        boolean ready = false;
        Dispatcher questions = null;
        JetStream stream = null;
        long nextAlive = nanoTime.getAsLong();
        long losses = link.losses();
        long end = Long.MAX_VALUE;
        while (true) {
            long now = nanoTime.getAsLong();
            if (stopping && end == Long.MAX_VALUE) {
                end = now + ALIVE_NANOS;
            }
            if (stopping && (now - end >= 0 || lanes.stream().allMatch(RelayLane::idle))) {
                answerNoMore(questions);
                return;
            }
            Connection c = link.connection().orElse(null);
            boolean did = false;
            try {
                if (c == null || !link.connected()) {
                    ready = false;
                } else {
                    if (!ready) {
                        EventStream.ensure(c, names, options.retention());
                        ready = true;
                    }
                    long seen = link.losses();
                    if (seen != losses) {
                        losses = seen;
                        lanes.forEach(RelayLane::serverCameBack);
                    }
                    questions = questions == null ? c.createDispatcher() : questions;
                    listen(c, questions);
                    stream = stream == null ? stream(c) : stream;
                    did = sendAll(stream, c.getServerInfo().getMaxPayload());
                    if (now - nextAlive >= 0) {
                        nextAlive = now + ALIVE_NANOS;
                        alive(c);
                        // A stream that was removed meanwhile is made again.
                        ready = reported.isEmpty();
                    }
                }
                tell(ready || c == null ? problem() : reported);
            } catch (IOException | JetStreamApiException | IllegalStateException e) {
                ready = false;
                tell(String.valueOf(e.getMessage()));
            }
            if (!did) {
                pause();
            }
        }
    }

    private void pause() {
        try {
            if (work.tryAcquire(IDLE_NANOS, TimeUnit.NANOSECONDS)) {
                work.drainPermits();
            }
        } catch (InterruptedException e) {
            stopping = true;
        }
    }

    private static JetStream stream(Connection c) throws IOException {
        return c.jetStream(JetStreamOptions.builder().requestTimeout(ACK_TIMEOUT).build());
    }

    private boolean sendAll(JetStream stream, long maxPayload) {
        boolean did = false;
        for (RelayLane lane : lanes) {
            did |= lane.send(stream, maxPayload);
        }
        return did;
    }

    /** To the questions for each rank; connections that come again keep them. */
    private void listen(Connection c, Dispatcher questions) {
        for (RelayLane lane : lanes) {
            if (listening.add(lane)) {
                EventSource s = lane.source();
                questions.subscribe(
                        names.replay(s.workerId(), s.dpRank()), m -> answer(c, lane, m));
            }
        }
    }

    /** On jnats' thread. */
    private static void answer(Connection c, RelayLane lane, Message question) {
        String to = question.getReplyTo();
        byte[] data = question.getData();
        if (to == null || data.length != Long.BYTES) {
            return;
        }
        try {
            long from = ByteBuffer.wrap(data).getLong();
            lane.answer(from, c.getServerInfo().getMaxPayload())
                    .forEach(part -> c.publish(to, part));
        } catch (IllegalStateException e) {
            LOG.debugf("A question for %s was not answered: %s", lane, e.getMessage());
        }
    }

    /** The connection may outlive this relay. */
    private void answerNoMore(@Nullable Dispatcher questions) {
        Connection c = link.connection().orElse(null);
        if (questions != null && c != null) {
            try {
                c.closeDispatcher(questions);
            } catch (IllegalArgumentException e) {
                LOG.debugf("The connection was closed first: %s", e.getMessage());
            }
        }
    }

    private void alive(Connection c) {
        for (RelayLane lane : lanes) {
            EventSource s = lane.source();
            c.publish(
                    names.relay(s.workerId(), s.dpRank()),
                    lane.alive(engineThere.test(s)).encoded());
        }
    }

    private String problem() {
        return lanes.stream()
                .map(RelayLane::problem)
                .filter(p -> !p.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** One line for a change. */
    private void tell(String problem) {
        if (problem.isEmpty() != reported.isEmpty()) {
            if (problem.isEmpty()) {
                LOG.info("NATS takes events again");
            } else {
                LOG.warnf(
                        "NATS does not take events: %s; they are kept here, up to %d bytes a rank,"
                                + " and tried again",
                        problem, options.ringBytes());
            }
        }
        reported = problem;
        long lost = overflowed();
        if (lost > toldOverflow && toldOverflow == 0) {
            LOG.warn("Events are lost before they reach NATS: the ring is full (--ring-size)");
        }
        toldOverflow = lost;
    }
}
