package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.subscription.BackPressureStrategy;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * One subject of NATS core for few and small texts: who is not there misses them. Not for events.
 * Any thread.
 */
public final class NatsChannel {
    private static final Logger LOG = Logger.getLogger(NatsChannel.class);

    private static final int MOST_WAITING = 1000;

    private final Supplier<String> subject;

    /** {@code subject}: asked for once there is a link. */
    public NatsChannel(Supplier<String> subject) {
        this.subject = subject;
    }

    /**
     * Texts as they come, on jnats' thread, from when there is a link; nothing is done before.
     * Behind {@link #MOST_WAITING} that nobody has taken, more are dropped.
     */
    public Multi<String> texts(CompletionStage<NatsLink> link) {
        AtomicInteger waiting = new AtomicInteger();
        return Multi.createFrom()
                .<String>emitter(
                        to ->
                                link.thenAccept(
                                        l -> {
                                            Listener listener =
                                                    new Listener(
                                                            l,
                                                            text -> {
                                                                if (waiting.get() < MOST_WAITING) {
                                                                    waiting.incrementAndGet();
                                                                    to.emit(text);
                                                                }
                                                            });
                                            to.onTermination(listener::end);
                                            l.listen(listener);
                                        }),
                        BackPressureStrategy.BUFFER)
                .invoke(text -> waiting.decrementAndGet());
    }

    /**
     * Says a text to whoever listens now.
     *
     * @throws IllegalStateException when there is no connection: nothing is kept for later
     */
    public void say(NatsLink link, String text) {
        Connection c =
                link.connection()
                        .orElseThrow(() -> new IllegalStateException("NATS is not connected"));
        c.publish(subject.get(), text.getBytes(StandardCharsets.UTF_8));
    }

    /** Subscribes once there is a connection; jnats keeps the subscription over later ones. */
    private final class Listener implements NatsLink.LinkListener {
        private final NatsLink link;
        private final Consumer<String> to;
        private boolean ended;
        private Optional<Dispatcher> open = Optional.empty();

        Listener(NatsLink link, Consumer<String> to) {
            this.link = link;
            this.to = to;
        }

        @Override
        public synchronized void changed(boolean connected) {
            Optional<Connection> c = link.connection();
            if (connected && open.isEmpty() && !ended && c.isPresent()) {
                Dispatcher d =
                        c.get()
                                .createDispatcher(
                                        m ->
                                                to.accept(
                                                        new String(
                                                                m.getData(),
                                                                StandardCharsets.UTF_8)));
                d.subscribe(subject.get());
                open = Optional.of(d);
                LOG.debugf("NATS: listening to %s", subject.get());
            }
        }

        synchronized void end() {
            ended = true;
            try {
                link.connection().ifPresent(c -> open.ifPresent(c::closeDispatcher));
            } catch (IllegalStateException e) {
                LOG.debugf("the connection was closed before: %s", e.getMessage());
            }
        }
    }
}
