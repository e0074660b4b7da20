package io.warmpath.adapter.enginehttp;

import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.Place;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.fleet.probe.NotAskedException;
import io.warmpath.net.FileShortage;
import io.warmpath.net.GuardedNames;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Questions over connections apart from those of the streaming path, so that a health check never
 * waits behind requests. All that {@link EngineAddress} knows: TLS, socket files, HTTP/2. Any
 * thread but an event loop, blocks up to the time-out; meant for virtual threads.
 */
public final class VertxEngineHttp implements EngineHttp, AutoCloseable {
    private static final Logger LOG = Logger.getLogger(VertxEngineHttp.class);

    /**
     * vLLM's /metrics, the longest answer read, has some 100 KiB. JSON of small values takes up to
     * 30 times its length once it is read.
     */
    private static final int MAX_ANSWER_BYTES =
            (int) Math.min(8 << 20, Runtime.getRuntime().maxMemory() >> 8);

    /** {@code fresh}: of connections that are used once. */
    private record Use(Kind kind, boolean fresh) {}

    private enum Kind {
        PLAIN,
        TLS,
        HTTP2,
        HTTP2_TLS;

        static Kind of(EngineAddress engine) {
            return engine.http2() ? (engine.tls() ? HTTP2_TLS : HTTP2) : engine.tls() ? TLS : PLAIN;
        }
    }

    private final Vertx vertx;
    private final Duration timeout;
    private final UnaryOperator<HttpClientOptions> tls;
    private final Function<URI, @Nullable String> keys;
    private final @Nullable AddressGuard guard;
    private final int mostBytes;
    private final Map<Use, HttpClient> clients = new HashMap<>(); // guarded by this

    /** Connections that have carried a question. */
    private final Set<HttpConnection> used =
            Collections.newSetFromMap(Collections.synchronizedMap(new WeakHashMap<>()));

    /**
     * Shows no keys, and goes wherever a name leads.
     *
     * @param timeout of a whole exchange, the body included
     * @param tls sets what is trusted and shown; asked at the first worker with TLS
     */
    public VertxEngineHttp(Vertx vertx, Duration timeout, UnaryOperator<HttpClientOptions> tls) {
        this(vertx, timeout, tls, worker -> null, null);
    }

    /**
     * @param keys value of {@code Authorization} for an engine, null for none
     * @param guard asked of what names lead to; null: names lead anywhere
     */
    public VertxEngineHttp(
            Vertx vertx,
            Duration timeout,
            UnaryOperator<HttpClientOptions> tls,
            Function<URI, @Nullable String> keys,
            @Nullable AddressGuard guard) {
        this(vertx, timeout, tls, keys, guard, MAX_ANSWER_BYTES);
    }

    /**
     * @param mostBytes of an answer's body; a longer one is a failure
     */
    public VertxEngineHttp(
            Vertx vertx,
            Duration timeout,
            UnaryOperator<HttpClientOptions> tls,
            Function<URI, @Nullable String> keys,
            @Nullable AddressGuard guard,
            int mostBytes) {
        this.mostBytes = mostBytes;
        this.keys = keys;
        this.guard = guard;
        this.vertx = vertx;
        this.timeout = timeout;
        this.tls = tls;
    }

    private synchronized HttpClient client(EngineAddress engine, boolean fresh) {
        return clients.computeIfAbsent(
                new Use(Kind.of(engine), fresh), k -> newClient(engine, fresh));
    }

    private HttpClient newClient(EngineAddress engine, boolean fresh) {
        HttpClientOptions options =
                new HttpClientOptions()
                        .setConnectTimeout(Math.toIntExact(timeout.toMillis()))
                        .setProtocolVersion(
                                engine.http2() ? HttpVersion.HTTP_2 : HttpVersion.HTTP_1_1)
                        .setUseAlpn(engine.http2() && engine.tls())
                        .setHttp2ClearTextUpgrade(false)
                        .setKeepAlive(!fresh)
                        .setDecompressionSupported(false);
        return vertx.httpClientBuilder()
                .with(engine.tls() ? tls.apply(options) : options)
                // Each exchange tells its own failure; without a handler Vert.x logs it as an
                // error.
                .withConnectHandler(c -> c.exceptionHandler(e -> LOG.debug("probe", e)))
                .build();
    }

    @Override
    public Answer get(URI worker, String path) throws IOException {
        return ask(worker, path, null, null, timeout);
    }

    @Override
    public Answer get(URI worker, String path, Duration patience) throws IOException {
        return ask(worker, path, null, null, patience);
    }

    @Override
    public Answer post(URI worker, String path, String json, @Nullable String authorization)
            throws IOException {
        return ask(worker, path, Buffer.buffer(json), authorization, timeout);
    }

    /** {@code json}: null: GET. */
    private Answer ask(
            URI worker,
            String path,
            @Nullable Buffer json,
            @Nullable String authorization,
            Duration patience)
            throws IOException {
        EngineAddress engine = EngineAddress.of(worker);
        if (engine.socket() != null && !vertx.isNativeTransportEnabled()) {
            throw new IOException(
                    "socket files need Linux and quarkus.vertx.prefer-native-transport=true");
        }
        String own = keys.apply(worker);
        String shown = own == null ? authorization : own;
        long end = System.nanoTime() + patience.toNanos();
        for (boolean again = false; ; again = true) {
            Exchange exchange = new Exchange(json, shown, again);
            exchange.start(worker, engine, path);
            try {
                return exchange.answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                exchange.stop();
                throw late(e, patience);
            } catch (InterruptedException e) {
                exchange.stop();
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted");
            } catch (ExecutionException e) {
                // What is posted may have been done: only a kept connection's end says too little.
                boolean stale = json == null || exchange.reused;
                if (again || !stale || !exchange.cutOff(e.getCause())) {
                    throw explained(e.getCause());
                }
            }
        }
    }

    /** One question. Its callbacks come on one event loop. */
    private final class Exchange {
        final CompletableFuture<Answer> answer = new CompletableFuture<>();
        private volatile @Nullable HttpClientRequest request;
        private volatile boolean begun;
        private volatile boolean reused;
        private final boolean fresh;
        private final Buffer body = Buffer.buffer();
        private final @Nullable Buffer question;
        private final @Nullable String authorization;

        Exchange(@Nullable Buffer question, @Nullable String authorization, boolean fresh) {
            this.fresh = fresh;
            this.question = question;
            this.authorization = authorization;
        }

        void start(URI worker, EngineAddress engine, String path) {
            RequestOptions to =
                    new RequestOptions()
                            .setMethod(question == null ? HttpMethod.GET : HttpMethod.POST)
                            .setHost(engine.host())
                            .setPort(engine.port())
                            .setSsl(engine.tls())
                            .setFollowRedirects(false)
                            .setURI(engine.path() + path);
            String file = engine.socket();
            if (file != null) {
                to.setServer(SocketAddress.domainSocketAddress(file));
            }
            // On one event loop from here on: what this thread hung onto a future that has come
            // meanwhile would run here, and meet answers that have ended before it can read them.
            vertx.getOrCreateContext()
                    .runOnContext(
                            v ->
                                    reach(worker, engine, to)
                                            .compose(found -> client(engine, fresh).request(found))
                                            .compose(this::send)
                                            .onSuccess(answer::complete)
                                            .onFailure(answer::completeExceptionally));
        }

        /** What is connected to is what has been judged: the name is not looked up again. */
        private Future<RequestOptions> reach(URI worker, EngineAddress engine, RequestOptions to) {
            AddressGuard judge = guard;
            if (judge == null || engine.socket() != null || !judge.judges(engine.host())) {
                return Future.succeededFuture(to);
            }
            Place place = Place.of(worker);
            return GuardedNames.judged(vertx, to, found -> judge.check(place, found));
        }

        /**
         * On the connection's event loop. The reader is put in place here too: by the thread that
         * asked it might come after the answer.
         */
        private Future<Answer> send(HttpClientRequest connected) {
            connected.exceptionHandler(e -> {}); // told by send; and stop() is no news
            request = connected;
            reused = !used.add(connected.connection());
            if (answer.isDone()) {
                stop();
            }
            if (authorization != null) {
                connected.putHeader("authorization", authorization);
            }
            if (question == null) {
                return connected.send().compose(this::read);
            }
            connected.putHeader("content-type", "application/json");
            return connected.send(question).compose(this::read);
        }

        private Future<Answer> read(HttpClientResponse response) {
            begun = true;
            Promise<Answer> read = Promise.promise();
            response.exceptionHandler(read::tryFail);
            response.handler(
                    part -> {
                        body.appendBuffer(part);
                        if (body.length() > mostBytes) {
                            read.tryFail(
                                    new IOException(
                                            "the answer is longer than " + mostBytes + " bytes"));
                            stop();
                        }
                    });
            response.endHandler(
                    v ->
                            read.tryComplete(
                                    new Answer(
                                            response.statusCode(),
                                            body.toString(StandardCharsets.UTF_8))));
            return read.future();
        }

        /**
         * The connection ended before the answer began. A kept one may have been closed since the
         * last answer: uvicorn closes after an exception of the engine, and does not say so.
         */
        boolean cutOff(@Nullable Throwable cause) {
            return !begun
                    && (cause instanceof HttpClosedException
                            || (cause instanceof SocketException
                                    && !(cause instanceof ConnectException)
                                    && !(cause instanceof NoRouteToHostException)));
        }

        /** Nobody waits for the rest. Any thread. */
        void stop() {
            answer.cancel(false);
            HttpClientRequest running = request;
            if (running != null) {
                running.reset();
            }
        }
    }

    /**
     * Only a refusal says that the process is gone; a name or a route that is missing for a while
     * does not. A socket file that is missing is a refusal: the engine makes it.
     */
    private IOException explained(@Nullable Throwable cause) {
        if (cause != null && FileShortage.OF_PROCESS.explains(cause)) {
            return new NotAskedException(
                    "the gateway has as many files open as it may (ulimit -n)", cause);
        }
        return switch (cause) {
            case ConnectTimeoutException e -> late(e, timeout); // not refused: the host is silent
            case NoRouteToHostException e -> failed(e);
            case ConnectException e -> refused(e);
            case FileNotFoundException e -> refused(e);
            case UnknownHostException e -> new IOException("the host name cannot be resolved", e);
            case IOException e -> failed(e);
            // Vert.x: "Response already ended", a state of its own and no news for operators.
            case IllegalStateException e
                    when String.valueOf(e.getMessage()).contains("already ended") ->
                    new IOException("it closed the connection before its answer was read", e);
            case null -> new IOException("failed without a cause");
            default -> new IOException(deepest(cause), cause);
        };
    }

    private static IOException failed(IOException e) {
        return new IOException(deepest(e), e);
    }

    private static ConnectException refused(IOException cause) {
        ConnectException refused = new ConnectException("connection refused");
        refused.initCause(cause);
        return refused;
    }

    /** What went wrong at the bottom: an untrusted certificate, not "handshake failed". */
    private static String deepest(Throwable failure) {
        Throwable t = failure;
        while (t.getCause() != null && t.getCause() != t) {
            t = t.getCause();
        }
        return t.getMessage() == null ? t.toString() : t.getMessage();
    }

    private static IOException late(Exception cause, Duration patience) {
        SocketTimeoutException late =
                new SocketTimeoutException("no answer within " + patience.toMillis() + " ms");
        late.initCause(cause);
        return late;
    }

    @Override
    public synchronized void close() {
        clients.values().forEach(HttpClient::close);
    }
}
