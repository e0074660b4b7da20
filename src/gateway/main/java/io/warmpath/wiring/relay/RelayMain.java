package io.warmpath.wiring.relay;

import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.Registration;
import io.warmpath.adapter.nats.Relay;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.config.state.NatsConfig;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceStatus;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.wiring.events.NatsParts;
import io.warmpath.wiring.settings.ExitCode;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.io.PrintStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code warmpath relay}: reads one engine's KV events and passes them on to JetStream, until the
 * process is told to stop. It does not decode them. Order, holes and restarts of the engine are
 * found here, once for all gateways, by the same session that a gateway has for an engine of its
 * own.
 */
public final class RelayMain implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(RelayMain.class);
    private static final long RETRY_MILLIS = 250;

    /** The engine's word against the stream's newest message: kept until the engine is there. */
    private static final Duration RESUME = Duration.ofDays(1);

    private final NatsLink link;
    private final Relay relay;
    private final ZmqEventFeed feed;
    private final Map<EventSource, EventFeed.Subscription> open = new ConcurrentHashMap<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final NatsNames names;
    private final SecureRandom random = new SecureRandom();

    private @Nullable Registration registration; // guarded by this

    private RelayMain(RelayFlags flags, NatsConfig config) {
        names = NatsParts.names(config);
        link = NatsParts.open(config);
        relay =
                new Relay(
                        link,
                        names,
                        new Relay.Options(flags.ringBytes(), config.retention()),
                        System::nanoTime,
                        System::currentTimeMillis,
                        random::nextLong,
                        this::engineThere);
        ZmqEventFeed.Settings d = ZmqEventFeed.Settings.DEFAULT;
        feed =
                new ZmqEventFeed(
                        relay::sink,
                        new EventCounters(),
                        new ZmqEventFeed.Settings(
                                d.replayTimeout(),
                                d.auditInterval(),
                                d.stallTimeout(),
                                RESUME,
                                d.reconnectInitial(),
                                d.reconnectMax()),
                        System::nanoTime);
    }

    /**
     * Blocks while it runs.
     *
     * @return 0 after a normal end, 2 for wrong flags or settings, 1 when it cannot start
     */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        RelayFlags flags;
        NatsConfig config;
        try {
            flags = RelayFlags.parse(args);
            if (flags.help()) {
                out.print(RelayFlags.HELP);
                return 0;
            }
            config = config(flags.settings());
        } catch (IllegalArgumentException e) {
            err.println("warmpath relay: " + e.getMessage());
            return ExitCode.USAGE;
        }
        try (RelayMain main = new RelayMain(flags, config)) {
            Thread hook = new Thread(main::stop, "warmpath-relay-stop");
            Runtime.getRuntime().addShutdownHook(hook);
            main.follow(flags, out);
            main.register(flags);
            main.stopped.await();
            return 0;
        } catch (StartFailure | IllegalArgumentException e) {
            err.println("warmpath relay: " + e.getMessage());
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }

    /** The keys under {@code warmpath.nats}, from where the gateway has them too. */
    static NatsConfig config(Map<String, String> flags) {
        flags.forEach(System::setProperty);
        SmallRyeConfig read =
                new SmallRyeConfigBuilder()
                        .addDefaultInterceptors()
                        .addSystemSources()
                        .addDiscoveredSources()
                        .withMapping(NatsConfig.class, "warmpath.nats")
                        .build();
        return read.getConfigMapping(NatsConfig.class, "warmpath.nats");
    }

    private void follow(RelayFlags flags, PrintStream out) throws InterruptedException {
        for (EventSource source : sources(flags)) {
            SourceMark from = source.replayEndpoint() == null ? null : whereToGoOn(source);
            open.put(source, feed.subscribe(source, RelayMain::changed, from));
            out.printf(
                    "relaying KV events of %s, id %s, rank %d, from %s to %s%n",
                    source.worker(),
                    Long.toUnsignedString(source.workerId()),
                    source.dpRank(),
                    source.endpoint(),
                    link);
        }
        out.flush();
    }

    /** Once its events are read, so that gateways miss none of a worker they hear of. */
    private synchronized void register(RelayFlags flags) {
        RelayRegistration r = flags.registration();
        if (r != null && stopped.getCount() > 0) {
            registration =
                    new Registration(
                            link,
                            names,
                            r.worker(),
                            flags.workerId(),
                            r.lease(),
                            HexFormat.of().toHexDigits(random.nextLong()),
                            System::nanoTime);
        }
    }

    private static List<EventSource> sources(RelayFlags flags) {
        List<EventSource> sources = new ArrayList<>();
        for (EventEndpoint e : flags.engines()) {
            // A slot is a number of an index; here is none.
            List<WorkerSlot> slots = List.of(new WorkerSlot(e.dpRank()));
            String name = flags.worker() == null ? "the engine" : flags.worker();
            sources.add(
                    new EventSource(
                            name,
                            e.dpRank(),
                            slots,
                            e.endpoint(),
                            e.bind(),
                            e.replayEndpoint(),
                            e.topic(),
                            0,
                            flags.workerId()));
        }
        return sources;
    }

    /**
     * What a relay before this one has passed on is in the stream, so NATS is waited for: meanwhile
     * the engine keeps its events itself, to be asked for. (One that cannot be asked is listened to
     * at once.)
     */
    private @Nullable SourceMark whereToGoOn(EventSource source) throws InterruptedException {
        boolean said = false;
        while (stopped.getCount() > 0) {
            try {
                return relay.resume(source);
            } catch (IOException e) {
                if (!said) {
                    said = true;
                    LOG.warnf(
                            "Waiting for NATS at %s before reading %s: %s",
                            link, source.endpoint(), e.getMessage());
                }
                TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
            }
        }
        return null;
    }

    private static void changed(EventSource source, EventView before, SourceStatus now) {
        LOG.infof(
                "KV events of %s/%d: %s, was %s (%s)",
                source.worker(), source.dpRank(), now.state().word(), before.word(), now.why());
    }

    private boolean engineThere(EventSource source) {
        EventFeed.Subscription s = open.get(source);
        // Frozen: whether it is the same engine is not known.
        return s != null && s.state() != EventView.GONE && s.state() != EventView.FROZEN;
    }

    private void stop() {
        stopped.countDown();
        close();
    }

    /** Takes the worker back, so that it gets nothing new, and sends what still waits. */
    @Override
    public void close() {
        takeBack();
        feed.close();
        relay.close();
        link.close();
    }

    private synchronized void takeBack() {
        if (registration != null) {
            registration.close();
            registration = null;
        }
    }
}
