package io.warmpath.wiring.events;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.nats.NatsEventFeed;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsOptions;
import io.warmpath.adapter.zmq.KvEventDecoder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.state.NatsConfig;
import io.warmpath.events.EventCounters;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.telemetry.NatsMeters;
import io.warmpath.wiring.settings.StartFailure;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;

/** What uses NATS, from the settings. Stateless. */
public final class NatsParts {
    private NatsParts() {}

    /**
     * Begins to connect.
     *
     * @throws StartFailure naming what cannot be
     */
    public static NatsLink open(NatsConfig c) {
        try {
            return NatsLink.open(options(c), "warmpath");
        } catch (IllegalArgumentException e) {
            throw new StartFailure(e.getMessage() + ".");
        }
    }

    /**
     * The events of all engines, through the stream.
     *
     * @param start number of the stream up to which a snapshot has everything; 0: no snapshot
     */
    static NatsEventFeed feed(
            WarmpathConfig all,
            NatsLink link,
            PrefixIndex index,
            EventCounters counters,
            MeterRegistry meters,
            long start) {
        NatsConfig c = all.nats();
        NatsEventFeed feed =
                new NatsEventFeed(
                        link,
                        names(c),
                        index,
                        new KvEventDecoder(),
                        counters,
                        new NatsEventFeed.Settings(
                                routerId(c, all.http().port()),
                                c.retention(),
                                all.events().replayTimeout(),
                                all.events().stallTimeout(),
                                all.state().expiry(),
                                c.relayTimeout()),
                        start,
                        System::nanoTime);
        NatsMeters.bind(
                meters,
                link,
                NatsLink::connected,
                NatsLink::losses,
                feed,
                NatsEventFeed::streamLag,
                NatsEventFeed::troubles);
        return feed;
    }

    /** The configured one, else host name and port. */
    public static String routerId(NatsConfig c, int port) {
        return c.routerId().orElseGet(() -> host() + "-" + port);
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            throw new StartFailure(
                    "this machine's name is not known ("
                            + e.getMessage()
                            + "); name this gateway with --router-id.");
        }
    }

    /**
     * @throws StartFailure naming what cannot be
     */
    public static NatsOptions options(NatsConfig c) {
        try {
            return new NatsOptions(
                    c.servers(),
                    c.credentialsFile().map(Path::of).orElse(null),
                    c.user().orElse(null),
                    c.password().orElse(null),
                    c.token().orElse(null),
                    c.tls().caFile().map(Path::of).orElse(null),
                    c.tls().certFile().map(Path::of).orElse(null),
                    c.tls().keyFile().map(Path::of).orElse(null));
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.nats: " + e.getMessage() + ".");
        }
    }

    /**
     * @throws StartFailure naming what cannot be
     */
    public static NatsNames names(NatsConfig c) {
        try {
            return new NatsNames(c.namespace(), c.component());
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.nats: " + e.getMessage() + ".");
        }
    }
}
