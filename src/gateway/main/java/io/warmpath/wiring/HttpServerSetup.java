package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.warmpath.api.error.MalformedRequests;
import io.warmpath.api.error.RequestIds;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.http.ClientsConfig;
import io.warmpath.net.server.ClientLimits;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.telemetry.ClientMeters;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What no property of the runtime can say about its HTTP server. HTTP/2 is for clients that ask for
 * it while they set up TLS. Without TLS it is off: Vert.x 4.5 answers a request that only offers it
 * ({@code Upgrade: h2c}) with a bare 400 and keeps the socket open.
 */
@Singleton
class HttpServerSetup implements HttpServerOptionsCustomizer {
    private final WarmpathConfig config;

    @Inject
    HttpServerSetup(WarmpathConfig config, MeterRegistry meters) {
        this.config = config;
        ClientLimits limits = limits(config.http().clients());
        ClientMeters.bind(meters, limits);
        ServerConnections.limit(limits); // made before a server listens
        ServerConnections.refuse(
                new MalformedRequests(
                        new RequestIds(() -> ThreadLocalRandom.current().nextLong())));
    }

    static ClientLimits limits(ClientsConfig clients) {
        return ClientLimits.of(
                clients.headTimeout(),
                clients.bodyTimeout(),
                clients.idleTimeout(),
                OpenFiles.now().clients(clients.maxConnections()),
                "warmpath.http.clients.max-connections",
                System::nanoTime);
    }

    /** Who must show a certificate is fixed at build time for the runtime; not for operators. */
    @Override
    public void customizeHttpsServer(HttpServerOptions options) {
        leaveIdleClientsToUs(options);
        if (config.http().tls().clientCaFile().isPresent()) {
            options.setClientAuth(ClientAuth.REQUIRED);
        }
    }

    @Override
    public void customizeHttpServer(HttpServerOptions options) {
        leaveIdleClientsToUs(options);
        options.setHttp2ClearTextEnabled(false);
    }

    @Override
    public void customizeDomainSocketServer(HttpServerOptions options) {
        leaveIdleClientsToUs(options);
    }

    /**
     * {@code warmpath.http.clients.idle-timeout} knows a silent client from a silent stream. The
     * runtime's own clock does not, and does not see what goes past its codecs: it would cut every
     * answer that takes longer than half an hour.
     */
    private static void leaveIdleClientsToUs(HttpServerOptions options) {
        options.setIdleTimeout(0);
    }
}
