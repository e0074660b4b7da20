package io.warmpath.api.picker;

import io.netty.buffer.Unpooled;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.extproc.GrpcFrames;
import io.warmpath.api.extproc.WireFormatException;
import io.warmpath.net.HeapBytes;
import org.jboss.logging.Logger;

/**
 * One gRPC call on a stream of HTTP/2: messages in, messages out, one end. On its event loop.
 * Nothing is read while the other side takes nothing. The end goes out in a later turn of the loop
 * than the one that has read the end of the request: Vert.x 4.5 closes the whole connection where a
 * reset of the stream has been read in that turn.
 */
final class GrpcCall {
    private static final Logger LOG = Logger.getLogger(GrpcCall.class);

    /** Codes of gRPC. */
    static final int OK = 0;

    static final int INVALID_ARGUMENT = 3;
    static final int NOT_FOUND = 5;
    static final int UNIMPLEMENTED = 12;

    /** The other side of the call. */
    interface Listener extends GrpcFrames.Receiver {
        /** Nothing more comes, once: the other side has said so, or the stream is gone. */
        void over();
    }

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Context context;
    private final Listener listener;
    private final GrpcFrames frames;
    private boolean over;
    private boolean ended;

    GrpcCall(HttpServerRequest request, int largest, Listener listener) {
        this.request = request;
        this.response = request.response();
        this.context = VertxRequest.context();
        this.listener = listener;
        this.frames = new GrpcFrames(largest, listener);
        response.putHeader("content-type", "application/grpc");
        request.handler(this::read);
        request.endHandler(v -> inputEnded());
        request.exceptionHandler(e -> over());
        response.exceptionHandler(e -> over());
        response.closeHandler(v -> over());
    }

    Context context() {
        return context;
    }

    private void read(Buffer bytes) {
        if (over || ended) {
            return;
        }
        HeapBytes heap = HeapBytes.of(bytes);
        try {
            frames.add(heap.array(), heap.offset(), heap.length());
        } catch (WireFormatException e) {
            LOG.debugf("A proxy has sent what is no message: %s", e.getMessage());
            end(INVALID_ARGUMENT, String.valueOf(e.getMessage()));
            over();
        }
    }

    /** Its other side has gone, or waits for nothing more. */
    boolean isOver() {
        return over || ended || response.closed();
    }

    /** {@code frame}: not written to any more. */
    void send(byte[] frame) {
        if (isOver()) {
            return;
        }
        @SuppressWarnings("deprecation") // the only public way without a copy
        Buffer bytes = Buffer.buffer(Unpooled.wrappedBuffer(frame));
        response.write(bytes);
        if (response.writeQueueFull()) {
            request.pause();
            response.drainHandler(v -> request.resume());
        }
    }

    private void inputEnded() {
        over();
        end(OK, "");
    }

    private void over() {
        if (!over) {
            over = true;
            listener.over();
        }
    }

    /** Ends the call; once. {@code why}: for the other side's log; empty: nothing. */
    void end(int status, String why) {
        if (ended) {
            return;
        }
        ended = true;
        context.runOnContext(
                v -> {
                    if (response.closed() || response.ended()) {
                        return;
                    }
                    response.putTrailer("grpc-status", Integer.toString(status));
                    if (!why.isEmpty()) {
                        response.putTrailer("grpc-message", why);
                    }
                    response.end();
                });
    }
}
