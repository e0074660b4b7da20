package io.warmpath.adapter.zmq;

import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.SourceListener;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.address.AddressGuard;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one source and its session. On the feed's thread.
 *
 * <p>One replay connection serves all requests. It is replaced only when a request is made before
 * the last one has ended, so that what still comes for that one goes nowhere; a request whose
 * connection breaks is made again on the next one.
 */
final class ZmqSource {
    private static final Logger LOG = Logger.getLogger(ZmqSource.class);

    private final EventSource source;
    private final byte[] topic;
    private final ZmtpLoop loop;
    private final EventCounters counters;
    private final ZmqEventFeed.Settings settings;
    private final SourceSession session;
    private @Nullable ZmtpServer server;
    private @Nullable ZmtpDialer live;
    private @Nullable ZmtpDialer replay;
    private boolean started;
    private int peers;
    private boolean warned;
    private boolean formTold;
    private boolean more;

    /** The replay request that has not been answered to its end. */
    private @Nullable List<byte[]> asked;

    ZmqSource(
            EventSource source,
            Selector selector,
            ByteBuffer buffer,
            SessionMaker sessions,
            EventCounters counters,
            ZmqEventFeed.Settings settings,
            LongSupplier nanoTime,
            ZmtpLimits limits,
            SourceListener listener,
            @Nullable AddressGuard guard) {
        this.source = source;
        this.topic = source.topic().getBytes(StandardCharsets.UTF_8);
        this.loop = new ZmtpLoop(selector, buffer, nanoTime, limits, this, guard);
        this.counters = counters;
        this.settings = settings;
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

    SourceSession session() {
        return session;
    }

    /** It could not be handled: the connections close, the state says why. */
    void giveUp(String why) {
        close();
        session.close(why);
    }

    /**
     * Begins to connect, or binds. A host name that does not resolve yet is tried again later: a
     * pod may get its name after the router hears of it.
     *
     * @param from where another process of ours stopped, if one did
     * @throws IllegalArgumentException when an endpoint is malformed
     * @throws IOException when the endpoint to bind cannot be had
     */
    void open(@Nullable SourceMark from) throws IOException {
        if (from != null) {
            session.resume(from, settings.restoredExpiry().toNanos());
        }
        ZmtpAddress address = ZmtpAddress.parse(source.endpoint());
        if (source.replayEndpoint() != null) {
            ZmtpAddress.parse(source.replayEndpoint());
        }
        if (source.bind()) {
            server = new ZmtpServer(address, loop, ZmtpConnection.Role.SUB, new Live());
            server.open();
            start();
        } else {
            live = dialer(address, ZmtpConnection.Role.SUB, new Live());
            dialLive(live);
        }
    }

    private void dialLive(ZmtpDialer dialer) {
        dialer.dial();
        if (dialer.resolved()) {
            start();
        }
    }

    private void start() {
        if (!started) {
            started = true;
            session.start();
        }
    }

    private ZmtpDialer dialer(
            ZmtpAddress address, ZmtpConnection.Role role, ZmtpDialer.Listener listener) {
        return new ZmtpDialer(
                address,
                loop,
                role,
                settings.reconnectInitial(),
                settings.reconnectMax(),
                listener);
    }

    /** Looks at the clock. */
    void tick() {
        long now = loop.nanoTime().getAsLong();
        if (server != null) {
            server.tick(now);
        }
        if (live != null) {
            live.tick(now);
            if (live.resolved()) {
                start();
            }
        }
        if (!started) {
            return;
        }
        if (replay != null) {
            replay.tick(now);
        }
        session.drained(more);
        more = false;
        session.tick();
    }

    /** Connects now where it would be tried again later. */
    void hurry() {
        if (live != null) {
            live.hurry();
        }
        if (replay != null) {
            replay.hurry();
        }
    }

    void close() {
        if (server != null) {
            server.close();
            server = null;
        }
        if (live != null) {
            live.close();
            live = null;
        }
        closeReplay();
    }

    /** What the publisher says of its own accord. */
    private final class Live implements ZmtpDialer.Listener {
        @Override
        public void unresolved(String why) {
            if (!warned) {
                warned = true;
                LOG.warnf(
                        "cannot connect to the KV events of %s at %s yet: %s; trying again every"
                                + " %d ms",
                        source.worker(),
                        source.endpoint(),
                        why,
                        settings.reconnectMax().toMillis());
            }
        }

        @Override
        public void up(ZmtpConnection connection) {
            connection.send(ZmtpBytes.subscription(topic));
            if (peers++ > 0) {
                // To a socket of ours: its old connection is not known to have ended.
                session.disconnected("another publisher has connected");
            }
            warned = false;
            session.connected();
        }

        @Override
        public void message(ZmtpConnection connection, List<byte[]> frames) {
            byte[] first = frames.getFirst();
            if (first.length < topic.length
                    || !Arrays.equals(first, 0, topic.length, topic, 0, topic.length)) {
                return;
            }
            EventMessages.live(frames)
                    .ifPresentOrElse(
                            m -> session.live(m.sequence(), m.payload()), () -> unusable(frames));
        }

        @Override
        public void turnEnded(boolean left) {
            more = left;
            if (left) {
                session.drained(true);
            }
        }

        @Override
        public void down(ZmtpConnection connection, IOException why) {
            if (why instanceof ProtocolException && !warned) {
                warned = true;
                LOG.warnf(
                        "cannot take the KV events of %s at %s: %s; check the event endpoints of"
                                + " this worker; it is tried again",
                        source.worker(), source.endpoint(), why.getMessage());
            }
            LOG.debugf("KV events of %s at %s: %s", source.worker(), source.endpoint(), why);
            if (connection.up() && --peers == 0) {
                session.disconnected();
            }
        }
    }

    private void unusable(List<byte[]> frames) {
        String form = EventMessages.form(frames);
        session.unusable(form);
        if (!formTold) {
            formTold = true;
            LOG.warnf(
                    "KV events of %s at %s are not taken: a message has %s",
                    source.worker(), source.endpoint(), form);
        }
    }

    /** What the publisher says when it is asked. */
    private final class Replay implements ZmtpDialer.Listener {
        @Override
        public void unresolved(String why) {
            LOG.debugf("replay endpoint of %s: %s", source.worker(), why);
        }

        @Override
        public void up(ZmtpConnection connection) {
            if (asked != null) {
                connection.send(ZmtpBytes.message(asked));
            }
        }

        @Override
        public void message(ZmtpConnection connection, List<byte[]> frames) {
            EventMessages.replay(frames)
                    .ifPresentOrElse(ZmqSource.this::answered, counters::badFrame);
        }

        @Override
        public void turnEnded(boolean left) {
            // Answers end by themselves; only the live stream can be behind.
        }

        @Override
        public void down(ZmtpConnection connection, IOException why) {
            LOG.debugf("replay of %s at %s: %s", source.worker(), source.replayEndpoint(), why);
        }
    }

    private void answered(EventMessages.Message message) {
        if (message.end()) {
            asked = null;
            session.replayEnded();
        } else {
            session.replayed(message.sequence(), message.payload());
        }
    }

    private void requestReplay(long fromSequence) {
        if (asked != null) {
            closeReplay();
        }
        asked = EventMessages.request(fromSequence);
        if (replay == null) {
            String endpoint = source.replayEndpoint();
            if (endpoint == null) {
                throw new IllegalStateException("no replay endpoint");
            }
            replay = dialer(ZmtpAddress.parse(endpoint), ZmtpConnection.Role.DEALER, new Replay());
            replay.dial();
        } else {
            // When it is not up, the request goes out as soon as it is.
            replay.send(asked);
        }
    }

    private void closeReplay() {
        asked = null;
        if (replay != null) {
            replay.close();
            replay = null;
        }
    }
}
