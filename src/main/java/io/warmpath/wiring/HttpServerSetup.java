package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.warmpath.config.ClientTimeoutsConfig;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.telemetry.ClientMeters;
import io.warmpath.upstream.ClientTimeouts;
import io.warmpath.upstream.ServerConnections;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/**
 * What no property of the runtime can say about its HTTP server.
 *
 * <p>HTTP/2 is for clients that ask for it while they set up TLS. Without TLS it is off: Vert.x 4.5
 * answers a request that only offers it ({@code Upgrade: h2c}) with a bare 400 and keeps the socket
 * open.
 */
@Singleton
class HttpServerSetup implements HttpServerOptionsCustomizer {
    private final WarmpathConfig config;

    @Inject
    HttpServerSetup(WarmpathConfig config, MeterRegistry meters) {
        this.config = config;
        ClientTimeouts timeouts = timeouts(config.http().clients());
        ClientMeters.bind(meters, timeouts);
        ServerConnections.limit(timeouts); // made before a server listens
    }

    static ClientTimeouts timeouts(ClientTimeoutsConfig clients) {
        return ClientTimeouts.of(
                clients.headTimeout(),
                clients.bodyTimeout(),
                clients.idleTimeout(),
                System::nanoTime);
    }

    /** Who must show a certificate is fixed at build time for the runtime; not for operators. */
    @Override
    public void customizeHttpsServer(HttpServerOptions options) {
        if (config.http().tls().clientCaFile().isPresent()) {
            options.setClientAuth(ClientAuth.REQUIRED);
        }
    }

    @Override
    public void customizeHttpServer(HttpServerOptions options) {
        options.setHttp2ClearTextEnabled(false);
    }
}
