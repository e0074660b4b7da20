package io.warmpath.upstream;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.RefusedAddressException;
import io.warmpath.fleet.SignsOfLife;
import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@link EngineClient} over Vert.x's HTTP client.
 *
 * <p>Speaks HTTP/1.1, and HTTP/2 with engines whose URL says so. Each event loop has its own client
 * and so its own connections: a request never leaves the loop of its client's connection. What
 * arrives in one turn of the loop is handed on as one buffer, so that a burst of small chunks costs
 * one write instead of one each.
 */
public final class VertxEngineClient implements EngineClient {
    private static final Logger LOG = Logger.getLogger(VertxEngineClient.class);

    /** Bytes that an engine may send of one HTTP/2 stream that nobody reads. */
    private static final int STREAM_WINDOW = 64 << 10;

    /** HTTP/2 streams of one connection. */
    private static final int STREAMS = 128;

    private final Vertx vertx;
    private final UpstreamOptions options;
    private final EngineTls tls;
    private final @Nullable AddressGuard guard;
    private final SignsOfLife signs;
    private final LongSupplier nanoTime;
    private final ThreadLocal<Loop> loops = ThreadLocal.withInitial(this::newLoop);
    private final List<Loop> all = new CopyOnWriteArrayList<>();

    /**
     * @param guard asked of what names lead to; null: they lead anywhere
     * @param signs told which engines send
     * @param nanoTime as {@link System#nanoTime}
     */
    public VertxEngineClient(
            Vertx vertx,
            UpstreamOptions options,
            EngineTls tls,
            @Nullable AddressGuard guard,
            SignsOfLife signs,
            LongSupplier nanoTime) {
        this.signs = signs;
        this.tls = tls;
        this.guard = guard;
        this.vertx = vertx;
        this.options = options;
        this.nanoTime = nanoTime;
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, UpstreamListener listener) {
        Context context = CallingLoop.context();
        VertxCall call = new VertxCall(loops.get(), context, request, listener);
        call.start();
        return call;
    }

    @Override
    public void unwell(String worker, Duration patience) {
        for (Loop loop : all) {
            loop.run(() -> loop.deadlines.unwell(worker, loop.now(), patience.toNanos()));
        }
    }

    @Override
    public void well(String worker) {
        for (Loop loop : all) {
            loop.run(() -> loop.deadlines.well(worker));
        }
    }

    @Override
    public void close() {
        all.forEach(Loop::close);
    }

    private Loop newLoop() {
        Loop loop = new Loop();
        all.add(loop);
        return loop;
    }

    /** Connections and running calls of one event loop; touched by that loop only, save close. */
    final class Loop {
        private final HttpClient pooled = client(httpOptions(true));
        private @Nullable HttpClient fresh;
        private @Nullable HttpClient http2;
        private @Nullable HttpClient http2Tls;
        private final Set<HttpConnection> used = Collections.newSetFromMap(new IdentityHashMap<>());
        private final Deadlines deadlines = new Deadlines(signs);
        private final Context context = CallingLoop.context();
        private final long timer;

        Loop() {
            long period = options.sweepMillis();
            timer = vertx.setPeriodic(period, t -> deadlines.sweep(nanoTime.getAsLong()));
        }

        /**
         * @param alone over a connection of its own; HTTP/2 has none such, and notices by itself
         *     that a connection is no more
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
            return VertxInternals.resolve(vertx, engine.host())
                    .compose(
                            found -> {
                                try {
                                    judge.check(Place.of(base), found);
                                } catch (RefusedAddressException e) {
                                    return Future.failedFuture(e);
                                }
                                return Future.succeededFuture(
                                        to.setServer(
                                                SocketAddress.inetSocketAddress(
                                                        engine.port(), found.getHostAddress())));
                            });
        }

        /** True from the second call on the same connection. */
        boolean markUsed(HttpConnection connection) {
            boolean reused = !used.add(connection);
            if (!reused) {
                connection.closeHandler(v -> used.remove(connection));
            }
            return reused;
        }

        private void run(Runnable task) {
            context.runOnContext(v -> task.run());
        }

        Deadlines deadlines() {
            return deadlines;
        }

        UpstreamOptions options() {
            return options;
        }

        long now() {
            return nanoTime.getAsLong();
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
                                    .setHttp1MaxSize(options.maxConnectionsPerWorker())
                                    .setHttp2MaxSize(options.maxConnectionsPerWorker())
                                    .setCleanerPeriod(250))
                    // Each call tells its own failure; without a handler Vert.x logs it as an
                    // error.
                    .withConnectHandler(
                            c -> c.exceptionHandler(e -> LOG.debug("engine connection", e)))
                    .build();
        }

        private void close() {
            vertx.cancelTimer(timer);
            pooled.close();
            Stream.of(fresh, http2, http2Tls).filter(Objects::nonNull).forEach(HttpClient::close);
        }
    }

    private HttpClientOptions httpOptions(boolean keepAlive) {
        return tls.applyTo(new HttpClientOptions())
                .setProtocolVersion(HttpVersion.HTTP_1_1)
                .setKeepAlive(keepAlive)
                .setKeepAliveTimeout(seconds(options.keepAlive()))
                .setPipelining(false)
                .setTcpNoDelay(true)
                .setTcpKeepAlive(true)
                .setConnectTimeout(Math.toIntExact(options.connectTimeout().toMillis()))
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
                .setHttp2KeepAliveTimeout(seconds(options.keepAlive()));
    }

    /** Vert.x counts whole seconds and takes 0 for "for ever". */
    private static int seconds(Duration d) {
        return Math.max(1, Math.toIntExact(d.toSeconds()));
    }
}
