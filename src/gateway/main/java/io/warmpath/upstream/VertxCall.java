package io.warmpath.upstream;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.DecoderException;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.EngineAddress;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One call over Vert.x's client. On one event loop from start to end.
 *
 * <p>Ends exactly once: {@code over} is set by the answer's end, by a failure, by a time-out or by
 * {@link #cancel}, and whatever Vert.x reports afterwards is dropped.
 */
final class VertxCall extends Deadlines.Entry implements UpstreamCall, Handler<Void> {
    private static final int FIRST_BYTES = 4 << 10;

    private final VertxEngineClient.Loop loop;
    private final Context context;
    private final String worker;
    private final AnswerTimeouts timeouts;
    private @Nullable UpstreamRequest
            unsent; // null once it is sent: a long answer must not keep it
    private final UpstreamListener listener;
    private @Nullable HttpClientRequest sent;
    private @Nullable HttpClientResponse response;
    private byte[] gathered = {};
    private int gatheredLength;
    private boolean flushQueued;
    private boolean reused;
    private boolean over;
    private boolean paused;
    private @Nullable Watch watch;
    private long received;

    VertxCall(
            VertxEngineClient.Loop loop,
            Context context,
            UpstreamRequest request,
            UpstreamListener listener) {
        this.loop = loop;
        this.context = context;
        this.unsent = request;
        this.worker = request.worker();
        this.timeouts = loop.options().timeouts(request);
        this.listener = listener;
    }

    void start() {
        UpstreamRequest request = unsent;
        if (request == null) {
            throw new IllegalStateException("a call is sent once");
        }
        EngineAddress engine = EngineAddress.of(request.base());
        RequestOptions to =
                new RequestOptions()
                        .setMethod(HttpMethod.POST)
                        .setHost(engine.host())
                        .setPort(engine.port())
                        .setSsl(engine.tls())
                        .setFollowRedirects(false)
                        .setURI(engine.path() + request.target());
        String file = engine.socket();
        if (file != null) {
            to.setServer(SocketAddress.domainSocketAddress(file));
        }
        deadlineIn(loop.options().connectTimeout());
        loop.deadlines().add(this);
        loop.reach(request.base(), engine, to)
                .compose(found -> loop.client(engine, request.freshConnection()).request(found))
                .onComplete(
                        connected -> {
                            if (connected.succeeded()) {
                                connected(connected.result());
                            } else {
                                fail(notConnected(connected.cause()));
                            }
                        });
    }

    private void connected(HttpClientRequest engine) {
        if (over) {
            engine.exceptionHandler(e -> {}); // the reset below is reported there
            engine.reset(); // cancelled while connecting
            return;
        }
        UpstreamRequest request = unsent;
        unsent = null;
        if (request == null) {
            throw new IllegalStateException("a call gets one connection");
        }
        sent = engine;
        reused = loop.markUsed(engine.connection());
        Headers.copyRequest(request.headers(), engine.headers());
        request.extra().forEach((name, value) -> engine.headers().set(name, value));
        deadlineIn(timeouts.firstByte());
        engine.exceptionHandler(this::broke);
        engine.send(request.body())
                .onComplete(
                        answered -> {
                            if (answered.succeeded()) {
                                answered(answered.result());
                            } else {
                                broke(answered.cause());
                            }
                        });
    }

    private void answered(HttpClientResponse head) {
        if (over) {
            return;
        }
        response = head;
        heardFor(timeouts.idle());
        head.handler(this::gather);
        head.endHandler(v -> end());
        head.exceptionHandler(this::broke);
        listener.head(head.statusCode(), head.headers());
    }

    /** Copies: what Vert.x hands out may be a part of a buffer that more is written to. */
    private void gather(Buffer chunk) {
        if (over) {
            return;
        }
        int n = chunk.length();
        received += n;
        if (gatheredLength + n > gathered.length) {
            gathered = Arrays.copyOf(gathered, Math.max(gatheredLength + n, FIRST_BYTES));
        }
        chunk.getBytes(gathered, gatheredLength);
        gatheredLength += n;
        if (!flushQueued) {
            flushQueued = true;
            heardFor(timeouts.idle());
            context.runOnContext(this); // runs after everything that was ready has been read
        }
    }

    /** Hands on what this turn of the loop has brought. */
    @Override
    public void handle(Void v) {
        flushQueued = false;
        if (!over) {
            data();
        }
    }

    private void data() {
        int n = gatheredLength;
        gatheredLength = 0;
        if (n > 0) {
            listener.data(gathered, 0, n);
        }
    }

    private void end() {
        if (!over) {
            over();
            int n = gatheredLength;
            gatheredLength = 0;
            listener.end(gathered, 0, n);
        }
    }

    private void broke(Throwable cause) {
        fail(
                isBadHttp(cause)
                        ? new GatewayError.BadUpstreamAnswer(worker, "not valid HTTP")
                        : new GatewayError.UpstreamBroke(worker, received));
    }

    private static boolean isBadHttp(Throwable cause) {
        return cause instanceof DecoderException
                || cause instanceof IllegalArgumentException
                || cause instanceof io.netty.handler.codec.http.TooLongHttpHeaderException;
    }

    private GatewayError notConnected(Throwable cause) {
        return cause instanceof ConnectTimeoutException
                ? timedOut("connect", loop.options().connectTimeout())
                : new GatewayError.WorkerUnreachable(worker);
    }

    private GatewayError timedOut(String phase, Duration after) {
        return new GatewayError.UpstreamTimeout(worker, phase, after);
    }

    private void fail(GatewayError error) {
        if (!over) {
            over();
            data(); // arrived in the same turn, before the break
            listener.failed(error);
        }
    }

    @Override
    protected void expired() {
        GatewayError error =
                sent == null
                        ? timedOut("connect", loop.options().connectTimeout())
                        : response == null
                                ? timedOut("first byte", timeouts.firstByte())
                                : timedOut("idle", timeouts.idle());
        HttpClientRequest running = sent;
        fail(error);
        if (running != null) {
            running.reset();
        }
    }

    @Override
    public void cancel() {
        if (!over) {
            over();
            gatheredLength = 0;
            if (sent != null) {
                sent.reset();
            }
        }
    }

    @Override
    String worker() {
        return worker;
    }

    @Override
    public void watchedBy(Watch by) {
        watch = by;
    }

    @Override
    void silent() {
        Watch told = watch;
        if (told != null && !paused && !over) {
            told.silent();
        }
    }

    @Override
    public void pause() {
        paused = true;
        if (response != null && !over) {
            response.pause();
        }
    }

    @Override
    public void resume() {
        paused = false;
        if (response != null && !over) {
            deadlineIn(timeouts.idle());
            response.resume();
        }
    }

    @Override
    public boolean reusedConnection() {
        return reused;
    }

    private void over() {
        over = true;
        loop.deadlines().remove(this);
    }

    private void heardFor(Duration timeout) {
        heard(loop.now(), timeout.toNanos());
    }

    private void deadlineIn(Duration timeout) {
        deadline(loop.now(), timeout.toNanos());
    }
}
