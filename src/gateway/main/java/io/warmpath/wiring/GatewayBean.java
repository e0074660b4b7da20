package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.warmpath.adapter.nativeindex.NativeIndexException;
import io.warmpath.api.CrossOrigin;
import io.warmpath.api.client.ClientApis;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.wiring.channel.RecordChannels;
import io.warmpath.wiring.control.ControlPlane;
import io.warmpath.wiring.events.NatsParts;
import io.warmpath.wiring.settings.CorsSettings;
import io.warmpath.wiring.settings.StartFailure;
import io.warmpath.wiring.warmup.Warmup;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jboss.logging.Logger;

/** Ties a {@link GatewayRuntime} to the life of the application. */
@Singleton
@SuppressWarnings("deprecation") // the registry that Quarkus has
class GatewayBean {
    private static final Logger LOG = Logger.getLogger(GatewayBean.class);

    private final GatewayRuntime runtime;
    private final RecordChannels channels;
    private final PrometheusMeterRegistry prometheus;
    private final Optional<CrossOrigin> crossOrigin;
    private final Duration grace;

    @Inject
    GatewayBean(
            WarmpathConfig config,
            Vertx vertx,
            MeterRegistry meters,
            ControlPlane control,
            RecordChannels channels,
            PrometheusMeterRegistry prometheus) {
        this.prometheus = prometheus;
        this.grace = config.http().shutdownGrace();
        this.crossOrigin = CorsSettings.of(config.http().cors());
        TelemetryParts.formLog(config.telemetry()); // before any part has something to say
        this.channels = channels;
        channels.problem()
                .ifPresent(
                        why -> {
                            throw new StartFailure(why);
                        });
        channels.bind(meters);
        if (channels.wantNats()) {
            channels.open(NatsParts.open(config.nats()), NatsParts.names(config.nats()));
        }
        try {
            runtime = new GatewayRuntime(config, vertx, meters, control, channels.records());
        } catch (NativeIndexException e) {
            throw new StartFailure(String.valueOf(e.getMessage()));
        }
    }

    void mount(@Observes Router router) {
        throughRuntime()
                .ifPresent(
                        why -> {
                            LOG.infof("All requests go through the server's codec: %s", why);
                            runtime.routes().rawRequests().close();
                        });
        runtime.routes().mount(router);
        runtime.routes().mountMetrics(router, prometheus::scrape);
        crossOrigin.ifPresent(pages -> runtime.routes().allow(router, pages));
    }

    /** Why requests must not go past the runtime's server. */
    private static Optional<String> throughRuntime() {
        return GracefulStop.isPossible()
                ? RuntimeHooks.asked(ConfigProvider.getConfig())
                        .map(name -> name + " asks the runtime to see them")
                : Optional.of("this version of Quarkus would not wait for others when it stops");
    }

    void start(@Observes StartupEvent event) {
        runtime.start();
    }

    /** What the resources for clients ask for. */
    @Produces
    @Singleton
    ClientApis clients() {
        return runtime.routes().apis();
    }

    AdminParts admin() {
        return runtime.admin();
    }

    HealthParts health() {
        return runtime.health();
    }

    Warmup warmup() {
        return runtime.warmup();
    }

    void leaving(@Observes ShutdownDelayInitiatedEvent event) {
        LOG.info("Told to stop: /ready says so now; running answers may end");
        runtime.leaving();
        if (GracefulStop.isPossible()) {
            GracefulStop.waitFor(
                    List.of(runtime.routes().rawRequests(), runtime.routes().proxied()),
                    grace,
                    ServerConnections::letGo);
        }
    }

    void stop(@Observes ShutdownEvent event) {
        runtime.close();
        channels.close();
    }
}
