package io.warmpath.wiring.engines;

import io.vertx.core.Vertx;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.engine.RawPath;
import io.warmpath.config.engine.UpstreamConfig;
import io.warmpath.config.engine.UpstreamTlsConfig;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.upstream.AnswerTimeouts;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.KeyedEngineClient;
import io.warmpath.upstream.RawEngineClient;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.VertxEngineClient;
import io.warmpath.upstream.tls.EngineKeys;
import io.warmpath.upstream.tls.EngineTls;
import io.warmpath.wiring.settings.StartFailure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/** What speaks to engines for requests: clients, their TLS and keys. */
public final class EngineParts implements AutoCloseable {
    private final WarmpathConfig config;
    private final Vertx vertx;
    private final AddressGuard addresses;
    private final EngineTls tls;
    private final SignsOfLife signs = new SignsOfLife();
    private final EngineClient client;

    /**
     * @param clients watches the files of TLS, and has the keys of clients that are passed on
     * @throws StartFailure when a file cannot be used
     */
    public EngineParts(
            WarmpathConfig config, Vertx vertx, ClientParts clients, AddressGuard addresses) {
        this.config = config;
        this.vertx = vertx;
        this.addresses = addresses;
        tls = tls(config.upstream().tls(), clients.engineKeys());
        watch(config.upstream().tls(), tls, clients);
        client = engines(config, vertx, tls, addresses, signs);
    }

    public EngineTls tls() {
        return tls;
    }

    /** When each engine was last heard of by {@link #client}. */
    public SignsOfLife signs() {
        return signs;
    }

    /** Where engines may be. */
    public AddressGuard addresses() {
        return addresses;
    }

    public EngineClient client() {
        return client;
    }

    /** Shows engines what they want to be shown, whoever speaks to them. */
    public EngineClient keyed(EngineClient other) {
        return new KeyedEngineClient(other, tls.keys());
    }

    /** Another one, whose connections and signs of life nobody else sees; the caller closes it. */
    public EngineClient apart() {
        return engines(config, vertx, EngineTls.standard(), addresses, new SignsOfLife());
    }

    @Override
    public void close() {
        client.close();
    }

    private static EngineClient engines(
            WarmpathConfig config,
            Vertx vertx,
            EngineTls tls,
            AddressGuard addresses,
            SignsOfLife signs) {
        UpstreamOptions options = upstream(config.upstream(), config.http().gather());
        EngineClient usual =
                new VertxEngineClient(vertx, options, tls, addresses, signs, System::nanoTime);
        EngineClient client =
                config.upstream().rawPath() == RawPath.AUTO
                        ? new RawEngineClient(
                                options, tls, usual, addresses, signs, System::nanoTime)
                        : usual;
        return new KeyedEngineClient(client, tls.keys());
    }

    /** Throws {@link StartFailure} when a file cannot be used. */
    private static EngineTls tls(UpstreamTlsConfig config, EngineKeys keys) {
        try {
            return new EngineTls(
                    config.caFile().map(Path::of).orElse(null),
                    config.certFile().map(Path::of).orElse(null),
                    config.keyFile().map(Path::of).orElse(null),
                    config.verify(),
                    keys);
        } catch (IllegalArgumentException e) {
            throw new StartFailure("TLS to engines (warmpath.upstream.tls): " + e.getMessage());
        }
    }

    private static void watch(UpstreamTlsConfig files, EngineTls tls, ClientParts watcher) {
        Stream.of(files.caFile(), files.certFile(), files.keyFile())
                .flatMap(Optional::stream)
                .forEach(f -> watcher.watch(f, "warmpath.upstream.tls", text -> tls.reload()));
    }

    private static UpstreamOptions upstream(UpstreamConfig u, int gatherMicros) {
        return new UpstreamOptions(
                u.connectTimeout(),
                new AnswerTimeouts(u.firstByteTimeout(), u.idleTimeout()),
                new AnswerTimeouts(
                        u.passThrough().firstByteTimeout(), u.passThrough().idleTimeout()),
                u.keepAliveTimeout(),
                u.maxConnectionsPerWorker(),
                Duration.ofNanos(1000L * gatherMicros));
    }
}
