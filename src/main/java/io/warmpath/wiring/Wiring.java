package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.ext.web.Router;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.api.AdminAccess;
import io.warmpath.api.WorkersApi;
import io.warmpath.config.IndexImplementation;
import io.warmpath.config.RoutingMode;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.events.EventCounters;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.Routers;
import io.warmpath.telemetry.EventMeters;
import io.warmpath.telemetry.FleetMeters;
import io.warmpath.telemetry.IndexMeters;
import io.warmpath.telemetry.LoadMeters;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;

/**
 * The composition root: builds the parts from the bottom up, closes them from the top down.
 *
 * <p>Built and closed once by the container, before the first and after the last request.
 */
@Singleton
public final class Wiring {
    private static final Logger LOG = Logger.getLogger(Wiring.class);

    private final Deque<AutoCloseable> closing = new ArrayDeque<>();

    private final WorkersApi workersApi;
    private final io.warmpath.routing.Router router;

    @Inject
    Wiring(WarmpathConfig config, MeterRegistry meters) {
        try {
            PrefixIndex index = owned(index(config.index()));
            IndexMeters.bind(meters, index, System::nanoTime);
            LoadTracker load =
                    new LoadTracker(System::nanoTime, config.router().activeRequestExpiry());
            LoadMeters.bind(meters, load);
            FleetRuntime fleet = owned(fleet(config, index, load, meters));
            router = Routers.create(routing(config.router()), load, ThreadLocalRandom::current);
            workersApi =
                    new WorkersApi(
                            fleet.registry(), new AdminAccess(token(config.admin())), errors());
            fleet.start();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T owned(T part) {
        closing.push(part);
        return part;
    }

    static PrefixIndex index(WarmpathConfig.Index config) {
        if (config.implementation() == IndexImplementation.JAVA) {
            LOG.warn(
                    "The prefix index is the Java reference (warmpath.index.implementation): slow,"
                            + " for debugging");
            return new ReferencePrefixIndex();
        }
        throw new IllegalStateException(
                "warmpath.index.implementation=native is not wired in this build; use java");
    }

    private FleetRuntime fleet(
            WarmpathConfig config, PrefixIndex index, LoadTracker load, MeterRegistry meters) {
        EventCounters counters = new EventCounters();
        ZmqEventFeed feed =
                followsEvents(config.router())
                        ? owned(
                                new ZmqEventFeed(
                                        index, counters, events(config.events()), System::nanoTime))
                        : null;
        FleetRuntime fleet =
                new FleetRuntime(
                        config, index, feed, slot -> load.load(slot).requests(), load::forget);
        FleetMeters.bind(meters, fleet.registry(), fleet.monitor(), load);
        EventSubscriptions subscriptions = fleet.subscriptions();
        if (subscriptions != null) {
            EventMeters.bind(meters, counters, subscriptions::open, subscriptions::trusted);
        }
        return fleet;
    }

    /** A weight of 0 means that nobody looks at the index, so nobody needs to fill it. */
    static boolean followsEvents(WarmpathConfig.Router config) {
        return config.useKvEvents()
                && !(config.mode() == RoutingMode.KV && config.overlapScoreWeight() == 0);
    }

    static RouterOptions routing(WarmpathConfig.Router config) {
        return new RouterOptions(
                RouterMode.valueOf(config.mode().name()),
                config.overlapScoreWeight(),
                config.temperature(),
                config.hostCacheHitWeight(),
                config.diskCacheHitWeight());
    }

    static ZmqEventFeed.Settings events(WarmpathConfig.Events config) {
        return new ZmqEventFeed.Settings(
                config.replayTimeout(),
                config.auditInterval(),
                config.reconnectMinDelay(),
                config.reconnectMaxDelay());
    }

    /**
     * The admin token, from the file when one is named.
     *
     * @throws IllegalStateException when the file cannot be read or is empty: without a token the
     *     endpoints would be open to this machine
     */
    static Optional<String> token(WarmpathConfig.Admin config) {
        if (config.tokenFile().isEmpty()) {
            return config.token();
        }
        Path file = Path.of(config.tokenFile().get());
        try {
            String token = Files.readString(file).strip();
            if (token.isEmpty()) {
                throw new IllegalStateException("the admin token file " + file + " is empty");
            }
            return Optional.of(token);
        } catch (IOException e) {
            throw new IllegalStateException(
                    "the admin token file " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static WorkersApi.Errors errors() {
        return AdminErrors::respond;
    }

    void mount(@Observes Router http) {
        workersApi.mount(http);
    }

    io.warmpath.routing.Router router() {
        return router;
    }

    @PreDestroy
    void close() {
        while (!closing.isEmpty()) {
            AutoCloseable part = closing.pop();
            try {
                part.close();
            } catch (Exception e) {
                LOG.errorf(e, "%s did not close cleanly", part.getClass().getSimpleName());
            }
        }
    }
}
