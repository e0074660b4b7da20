package io.warmpath.adapter.nats;

import io.nats.client.AuthHandler;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Consumer;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.ServerInfo;
import io.nats.client.support.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The one connection of this process to NATS, kept for ever: it is tried again every 250 to 500 ms,
 * to whichever server of the cluster answers. Starting does not wait for a server.
 *
 * <p>Any thread. While there is no server, publishing and requests fail at once ({@link
 * IllegalStateException} of jnats): nothing is kept for later, as what is said late about load is
 * wrong, and what must not be lost has a place of its own. Publishing may block for a moment when
 * the socket does not take more: never on an event loop.
 */
public final class NatsLink implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(NatsLink.class);

    private static final TestedServers TESTED = new TestedServers();

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration RETRY = Duration.ofMillis(250);
    private static final Duration RETRY_JITTER = Duration.ofMillis(250);
    private static final Duration PING = Duration.ofSeconds(5);

    /** Told of every change, on jnats' thread; must not wait. */
    @FunctionalInterface
    public interface LinkListener {
        /** {@code connected}: to a server, maybe another one than before. */
        void changed(boolean connected);
    }

    private final NatsOptions options;
    private final List<LinkListener> listeners = new CopyOnWriteArrayList<>();
    private final LongAdder losses = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private final RareWarnings warnings = new RareWarnings(System::nanoTime);

    /** The first one stays: jnats connects it again by itself. */
    private volatile @Nullable Connection connection;

    private volatile boolean connected;
    private volatile boolean closed;

    private NatsLink(NatsOptions options) {
        this.options = options;
    }

    /**
     * Begins to connect, and returns.
     *
     * @param name shown by the server's monitoring
     * @throws IllegalArgumentException when a file for the connection cannot be used
     */
    public static NatsLink open(NatsOptions options, String name) {
        return open(options, name, true);
    }

    /**
     * The same.
     *
     * @param echo whether what is published here comes to subscriptions of this connection too
     */
    public static NatsLink open(NatsOptions options, String name, boolean echo) {
        NatsLink link = new NatsLink(options);
        try {
            Nats.connectAsynchronously(link.jnats(name, echo), true);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while connecting to NATS", e);
        }
        return link;
    }

    /** Told of the state now, and of every later change. */
    public void listen(LinkListener listener) {
        listeners.add(listener);
        listener.changed(connected);
    }

    /** Whether a server answers now. */
    public boolean connected() {
        return connected;
    }

    /** Empty before the first server has answered; then always the same, connected or not. */
    public Optional<Connection> connection() {
        return Optional.ofNullable(connection);
    }

    /** Connections lost. */
    public long losses() {
        return losses.sum();
    }

    /** What jnats or the server complained of. */
    public long errors() {
        return errors.sum();
    }

    /** The servers, without what is secret. */
    @Override
    public String toString() {
        return options.toString();
    }

    @Override
    public void close() {
        Connection known;
        synchronized (this) {
            closed = true;
            known = connection;
        }
        if (known != null) {
            end(known);
        }
    }

    private static void end(Connection known) {
        try {
            known.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Options jnats(String name, boolean echo) {
        Options.Builder b =
                new Options.Builder()
                        .servers(options.servers().toArray(String[]::new))
                        .connectionName(name)
                        .connectionTimeout(CONNECT_TIMEOUT)
                        .maxReconnects(-1)
                        .reconnectWait(RETRY)
                        .reconnectJitter(RETRY_JITTER)
                        .reconnectJitterTls(RETRY_JITTER)
                        .pingInterval(PING)
                        .reconnectBufferSize(0)
                        .connectionListener(new Changes())
                        .errorListener(new Errors());
        if (!echo) {
            b.noEcho();
        }
        Path credentials = options.credentials();
        String user = options.user();
        String password = options.password();
        String token = options.token();
        if (credentials != null) {
            b.authHandler(credentials(credentials));
        } else if (user != null && password != null) {
            b.userInfo(user.toCharArray(), password.toCharArray());
        } else if (token != null) {
            b.token(token.toCharArray());
        }
        if (options.encrypted()) {
            b.sslContext(NatsTls.context(options));
        }
        return b.build();
    }

    private static AuthHandler credentials(Path file) {
        if (!Files.isReadable(file)) {
            throw new IllegalArgumentException(
                    "the file " + file + " (warmpath.nats.credentials-file) cannot be read");
        }
        return Nats.credentials(file.toString());
    }

    private void changed(Connection c, boolean now) {
        synchronized (this) {
            if (closed) {
                if (now) {
                    end(c);
                }
                return;
            }
            connection = c;
            if (connected == now) {
                return;
            }
            connected = now;
        }
        if (now) {
            ServerInfo server = c.getServerInfo();
            String up =
                    "NATS: connected to " + c.getConnectedUrl() + ", server " + server.getVersion();
            LOG.log(warnings.isNew(up) ? Logger.Level.INFO : Logger.Level.DEBUG, up);
            TESTED.older(server).ifPresent(why -> LOG.warnf("NATS: %s", why));
        } else {
            losses.increment();
            warn("NATS: the connection to " + this + " was lost; it is tried again");
        }
        listeners.forEach(l -> l.changed(now));
    }

    /** A server that flaps, or refuses, says the same at every try. */
    private void warn(String text) {
        LOG.log(warnings.isNew(text) ? Logger.Level.WARN : Logger.Level.DEBUG, text);
    }

    private final class Changes implements ConnectionListener {
        @Override
        @SuppressWarnings("deprecation") // the only form that has to be there
        public void connectionEvent(Connection c, Events event) {
            switch (event) {
                case CONNECTED, RECONNECTED, RESUBSCRIBED -> changed(c, true);
                case DISCONNECTED, CLOSED -> changed(c, false);
                default -> LOG.debugf("NATS: %s", event);
            }
        }
    }

    /** jnats' own listener writes a line for every message of flow control. */
    private final class Errors implements ErrorListener {
        @Override
        public void errorOccurred(Connection c, String error) {
            errors.increment();
            warn("NATS at " + NatsLink.this + ": " + error);
        }

        @Override
        public void exceptionOccurred(Connection c, Exception e) {
            LOG.debugf("NATS: %s", e);
        }

        @Override
        public void slowConsumerDetected(Connection c, Consumer consumer) {
            errors.increment();
            LOG.debugf("NATS: slow consumer, %d dropped", consumer.getDroppedCount());
        }

        @Override
        public void messageDiscarded(Connection c, Message m) {
            errors.increment();
        }

        @Override
        public void heartbeatAlarm(Connection c, JetStreamSubscription s, long last, long seen) {
            LOG.debugf("NATS: no heartbeat on %s", s.getSubject());
        }

        @Override
        public void pullStatusError(Connection c, JetStreamSubscription s, Status status) {
            LOG.debugf("NATS: %s", status);
        }
    }
}
