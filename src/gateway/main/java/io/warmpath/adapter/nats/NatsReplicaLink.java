package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.warmpath.replica.ReplicaLink;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One subject of NATS core as the link between gateways: nothing is stored, everybody hears
 * everybody else, on a connection without echo. Subscribed once, as soon as there is a server;
 * jnats does it again after every loss of the connection.
 */
public final class NatsReplicaLink implements ReplicaLink, AutoCloseable {
    private static final Duration LAST_WORDS = Duration.ofMillis(200);

    private final NatsLink link;
    private final String subject;
    private final Consumer<byte[]> received;
    private volatile @Nullable Connection subscribed;

    /** {@code received}: called on jnats' thread, one message at a time. */
    public NatsReplicaLink(NatsLink link, String subject, Consumer<byte[]> received) {
        this.link = link;
        this.subject = subject;
        this.received = received;
    }

    /** Begins to listen. */
    public void start() {
        link.listen(
                connected -> {
                    if (connected) {
                        link.connection().ifPresent(this::subscribe);
                    }
                });
    }

    private synchronized void subscribe(Connection c) {
        if (subscribed == null) {
            c.createDispatcher(m -> received.accept(m.getData())).subscribe(subject);
            subscribed = c;
        }
    }

    @Override
    public boolean send(byte[] message, int length) {
        Connection c = subscribed;
        if (c == null || !link.connected()) {
            return false;
        }
        try {
            c.publish(subject, Arrays.copyOf(message, length)); // jnats writes it later
            return true;
        } catch (IllegalStateException | IllegalArgumentException e) {
            return false; // not connected at this moment, or more than the server takes
        }
    }

    @Override
    public boolean isUp() {
        return subscribed != null && link.connected();
    }

    @Override
    public int maxBytes() {
        Connection c = subscribed;
        long most = c == null ? 0 : c.getMaxPayload();
        return most <= 0 ? Integer.MAX_VALUE : (int) Math.min(most, Integer.MAX_VALUE);
    }

    /** Waits a moment until what was sent is out. */
    @Override
    public void close() {
        Connection c = subscribed;
        if (c == null || !link.connected()) {
            return;
        }
        try {
            c.flush(LAST_WORDS);
        } catch (TimeoutException | IllegalStateException e) {
            // The others notice by the silence.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
