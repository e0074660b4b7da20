package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.unix.Socket;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.net.SocketWriter;
import io.warmpath.net.server.ServerPipeline;
import org.jspecify.annotations.Nullable;

/**
 * {@link Answer} whose body goes past the server's encoder. Vert.x writes head and end and so keeps
 * its books; the bytes between go to the socket as one chunk per call, without an object per chunk
 * on the way, and where the socket takes them at once past the pipeline too. One call is one write
 * to the socket, with head and end in it when they belong to the call. On the request's event loop.
 */
public final class RawAnswer extends HttpAnswer {
    private final ChannelHandlerContext encoder;
    private final FlushHandler flushes;
    private final @Nullable Socket socket; // null: everything through the pipeline
    private final SocketWriter writer = SocketWriter.ofLoop();
    private boolean chunked;
    private boolean begun; // its head is out, and neither its end nor the client's
    private boolean mayWait; // something may be waiting in the channel

    private RawAnswer(
            HttpServerRequest request,
            String requestId,
            ChannelHandlerContext encoder,
            Runnable gone) {
        super(request, requestId);
        this.encoder = encoder;
        this.flushes = FlushHandler.of(encoder);
        this.socket = flushes.socket();
        flushes.onGone(
                () -> {
                    begun = false;
                    gone.run();
                });
    }

    /**
     * @param raw false: everything through the encoder
     * @param gone what to do when the client's connection ends, maybe more than once
     * @return of either kind; the encoder is gone past where that is possible
     */
    public static Answer of(
            HttpServerRequest request, String requestId, boolean raw, Runnable gone) {
        ChannelHandlerContext encoder = raw ? ServerPipeline.behindEncoder(request) : null;
        return encoder == null
                ? new HttpAnswer(request, requestId)
                : new RawAnswer(request, requestId, encoder, gone);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection
    public void write(byte[] b, int from, int length) {
        if (length == 0) {
            return;
        }
        Socket to = begun ? socket : null;
        // Nobody else writes between head and end: what was empty after the last write still is.
        int left =
                to != null && (!mayWait || SocketWriter.isEmpty(encoder.channel()))
                        ? send(to, b, from, length)
                        : SocketWriter.NOT_SENT;
        if (left == SocketWriter.NOT_SENT) {
            writeThroughPipeline(b, from, length);
            return;
        }
        mayWait = left > 0;
        if (mayWait) {
            encoder.writeAndFlush(writer.rest(encoder.alloc()), encoder.voidPromise());
        }
    }

    private int send(Socket to, byte[] b, int from, int length) {
        ByteBuf out = writer.begin(length + ChunkFrame.BYTES);
        if (out == null) {
            return SocketWriter.NOT_SENT;
        }
        ChunkFrame.write(out, b, from, length, chunked);
        return writer.send(to);
    }

    private void writeThroughPipeline(byte[] b, int from, int length) {
        if (isGone()) {
            return;
        }
        mayWait = true;
        flushes.hold();
        try {
            if (!response.headWritten()) {
                chunked = !response.headers().contains("content-length");
                writeHead();
                begun = true;
            }
            body(b, from, length);
        } finally {
            flushes.release();
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        begun = false;
        if (isGone()) {
            return;
        }
        flushes.hold();
        try {
            if (!response.headWritten()) {
                if (!response.headers().contains("content-length")) {
                    response.headers().set("content-length", Integer.toString(length));
                }
                writeHead();
            }
            if (length > 0) {
                body(b, from, length);
            }
            response.end();
        } finally {
            flushes.release();
        }
    }

    @Override
    public void onInputEnd(Runnable action) {
        flushes.onInputEnd(
                () -> {
                    if (!isGone()) {
                        action.run();
                    }
                });
    }

    @Override
    public void reset() {
        begun = false;
        super.reset();
    }

    @Override
    public boolean isFull() {
        return mayWait && super.isFull();
    }

    private void writeHead() {
        response.setChunked(chunked);
        response.writeHead();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection
    private void body(byte[] b, int from, int length) {
        ByteBuf out = encoder.alloc().directBuffer(length + ChunkFrame.BYTES);
        ChunkFrame.write(out, b, from, length, chunked);
        flushes.pending();
        encoder.write(out, encoder.voidPromise());
    }
}
