package io.warmpath.wiring.channel;

import io.micrometer.core.instrument.MeterRegistry;
import io.smallrye.reactive.messaging.connector.OutboundConnector;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.api.admin.DecisionLines;
import io.warmpath.config.ChannelsConfig;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.telemetry.UsageTracing;
import io.warmpath.telemetry.channel.ChannelMeters;
import io.warmpath.telemetry.channel.RecordChannel;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.Outgoing;
import org.eclipse.microprofile.reactive.messaging.spi.Connector;
import org.eclipse.microprofile.reactive.messaging.spi.ConnectorLiteral;
import org.jspecify.annotations.Nullable;

/**
 * The channels {@code usage} and {@code decisions}: off, and without cost, unless the settings name
 * a connector. Any thread.
 */
@Singleton
public class RecordChannels implements AutoCloseable {
    private static final String USAGE = "usage";
    private static final String DECISIONS = "decisions";

    private final ChannelsConfig config;
    private final Instance<OutboundConnector> connectors;
    private final RecordLink link;
    private final @Nullable RecordChannel<UsageTracing.Usage> usage;
    private final @Nullable RecordChannel<Supplier<byte[]>> decisions;

    @Inject
    RecordChannels(
            WarmpathConfig config, @Any Instance<OutboundConnector> connectors, RecordLink link) {
        this.config = config.channels();
        this.connectors = connectors;
        this.link = link;
        int queue = this.config.queue();
        usage =
                this.config
                        .usage()
                        .map(
                                c ->
                                        new RecordChannel<UsageTracing.Usage>(
                                                USAGE, c, queue, u -> u.record().text()))
                        .orElse(null);
        decisions =
                this.config
                        .decisions()
                        .map(
                                c ->
                                        new RecordChannel<Supplier<byte[]>>(
                                                DECISIONS,
                                                c,
                                                queue,
                                                d -> new String(d.get(), StandardCharsets.UTF_8)))
                        .orElse(null);
    }

    /** A sentence about a connector that this build does not have. */
    public Optional<String> problem() {
        Map<String, String> wanted = new TreeMap<>();
        config.usage().ifPresent(c -> wanted.put(USAGE, c));
        config.decisions().ifPresent(c -> wanted.put(DECISIONS, c));
        for (Map.Entry<String, String> w : wanted.entrySet()) {
            String connector = ChannelSettings.connector(w.getValue());
            if (connectors.select(ConnectorLiteral.of(connector)).isUnsatisfied()) {
                return Optional.of(
                        ("warmpath.channels.%s = %s: this build has no connector of that"
                                        + " name, it has %s; kafka and amqp want a build with them:"
                                        + " `./warmpath build --with kafka,amqp`"
                                        + " (src/docs/how-to/usage-records.md).")
                                .formatted(w.getKey(), w.getValue(), String.join(", ", names())));
            }
        }
        return Optional.empty();
    }

    private Iterable<String> names() {
        return connectors
                .handlesStream()
                .flatMap(h -> h.getBean().getQualifiers().stream())
                .filter(Connector.class::isInstance)
                .map(q -> ((Connector) q).value())
                .sorted()
                .toList();
    }

    /** A channel needs the connection to NATS. */
    public boolean wantNats() {
        return config.usage().filter("nats"::equals).isPresent()
                || config.decisions().filter("nats"::equals).isPresent();
    }

    /** The connection, where one is wanted. Once. */
    public void open(NatsLink link, NatsNames names) {
        this.link.open(link, names);
    }

    /** What is to be known of requests, where a channel is on. */
    public RequestRecords records() {
        return new RequestRecords(
                usage == null ? null : usage::offer,
                decisions == null ? null : new Decisions(decisions));
    }

    /** Texts are made on the channel's thread. */
    private record Decisions(RecordChannel<Supplier<byte[]>> to) implements DecisionLog.Sink {
        @Override
        public void decided(DecisionLog.Logged decision) {
            to.offer(() -> DecisionLines.of(decision));
        }

        @Override
        public void ended(DecisionLog.Ended end) {
            to.offer(() -> DecisionLines.of(end));
        }
    }

    public void bind(MeterRegistry meters) {
        bind(meters, usage, decisions);
    }

    /** The meters of channels that nobody can switch on. */
    public static void bindOff(MeterRegistry meters) {
        bind(meters, null, null);
    }

    private static void bind(
            MeterRegistry meters,
            @Nullable RecordChannel<?> usage,
            @Nullable RecordChannel<?> decisions) {
        ChannelMeters.bind(meters, USAGE, usage);
        ChannelMeters.bind(meters, DECISIONS, decisions);
    }

    @Outgoing(USAGE)
    Flow.Publisher<Message<String>> usage() {
        return usage == null ? Flow.Subscriber::onComplete : usage;
    }

    @Outgoing(DECISIONS)
    Flow.Publisher<Message<String>> decisions() {
        return decisions == null ? Flow.Subscriber::onComplete : decisions;
    }

    @Override
    public void close() {
        if (usage != null) {
            usage.close();
        }
        if (decisions != null) {
            decisions.close();
        }
        link.close();
    }
}
