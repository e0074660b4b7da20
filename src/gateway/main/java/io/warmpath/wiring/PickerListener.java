package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.warmpath.api.Routes;
import io.warmpath.api.picker.PickerMeters;
import io.warmpath.api.picker.PickerOptions;
import io.warmpath.api.picker.PickerServer;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.http.ClientsConfig;
import io.warmpath.config.http.PickerConfig;
import io.warmpath.net.OwnLoops;
import io.warmpath.net.server.ClientLimits;
import io.warmpath.net.server.SelfSigned;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.telemetry.ClientMeters;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.settings.StartFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The port on which proxies ask the endpoint picker, if there is one: a listener on each of its own
 * event loops, so that whatever comes there holds up no client of the gateway. {@link #start} and
 * {@link #close} not on an event loop.
 */
final class PickerListener implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(PickerListener.class);

    /** A message of a proxy is as large as its buffer for a connection: 1 MiB, or set higher. */
    private static final int MOST_MESSAGE_BYTES = 16 << 20;

    /** As other endpoint pickers. */
    private static final int USUAL_PORT = 9002;

    private static final long START_SECONDS = 30;

    /**
     * A proxy has one for each of its threads, and one more for each 4,096 requests: sixteen
     * proxies of 64 threads.
     */
    private static final int MOST_CONNECTIONS = 1024;

    /** As long as Envoy itself keeps one: it should be the one that closes. */
    private static final Duration IDLE = Duration.ofHours(1);

    private final PickerConfig config;
    private final String host;
    private final Vertx vertx;
    private final ClientLimits limits;
    private final @Nullable PickerServer server;
    private final List<HttpServer> listeners = new CopyOnWriteArrayList<>();
    private @Nullable OwnLoops loops;

    private PickerListener(
            PickerConfig config,
            String host,
            Vertx vertx,
            ClientLimits limits,
            @Nullable PickerServer server) {
        this.config = config;
        this.host = host;
        this.vertx = vertx;
        this.limits = limits;
        this.server = server;
    }

    /**
     * @param plan how many streams there may be
     * @param largestBody of clients' requests, in bytes
     * @param keyed adds what engines want to be shown
     * @param notPicking why nobody should ask now; empty: ask
     */
    static PickerListener of(
            WarmpathConfig config,
            MemoryPlan plan,
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
        ClientsConfig clients = config.http().clients();
        ClientLimits limits = limits(clients);
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
                                        plan.streams(),
                                        clients.bodyTimeout(),
                                        config.http().retryAfter()),
                                keyed,
                                notPicking);
        if (server != null) {
            ClientMeters.bindProxies(meters, limits);
        }
        return new PickerListener(picker, config.http().host(), vertx, limits, server);
    }

    /** Of proxies: heads and bodies of requests are not theirs. */
    static ClientLimits limits(ClientsConfig clients) {
        return ClientLimits.of(
                clients.headTimeout(),
                clients.bodyTimeout(),
                IDLE,
                Math.min(MOST_CONNECTIONS, OpenFiles.now().clients(0)),
                "",
                System::nanoTime);
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
        ServerConnections.proxies(options.getPort(), limits);
        OwnLoops own =
                new OwnLoops(vertx, "warmpath-picker-", Runtime.getRuntime().availableProcessors());
        loops = own;
        try {
            Future.all(own.contexts().stream().map(c -> listen(c, options, handler)).toList())
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

    private Future<Void> listen(Context on, HttpServerOptions options, PickerServer handler) {
        Promise<Void> listens = Promise.promise();
        on.runOnContext(
                v -> {
                    HttpServer one = vertx.createHttpServer(options).requestHandler(handler);
                    listeners.add(one);
                    one.listen().<Void>mapEmpty().onComplete(listens);
                });
        return listens.future();
    }

    private HttpServerOptions options() {
        HttpServerOptions options = PickerServer.options().setHost(host).setPort(port(config));
        if (config.certFile().isPresent() != config.keyFile().isPresent()) {
            throw new StartFailure(
                    "the endpoint picker's TLS needs both: warmpath.picker.cert-file and key-file.");
        }
        if (config.tls()) {
            options.setSsl(true)
                    .setUseAlpn(true)
                    .setAlpnVersions(List.of(HttpVersion.HTTP_2))
                    .setKeyCertOptions(certificate());
        }
        if (config.clientCaFile().isPresent()) {
            if (!config.tls()) {
                throw new StartFailure(
                        "warmpath.picker.client-ca-file asks proxies for certificates, which there"
                                + " are in TLS only: leave out --no-endpoint-picker-tls.");
            }
            options.setClientAuth(ClientAuth.REQUIRED)
                    .setTrustOptions(
                            new PemTrustOptions().addCertPath(config.clientCaFile().get()));
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
        OwnLoops own = loops;
        if (own != null) {
            loops = null;
            Future.join(listeners.stream().map(HttpServer::close).toList())
                    .onComplete(
                            v -> {
                                ServerConnections.proxies(port(config), null);
                                own.close();
                            });
        }
    }
}
