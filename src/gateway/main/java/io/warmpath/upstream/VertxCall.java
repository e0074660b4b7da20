package io.warmpath.upstream;

import io.netty.handler.codec.DecoderException;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.net.EndToEndHeaders;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One call over Vert.x's client. */
final class VertxCall extends EngineCall implements Handler<Void> {
    private static final int FIRST_BYTES = 4 << 10;

    private final VertxLoop loop;
    private final Context context;
    private @Nullable HttpClientRequest sent;
    private @Nullable HttpClientResponse response;
    private byte[] gathered = {};
    private int gatheredLength;
    private boolean flushQueued;

    VertxCall(VertxLoop loop, Context context, UpstreamRequest request, UpstreamListener listener) {
        super(loop, context, request, listener);
        this.loop = loop;
        this.context = context;
    }

    @Override
    void connect(UpstreamRequest request) {
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
        loop.reach(request.base(), engine, to)
                .compose(found -> loop.client(engine, request.freshConnection()).request(found))
                .onComplete(this::connected, this::notConnected);
    }

    private void connected(HttpClientRequest engine) {
        if (isOver()) {
            engine.exceptionHandler(e -> {}); // the reset below is reported there
            engine.reset(); // cancelled while connecting
            return;
        }
        sent = engine;
        UpstreamRequest request = toSend(loop.markUsed(engine.connection()));
        EndToEndHeaders.copyRequest(request.headers(), engine.headers());
        request.extra().forEach((name, value) -> engine.headers().set(name, value));
        engine.exceptionHandler(this::broke);
        engine.send(request.body()).onComplete(this::answered, this::broke);
    }

    private void answered(HttpClientResponse head) {
        if (isOver()) {
            return;
        }
        response = head;
        heard();
        head.handler(this::gather);
        head.endHandler(v -> end());
        head.exceptionHandler(this::broke);
        listener.head(head.statusCode(), head.headers());
    }

    /** Copies: what Vert.x hands out may be a part of a buffer that more is written to. */
    private void gather(Buffer chunk) {
        if (isOver()) {
            return;
        }
        int n = chunk.length();
        received(n);
        if (gatheredLength + n > gathered.length) {
            gathered = Arrays.copyOf(gathered, Math.max(gatheredLength + n, FIRST_BYTES));
        }
        chunk.getBytes(gathered, gatheredLength);
        gatheredLength += n;
        if (!flushQueued) {
            flushQueued = true;
            heard();
            context.runOnContext(this); // runs after everything that was ready has been read
        }
    }

    /** Hands on what this turn of the loop has brought. */
    @Override
    public void handle(Void v) {
        flushQueued = false;
        flush();
    }

    private void flush() {
        int n = gatheredLength;
        gatheredLength = 0;
        if (n > 0 && !isOver()) {
            listener.data(gathered, 0, n);
        }
    }

    private void end() {
        if (!isOver()) {
            over();
            listener.end(gathered, 0, gatheredLength);
        }
    }

    private void broke(Throwable cause) {
        flush(); // arrived in the same turn, before the break
        if (isBadHttp(cause)) {
            malformed("not valid HTTP");
        } else {
            broke();
        }
    }

    private static boolean isBadHttp(Throwable cause) {
        return cause instanceof DecoderException
                || cause instanceof IllegalArgumentException
                || cause instanceof io.netty.handler.codec.http.TooLongHttpHeaderException;
    }

    @Override
    void abandon() {
        if (sent != null) {
            sent.reset();
        }
    }

    @Override
    boolean read(boolean on) {
        HttpClientResponse from = response;
        if (from == null) {
            return false;
        }
        if (on) {
            from.resume();
        } else {
            from.pause();
        }
        return true;
    }
}
