package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.warmpath.adapter.nativeindex.NativeIndexException;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.wiring.control.ControlPlane;
import io.warmpath.wiring.warmup.Warmup;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/** Ties a {@link GatewayRuntime} to the life of the application. */
@Singleton
class GatewayBean {
    private final GatewayRuntime runtime;

    @Inject
    GatewayBean(WarmpathConfig config, Vertx vertx, MeterRegistry meters, ControlPlane control) {
        try {
            runtime = new GatewayRuntime(config, vertx, meters, control);
        } catch (NativeIndexException e) {
            throw new StartFailure(String.valueOf(e.getMessage()));
        }
    }

    void mount(@Observes Router router) {
        runtime.mount(router);
    }

    void start(@Observes StartupEvent event) {
        runtime.start();
    }

    Warmup warmup() {
        return runtime.warmup();
    }

    void stop(@Observes ShutdownEvent event) {
        runtime.close();
    }
}
