package io.warmpath.wiring.control;

import io.smallrye.mutiny.Uni;
import io.smallrye.reactive.messaging.connector.InboundConnector;
import io.smallrye.reactive.messaging.connector.OutboundConnector;
import io.smallrye.reactive.messaging.providers.helpers.MultiUtils;
import io.warmpath.adapter.nats.NatsChannel;
import io.warmpath.adapter.nats.NatsLink;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.spi.Connector;

/**
 * Reactive messaging's channels over NATS core: texts, at most once, for who is there. A channel
 * has one attribute of its own, {@code topic}. Without a {@link ControlLink} that is open a channel
 * does nothing; what is sent then is refused.
 */
@ApplicationScoped
@Connector(NatsConnector.NAME)
public class NatsConnector implements InboundConnector, OutboundConnector {
    static final String NAME = "warmpath-nats";

    private static final String TOPIC = "topic";

    private final ControlLink link;

    @Inject
    NatsConnector(ControlLink link) {
        this.link = link;
    }

    @Override
    public Flow.Publisher<? extends Message<?>> getPublisher(Config config) {
        String topic = config.getValue(TOPIC, String.class);
        return new NatsChannel(() -> link.subject(topic)).texts(link.link()).map(Message::of);
    }

    @Override
    public Flow.Subscriber<? extends Message<?>> getSubscriber(Config config) {
        String topic = config.getValue(TOPIC, String.class);
        return MultiUtils.via(
                messages ->
                        messages.onItem()
                                .transformToUniAndConcatenate(
                                        m -> Uni.createFrom().completionStage(send(topic, m))));
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
