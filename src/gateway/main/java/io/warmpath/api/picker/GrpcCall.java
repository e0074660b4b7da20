package io.warmpath.api.picker;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Error;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.api.connection.VertxRequest;
import io.warmpath.api.extproc.GrpcFrames;
import io.warmpath.api.extproc.WireFormatException;
import io.warmpath.api.picker.PickerMeters.Shed;
import io.warmpath.net.Deadlines;
import io.warmpath.net.HeapBytes;
import io.warmpath.net.server.ClientLimits;
import org.jboss.logging.Logger;

/**
 * One gRPC call on a stream of HTTP/2: messages in, messages out, one end. On its event loop. The
 * end goes out in a later turn of the loop than the one that has read the end of the request:
 * Vert.x 4.5 closes the whole connection where a reset of the stream has been read in that turn.
 *
 * <p>Bytes that wait, of a message that is not whole or for a proxy that takes nothing, count in
 * the memory of all bodies, and end the call where there is none left. So does a proxy that is
 * silent while it is its turn.
 */
final class GrpcCall implements GrpcFrames.Receiver {
    private static final Logger LOG = Logger.getLogger(GrpcCall.class);

    /** Codes of gRPC. */
    static final int OK = 0;

    static final int INVALID_ARGUMENT = 3;
    static final int DEADLINE_EXCEEDED = 4;
    static final int NOT_FOUND = 5;
    static final int RESOURCE_EXHAUSTED = 8;
    static final int UNIMPLEMENTED = 12;

    /** The other side of the call. */
    interface Listener {
        /** As {@link GrpcFrames.Receiver#message}. */
        void message(byte[] b, int from, int length);

        /** Nothing more comes, once: the other side has said so, or the stream is gone. */
        void over();

        /**
         * For how many spans of {@link PickerOptions#span} the other side may be silent now; 0: for
         * as long as it likes.
         */
        default int patience() {
            return 1;
        }

        /** It is past its request, and goes on where the process has no memory for new ones. */
        default boolean runs() {
            return false;
        }

        /** It was silent for longer, and the call goes on unless it is ended by this. */
        void silent();
    }

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Context context;
    private final Calls calls;
    private final ProxyConnection connection;
    private final Listener listener;
    private final GrpcFrames frames;
    private final ProxyConnection.Share gathered;
    private final ProxyConnection.Share unsent;
    private final Silence silence;
    private long received;
    private boolean waits; // answers do, for the other side to take them
    private boolean inputEnded;
    private boolean over;
    private boolean ended;

    GrpcCall(HttpServerRequest request, Calls calls, int largest, Listener listener) {
        this.request = request;
        this.response = request.response();
        this.context = VertxRequest.context();
        this.calls = calls;
        this.connection = ProxyConnection.of(request, calls);
        this.gathered = connection.new Share();
        this.unsent = connection.new Share();
        this.listener = listener;
        this.frames = new GrpcFrames(largest, this);
        this.silence = new Silence(calls.deadlines.of(context));
        calls.entered();
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
        received += heap.length();
        try {
            if (!frames.add(heap.array(), heap.offset(), heap.length())) {
                calls.meters.shed(Shed.MEMORY);
                fail(
                        RESOURCE_EXHAUSTED,
                        "no memory for messages that are not whole: send smaller ones or fewer at"
                                + " once, or raise warmpath.http.max-body-memory");
            }
        } catch (WireFormatException e) {
            LOG.debugf("A proxy has sent what is no message: %s", e.getMessage());
            fail(INVALID_ARGUMENT, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void message(byte[] b, int from, int length) {
        if (!over && !ended) {
            listener.message(b, from, length);
        }
    }

    @Override
    public boolean gathers(int bytes) {
        return gathered.take(bytes, listener.runs());
    }

    @Override
    public void gathered() {
        gathered.free();
    }

    private void fail(int status, String why) {
        end(status, why);
        over();
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
        if (!response.writeQueueFull()) {
            return;
        }
        if (!unsent.take(frame.length, listener.runs())) {
            calls.meters.shed(Shed.MEMORY);
            ended = true;
            // An end would wait behind what is not taken.
            context.runOnContext(v -> response.reset(Http2Error.ENHANCE_YOUR_CALM.code()));
        } else if (!waits) {
            waits = true;
            response.drainHandler(
                    v -> {
                        waits = false;
                        unsent.free();
                    });
        }
    }

    private void inputEnded() {
        inputEnded = true;
        over();
        end(OK, "");
    }

    private void over() {
        if (!over) {
            over = true;
            silence.end();
            frames.end();
            unsent.free();
            calls.left();
            listener.over();
        }
    }

    /**
     * Its other side has given it up. {@code unanswered}: before it was told what it waited for.
     */
    void left(boolean unanswered) {
        if (unanswered && !inputEnded && !ended) {
            connection.givenUp(request);
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
                    if (!inputEnded) {
                        response.reset(Http2Error.NO_ERROR.code()); // RFC 9113, section 8.1
                    }
                });
    }

    /** A span without what a client's body has to bring in it is one too many. */
    private final class Silence extends Deadlines.Entry {
        private final Deadlines deadlines;
        private final long span = calls.span.toNanos();
        private long seen;
        private int spans; // in a row; negative: the present one began when it was not its turn

        Silence(Deadlines deadlines) {
            this.deadlines = deadlines;
            begin();
        }

        private void begin() {
            deadline(calls.nanoTime.getAsLong(), span);
            deadlines.add(this);
        }

        @Override
        protected void expired() {
            boolean slow = received - seen < ClientLimits.leastBytes(span);
            int patience = frames.isWithin() ? 1 : listener.patience();
            seen = received;
            spans = patience == 0 || ended ? -1 : slow ? spans + 1 : 0;
            begin();
            if (patience > 0 && spans >= patience) {
                spans = 0;
                calls.meters.shed(Shed.SILENT);
                if (frames.isWithin()) {
                    fail(DEADLINE_EXCEEDED, "the rest of a message does not come");
                } else {
                    listener.silent();
                }
            }
        }

        void end() {
            deadlines.remove(this);
        }
    }
}
