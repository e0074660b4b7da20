package io.warmpath.wiring.control;

import io.smallrye.mutiny.Uni;
import io.smallrye.reactive.messaging.connector.InboundConnector;
import io.smallrye.reactive.messaging.connector.OutboundConnector;
import io.smallrye.reactive.messaging.providers.helpers.MultiUtils;
import io.warmpath.adapter.nats.NatsChannel;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.wiring.channel.RecordLink;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.spi.Connector;

/**
 * Reactive messaging's channels over NATS. Attributes: {@code topic}, the channel's name unless
 * set, and {@code stored}, true unless set.
 *
 * <ul>
 *   <li>Stored: texts go into a JetStream stream, each once and acknowledged. While there is no
 *       server, {@link #UNDER_WAY} are tried again and no more are asked for.
 *   <li>Not stored: NATS core, at most once, for who is there. Without a {@link ControlLink} that
 *       is open a channel does nothing; what is sent then is refused.
 * </ul>
 */
@ApplicationScoped
@Connector(NatsConnector.NAME)
public class NatsConnector implements InboundConnector, OutboundConnector {
    static final String NAME = "warmpath-nats";

    private static final String TOPIC = "topic";
    private static final int UNDER_WAY = 64;
    private static final Duration RETRY = Duration.ofMillis(250);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final ControlLink link;
    private final RecordLink records;

    /** Of this process: no other one makes the same ids. */
    private final String process = Long.toHexString(new SecureRandom().nextLong());

    private final AtomicLong next = new AtomicLong();

    @Inject
    NatsConnector(ControlLink link, RecordLink records) {
        this.link = link;
        this.records = records;
    }

    @Override
    public Flow.Publisher<? extends Message<?>> getPublisher(Config config) {
        String topic = topic(config);
        return new NatsChannel(() -> link.subject(topic)).texts(link.link()).map(Message::of);
    }

    @Override
    public Flow.Subscriber<? extends Message<?>> getSubscriber(Config config) {
        String topic = topic(config);
        if (config.getOptionalValue("stored", Boolean.class).orElse(true)) {
            return MultiUtils.via(
                    messages ->
                            messages.onItem()
                                    .transformToUni(m -> store(topic, m))
                                    .merge(UNDER_WAY));
        }
        return MultiUtils.via(
                messages ->
                        messages.onItem()
                                .transformToUniAndConcatenate(
                                        m -> Uni.createFrom().completionStage(send(topic, m))));
    }

    private static String topic(Config config) {
        return config.getOptionalValue(TOPIC, String.class)
                .orElseGet(() -> config.getValue("channel-name", String.class));
    }

    /** Until the server has it, or the gateway ends. */
    private Uni<Void> store(String topic, Message<?> m) {
        byte[] text = String.valueOf(m.getPayload()).getBytes(StandardCharsets.UTF_8);
        String id = process + "-" + next.getAndIncrement();
        return Uni.createFrom()
                .completionStage(() -> records.store(topic, id, text))
                .onFailure()
                .retry()
                .withBackOff(RETRY, LONGEST_RETRY)
                .until(e -> !records.closed())
                .chain(() -> Uni.createFrom().completionStage(m.ack()))
                .onFailure()
                .recoverWithUni(e -> Uni.createFrom().completionStage(m.nack(e)));
    }

    private CompletionStage<Void> send(String topic, Message<?> m) {
        NatsLink to = link.now();
        try {
            if (to == null) {
                throw new IllegalStateException("no NATS link is open");
            }
            new NatsChannel(() -> link.subject(topic)).say(to, String.valueOf(m.getPayload()));
            return m.ack();
        } catch (IllegalStateException e) {
            return m.nack(e);
        }
    }
}
