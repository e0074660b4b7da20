package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.warmpath.api.Routes;
import io.warmpath.api.picker.PickerMeters;
import io.warmpath.api.picker.PickerOptions;
import io.warmpath.api.picker.PickerServer;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.http.PickerConfig;
import io.warmpath.net.server.SelfSigned;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.settings.StartFailure;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The port on which proxies ask the endpoint picker, if there is one: a listener on each event
 * loop. {@link #start} and {@link #close} not on an event loop.
 */
final class PickerListener implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(PickerListener.class);

    /** A message of a proxy is as large as its buffer for a connection: 1 MiB, or set higher. */
    private static final int MOST_MESSAGE_BYTES = 16 << 20;

    /** As other endpoint pickers. */
    private static final int USUAL_PORT = 9002;

    private static final long START_SECONDS = 30;

    private final PickerConfig config;
    private final String host;
    private final Vertx vertx;
    private final @Nullable PickerServer server;
    private @Nullable String deployment;

    private PickerListener(
            PickerConfig config, String host, Vertx vertx, @Nullable PickerServer server) {
        this.config = config;
        this.host = host;
        this.vertx = vertx;
        this.server = server;
    }

    /**
     * @param largestBody of clients' requests, in bytes
     * @param keyed adds what engines want to be shown
     * @param notPicking why nobody should ask now; empty: ask
     */
    static PickerListener of(
            WarmpathConfig config,
            long largestBody,
            Vertx vertx,
            MeterRegistry meters,
            Routes routes,
            UnaryOperator<EngineClient> keyed,
            Supplier<String> notPicking) {
        PickerConfig picker = config.picker();
        if (picker.only()) {
            routes.onlyPicks();
        }
        PickerServer server =
                port(picker) == 0
                        ? null
                        : routes.picker(
                                new PickerMeters(meters),
                                new PickerOptions(
                                        (int) picker.pieceSize().bytes(),
                                        MOST_MESSAGE_BYTES,
                                        largestBody,
                                        picker.fallbacks(),
                                        picker.testHeader(),
                                        config.http().retryAfter()),
                                keyed,
                                notPicking);
        return new PickerListener(picker, config.http().host(), vertx, server);
    }

    private static int port(PickerConfig config) {
        return config.port() == 0 && config.only() ? USUAL_PORT : config.port();
    }

    /**
     * @throws StartFailure the port or a file cannot be used
     */
    void start() {
        PickerServer handler = server;
        if (handler == null) {
            return;
        }
        HttpServerOptions options = options();
        ServerConnections.leaveAlone(options.getPort());
        int loops = Runtime.getRuntime().availableProcessors();
        try {
            deployment =
                    vertx.deployVerticle(
                                    () -> new Listener(options, handler),
                                    new DeploymentOptions().setInstances(loops))
                            .toCompletionStage()
                            .toCompletableFuture()
                            .get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new StartFailure(
                    "cannot listen on "
                            + host
                            + ":"
                            + options.getPort()
                            + " for the endpoint picker ("
                            + (e.getCause() == null ? e : e.getCause()).getMessage()
                            + "); choose another port with --endpoint-picker-port.");
        } catch (TimeoutException e) {
            throw new StartFailure("the endpoint picker's port was not opened in time");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartFailure("interrupted while the endpoint picker's port was opened");
        }
        LOG.infof(
                "Endpoint picker: ext_proc on %s:%d, %s",
                host, options.getPort(), config.tls() ? "HTTP/2 in TLS" : "HTTP/2 in clear text");
    }

    private HttpServerOptions options() {
        HttpServerOptions options = PickerServer.options().setHost(host).setPort(port(config));
        if (config.certFile().isPresent() != config.keyFile().isPresent()) {
            throw new StartFailure(
                    "the endpoint picker's TLS needs both: warmpath.picker.cert-file and key-file.");
        }
        if (config.tls()) {
            options.setSsl(true).setUseAlpn(true).setKeyCertOptions(certificate());
        }
        return options;
    }

    private PemKeyCertOptions certificate() {
        if (config.certFile().isPresent() && config.keyFile().isPresent()) {
            return new PemKeyCertOptions()
                    .setCertPath(config.certFile().get())
                    .setKeyPath(config.keyFile().get());
        }
        SelfSigned made = SelfSigned.of("warmpath-endpoint-picker", Instant.now());
        return new PemKeyCertOptions()
                .setCertValue(Buffer.buffer(made.certificate()))
                .setKeyValue(Buffer.buffer(made.key()));
    }

    @Override
    public void close() {
        String open = deployment;
        if (open != null) {
            deployment = null;
            vertx.undeploy(open);
        }
    }

    /** One event loop's. */
    private static final class Listener extends AbstractVerticle {
        private final HttpServerOptions options;
        private final PickerServer handler;

        Listener(HttpServerOptions options, PickerServer handler) {
            this.options = options;
            this.handler = handler;
        }

        @Override
        public void start(Promise<Void> started) {
            HttpServer server = vertx.createHttpServer(options).requestHandler(handler);
            server.listen().<Void>mapEmpty().onComplete(started);
        }
    }
}
