package io.warmpath.adapter.mooncake;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ConnectionPoolTooBusyException;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.warmpath.net.GuardedNames;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.PoolUnavailableException.Reason;
import java.io.IOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * GETs from masters over kept connections, bounded in time and bytes. Redirects are not followed: a
 * master sends none, and what does is something else.
 *
 * <p>Any thread, never blocks. Failures are {@link PoolUnavailableException}s that name the master.
 */
final class MasterHttp implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(MasterHttp.class);

    /** Questions that wait for a connection, for each of them; more fail at once. */
    private static final int WAITING = 64;

    /** What a master said. */
    record Answer(int status, Buffer body) {
        String text() {
            return body.toString();
        }
    }

    private final Vertx vertx;
    private final MooncakeOptions options;
    private final MooncakeKeyStore.Reach reach;
    private final HttpClient client;

    MasterHttp(Vertx vertx, MooncakeOptions options, MooncakeKeyStore.Reach reach) {
        this.vertx = vertx;
        this.reach = reach;
        this.options = options;
        this.client =
                vertx.httpClientBuilder()
                        .with(
                                new HttpClientOptions()
                                        .setConnectTimeout(
                                                Math.toIntExact(options.timeout().toMillis()))
                                        .setDecompressionSupported(false))
                        .with(
                                new PoolOptions()
                                        .setHttp1MaxSize(options.connections())
                                        .setMaxWaitQueueSize(WAITING * options.connections()))
                        // Each exchange tells its own failure; without a handler Vert.x logs it as
                        // an error.
                        .withConnectHandler(c -> c.exceptionHandler(e -> LOG.debug("master", e)))
                        .build();
    }

    /**
     * @param path with the query, encoded
     * @param enough after so many bytes the rest is not read and what has come is the answer
     */
    Future<Answer> get(URI master, String path, int enough) {
        Exchange exchange = new Exchange(master, enough);
        exchange.start(path);
        return exchange.answer.future();
    }

    /** The whole answer; one that is too long fails. */
    Future<Answer> get(URI master, String path) {
        return get(master, path, Integer.MAX_VALUE);
    }

    /** One question. Its callbacks come on one event loop, but for the first. */
    private final class Exchange {
        private final Promise<Answer> answer = Promise.promise();
        private final URI master;
        private final int enough;
        private final Buffer body = Buffer.buffer();
        private volatile @Nullable HttpClientRequest request;

        Exchange(URI master, int enough) {
            this.master = master;
            this.enough = enough;
        }

        void start(String path) {
            long timer = vertx.setTimer(options.timeout().toMillis(), id -> late());
            answer.future().onComplete(done -> vertx.cancelTimer(timer));
            RequestOptions to =
                    new RequestOptions()
                            .setMethod(HttpMethod.GET)
                            .setHost(master.getHost())
                            .setPort(master.getPort() < 0 ? 80 : master.getPort())
                            .setFollowRedirects(false)
                            .setURI(path);
            if (!reach.judges(master)) {
                ask(to);
                return;
            }
            GuardedNames.judged(vertx, to, found -> reach.check(master, found))
                    .onSuccess(this::ask)
                    .onFailure(this::failed);
        }

        /** What is chained to the client's future runs on the connection's loop, nowhere else. */
        private void ask(RequestOptions to) {
            client.request(to).onSuccess(this::send).onFailure(this::failed);
        }

        /**
         * On the connection's event loop. The reader is put in place here too: by the thread that
         * asked it might come after the answer.
         */
        private void send(HttpClientRequest connected) {
            connected.exceptionHandler(this::failed);
            request = connected;
            if (answer.future().isComplete()) {
                stop();
            }
            connected.send().onSuccess(this::read).onFailure(this::failed);
        }

        private void read(HttpClientResponse response) {
            response.exceptionHandler(this::failed);
            response.handler(part -> took(response, part));
            response.endHandler(v -> answer.tryComplete(new Answer(response.statusCode(), body)));
        }

        private void took(HttpClientResponse response, Buffer part) {
            body.appendBuffer(part);
            if (body.length() >= enough) {
                answer.tryComplete(new Answer(response.statusCode(), body));
                stop();
            } else if (body.length() > options.maxAnswerBytes()) {
                fail(
                        Reason.GARBLED,
                        "an answer of more than " + options.maxAnswerBytes() + " bytes",
                        null);
                stop();
            }
        }

        private void late() {
            fail(
                    Reason.TIMEOUT,
                    "no answer within " + options.timeout().toMillis() + " ms",
                    new TimeoutException());
            stop();
        }

        private void failed(Throwable cause) {
            String what =
                    cause instanceof UnknownHostException
                            ? "the host name cannot be resolved"
                            : String.valueOf(cause.getMessage());
            fail(reason(cause), what, cause);
        }

        private Reason reason(Throwable cause) {
            return switch (cause) {
                case ConnectionPoolTooBusyException e -> Reason.BUSY;
                case IOException e -> Reason.UNREACHABLE;
                case VertxException e -> Reason.UNREACHABLE; // the connection was closed
                default -> Reason.GARBLED; // not HTTP
            };
        }

        private void fail(Reason reason, String what, @Nullable Throwable cause) {
            answer.tryFail(new PoolUnavailableException(reason, master + ": " + what, cause));
        }

        private void stop() {
            HttpClientRequest running = request;
            if (running != null) {
                running.reset();
            }
        }
    }

    @Override
    public void close() {
        client.close().onFailure(e -> LOG.debug("closing", e));
    }
}
