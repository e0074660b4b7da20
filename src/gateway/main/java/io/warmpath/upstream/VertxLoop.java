package io.warmpath.upstream;

import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.Place;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.net.GuardedNames;
import io.warmpath.upstream.tls.EngineTls;
import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** One event loop's clients of Vert.x, and so its connections. That loop only. */
final class VertxLoop extends EngineLoop {
    private static final Logger LOG = Logger.getLogger(VertxLoop.class);

    /** Bytes that an engine may send of one HTTP/2 stream that is not read. */
    private static final int STREAM_WINDOW = 64 << 10;

    /** HTTP/2 streams of one connection. */
    private static final int STREAMS = 128;

    private final Vertx vertx;
    private final EngineTls tls;
    private final @Nullable AddressGuard guard;
    private final Set<HttpConnection> used = Collections.newSetFromMap(new IdentityHashMap<>());
    private final HttpClient pooled;
    private @Nullable HttpClient fresh;
    private @Nullable HttpClient http2;
    private @Nullable HttpClient http2Tls;

    VertxLoop(
            EventLoop loop,
            Vertx vertx,
            UpstreamOptions options,
            EngineTls tls,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        super(loop, options, signs, nanoTime);
        this.vertx = vertx;
        this.tls = tls;
        this.guard = guard;
        this.pooled = client(httpOptions(true));
    }

    /**
     * @param alone over a connection of its own; HTTP/2 has none such, and notices by itself that a
     *     connection is no more
     */
    HttpClient client(EngineAddress engine, boolean alone) {
        if (engine.http2()) {
            return http2(engine.tls());
        }
        if (!alone) {
            return pooled;
        }
        HttpClient client = fresh;
        if (client == null) {
            client = client(httpOptions(false));
            fresh = client;
        }
        return client;
    }

    private HttpClient http2(boolean secure) {
        HttpClient client = secure ? http2Tls : http2;
        if (client == null) {
            client = client(http2Options(secure));
            if (secure) {
                http2Tls = client;
            } else {
                http2 = client;
            }
        }
        return client;
    }

    /** What is connected to is what has been judged: the name is not looked up again. */
    Future<RequestOptions> reach(URI base, EngineAddress engine, RequestOptions to) {
        AddressGuard judge = guard;
        if (judge == null || engine.socket() != null || !judge.judges(engine.host())) {
            return Future.succeededFuture(to);
        }
        Place place = Place.of(base);
        return GuardedNames.judged(vertx, to, found -> judge.check(place, found));
    }

    /** True from the second call on the same connection. */
    boolean markUsed(HttpConnection connection) {
        boolean reused = !used.add(connection);
        if (!reused) {
            connection.closeHandler(v -> used.remove(connection));
        }
        return reused;
    }

    private HttpClient client(HttpClientOptions http) {
        HttpClient client = build(http);
        tls.follow(client, http);
        return client;
    }

    private HttpClient build(HttpClientOptions http) {
        return vertx.httpClientBuilder()
                .with(http)
                .with(
                        new PoolOptions()
                                .setHttp1MaxSize(options().maxConnectionsPerWorker())
                                .setHttp2MaxSize(options().maxConnectionsPerWorker())
                                .setCleanerPeriod(250))
                // Each call tells its own failure; without a handler Vert.x logs it as an
                // error.
                .withConnectHandler(c -> c.exceptionHandler(e -> LOG.debug("engine connection", e)))
                .build();
    }

    @Override
    void closeConnections() {
        Stream.of(pooled, fresh, http2, http2Tls)
                .filter(Objects::nonNull)
                .forEach(HttpClient::close);
    }

    private HttpClientOptions httpOptions(boolean keepAlive) {
        return tls.applyTo(new HttpClientOptions())
                .setProtocolVersion(HttpVersion.HTTP_1_1)
                .setKeepAlive(keepAlive)
                .setKeepAliveTimeout(seconds(options().keepAlive()))
                .setPipelining(false)
                .setTcpNoDelay(true)
                .setTcpKeepAlive(true)
                .setConnectTimeout(Math.toIntExact(options().connectTimeout().toMillis()))
                .setDecompressionSupported(false)
                .setIdleTimeout(0)
                .setMaxChunkSize(64 << 10)
                .setMaxHeaderSize(64 << 10)
                .setIdleTimeoutUnit(TimeUnit.SECONDS);
    }

    /**
     * A client that stops reading stops its stream, and what the engine may still send of all the
     * streams of a connection fits into the connection's window: none stands in another's way.
     */
    private HttpClientOptions http2Options(boolean secure) {
        Http2Settings settings = new Http2Settings().setInitialWindowSize(STREAM_WINDOW);
        return httpOptions(true)
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setUseAlpn(secure)
                .setHttp2ClearTextUpgrade(false)
                .setInitialSettings(settings)
                .setHttp2ConnectionWindowSize(STREAM_WINDOW * STREAMS)
                .setHttp2MultiplexingLimit(STREAMS)
                .setHttp2KeepAliveTimeout(seconds(options().keepAlive()));
    }

    /** Vert.x counts whole seconds and takes 0 for "for ever". */
    private static int seconds(Duration d) {
        return Math.max(1, Math.toIntExact(d.toSeconds()));
    }
}
