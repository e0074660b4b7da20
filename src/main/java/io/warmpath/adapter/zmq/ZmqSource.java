package io.warmpath.adapter.zmq;

import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.SourceListener;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceSession;
import io.warmpath.events.SourceStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import org.zeromq.ZMonitor;

/**
 * The sockets of one source and its session. Everything but {@link #status} and {@link #computed}
 * on the feed's thread.
 *
 * <p>One replay socket serves all requests. It is replaced only when a request is made before the
 * last one has ended, so that what still comes for that one goes nowhere. (A new socket for each
 * would be simpler, but a JeroMQ ROUTER sometimes never hears of a client that connects while
 * another leaves.)
 */
final class ZmqSource {
    private static final Logger LOG = Logger.getLogger(ZmqSource.class);

    /** Messages taken from one socket before the next source gets its turn. */
    private static final int BURST = 512;

    /** Larger messages end the connection; engines stay far below. */
    private static final long MAX_MESSAGE = 64L << 20;

    private static final int HEARTBEAT_MILLIS = 10_000;

    private final EventSource source;
    private final ZContext context;
    private final EventCounters counters;
    private final ZmqEventFeed.Settings settings;
    private final Runnable socketsChanged;
    private final SourceSession session;

    /** Connections made (true) and lost, from JeroMQ's own thread to the feed's. */
    private final Queue<Boolean> connections = new ConcurrentLinkedQueue<>();

    private int peers;
    private final LongSupplier nanoTime;
    private ZMQ.@Nullable Socket live;
    private boolean connected;
    private long connectAgainAt;
    private boolean warned;
    private ZMQ.@Nullable Socket replay;
    private boolean replayOpen;

    ZmqSource(
            EventSource source,
            ZContext context,
            SessionMaker sessions,
            EventCounters counters,
            ZmqEventFeed.Settings settings,
            LongSupplier nanoTime,
            SourceListener listener,
            Runnable socketsChanged) {
        this.source = source;
        this.context = context;
        this.counters = counters;
        this.settings = settings;
        this.nanoTime = nanoTime;
        this.socketsChanged = socketsChanged;
        this.session =
                sessions.make(
                        source,
                        source.replayEndpoint() == null ? null : this::requestReplay,
                        (before, now) -> listener.changed(source, before, now),
                        new SourceSession.Timing(
                                settings.replayTimeout().toNanos(),
                                settings.auditInterval().toNanos(),
                                settings.stallTimeout().toNanos()),
                        nanoTime);
    }

    EventSource source() {
        return source;
    }

    SourceStatus status() {
        return session.status();
    }

    @Nullable SourceMark mark() {
        return session.mark();
    }

    void computed(long began) {
        session.computed(began);
    }

    /** It could not be handled: the sockets close, the state says why. */
    void giveUp(String why) {
        close();
        session.close(why);
    }

    /**
     * Opens the sockets. A host name that does not resolve yet is tried again later: a pod may get
     * its name after the router hears of it.
     *
     * @param from where another process of ours stopped, if one did
     * @throws IllegalArgumentException when the endpoint is malformed
     * @throws ZMQException when the endpoint to bind cannot be had
     */
    void open(@Nullable SourceMark from) {
        if (from != null) {
            session.resume(from, settings.restoredExpiry().toNanos());
        }
        ZMQ.Socket s = context.createSocket(SocketType.SUB);
        live = s;
        s.setRcvHWM(0);
        configure(s);
        s.setEventHook(
                event -> connections.add(event.getEvent() != ZMonitor.Event.DISCONNECTED),
                ZMQ.EVENT_CONNECTED | ZMQ.EVENT_ACCEPTED | ZMQ.EVENT_DISCONNECTED);
        s.subscribe(source.topic().getBytes(StandardCharsets.UTF_8));
        if (source.bind()) {
            s.bind(source.endpoint());
            connected = true;
            session.start();
        } else {
            connect(s);
        }
    }

    private void connect(ZMQ.Socket s) {
        try {
            s.connect(source.endpoint());
        } catch (ZMQException e) {
            if (!warned) {
                warned = true;
                LOG.warnf(
                        "cannot connect to the KV events of %s at %s yet: %s; trying again every"
                                + " %d ms",
                        source.worker(),
                        source.endpoint(),
                        e.getMessage(),
                        settings.reconnectMax().toMillis());
            }
            connectAgainAt = nanoTime.getAsLong() + settings.reconnectMax().toNanos();
            return;
        }
        connected = true;
        session.start();
    }

    List<ZMQ.Socket> sockets() {
        List<ZMQ.Socket> out = new ArrayList<>(2);
        if (live != null) {
            out.add(live);
        }
        if (replay != null) {
            out.add(replay);
        }
        return out;
    }

    /** Takes what has arrived, then looks at the clock. */
    void pump() {
        if (!connected) {
            if (live != null && nanoTime.getAsLong() - connectAgainAt >= 0) {
                connect(live);
            }
            return;
        }
        followConnections();
        drainReplay();
        session.drained(drainLive());
        session.tick();
    }

    void close() {
        if (live != null) {
            live.close();
            live = null;
        }
        closeReplay();
    }

    private void followConnections() {
        for (Boolean made = connections.poll(); made != null; made = connections.poll()) {
            peers = Math.max(0, peers + (made ? 1 : -1));
            if (made) {
                session.connected();
            } else if (peers == 0) {
                session.disconnected();
            }
        }
    }

    /** True when it stopped before the end. */
    private boolean drainLive() {
        for (int i = 0; i < BURST && live != null; i++) {
            List<byte[]> frames = receive(live);
            if (frames == null) {
                return false;
            }
            EventMessages.live(frames)
                    .ifPresentOrElse(
                            m -> session.live(m.sequence(), m.payload()), counters::badFrame);
        }
        return live != null;
    }

    private void drainReplay() {
        for (int i = 0; i < BURST && replay != null; i++) {
            List<byte[]> frames = receive(replay);
            if (frames == null) {
                return;
            }
            EventMessages.replay(frames).ifPresentOrElse(this::answered, counters::badFrame);
        }
    }

    private void answered(EventMessages.Message message) {
        if (message.end()) {
            replayOpen = false;
            session.replayEnded();
        } else {
            session.replayed(message.sequence(), message.payload());
        }
    }

    private static @Nullable List<byte[]> receive(ZMQ.Socket socket) {
        byte[] first = socket.recv(ZMQ.DONTWAIT);
        if (first == null) {
            return null;
        }
        List<byte[]> frames = new ArrayList<>(4);
        frames.add(first);
        while (socket.hasReceiveMore()) {
            byte[] next = socket.recv(0);
            if (next == null) {
                return null;
            }
            frames.add(next);
        }
        return frames;
    }

    private void requestReplay(long fromSequence) {
        if (replayOpen) {
            closeReplay();
        }
        ZMQ.Socket s = replay == null ? openReplay() : replay;
        if (s == null) {
            return;
        }
        replayOpen = true;
        List<byte[]> frames = EventMessages.request(fromSequence);
        s.sendMore(frames.get(0));
        s.send(frames.get(1), ZMQ.DONTWAIT);
    }

    /** Null when its host name does not resolve; then the request times out and is made again. */
    private ZMQ.@Nullable Socket openReplay() {
        String endpoint = source.replayEndpoint();
        if (endpoint == null) {
            throw new IllegalStateException("no replay endpoint");
        }
        ZMQ.Socket s = context.createSocket(SocketType.DEALER);
        replay = s;
        s.setRcvHWM(0);
        configure(s);
        try {
            s.connect(endpoint);
        } catch (ZMQException e) {
            LOG.debugf("replay endpoint %s of %s: %s", endpoint, source.worker(), e.getMessage());
            closeReplay();
            return null;
        }
        socketsChanged.run();
        return s;
    }

    private void closeReplay() {
        if (replay != null) {
            replay.close();
            replay = null;
            replayOpen = false;
            socketsChanged.run();
        }
    }

    private void configure(ZMQ.Socket s) {
        s.setLinger(0);
        s.setReconnectIVL(millis(settings.reconnectInitial()));
        s.setReconnectIVLMax(millis(settings.reconnectMax()));
        s.setMaxMsgSize(MAX_MESSAGE);
        s.setTCPKeepAlive(1);
        s.setHeartbeatIvl(HEARTBEAT_MILLIS);
        s.setIPv6(source.endpoint().contains("["));
    }

    private static int millis(Duration d) {
        return Math.toIntExact(d.toMillis());
    }
}
