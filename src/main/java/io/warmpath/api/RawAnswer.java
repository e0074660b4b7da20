package io.warmpath.api;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.gateway.Answer;
import io.warmpath.upstream.VertxInternals;

/**
 * {@link Answer} whose body goes past the server's encoder.
 *
 * <p>Vert.x writes head and end and so keeps its books; the bytes between go to the socket as one
 * chunk per call, without an object per chunk on the way. One call is one write to the socket, with
 * head and end in it when they belong to the call. On the request's event loop.
 */
final class RawAnswer extends HttpAnswer {
    /** Of a chunk's size line and of the line end behind its bytes: 8 digits, twice CRLF. */
    private static final int FRAME_BYTES = 12;

    private static final int CRLF = '\r' << 8 | '\n';
    private static final int HEX_DIGITS = 8;

    private final ChannelHandlerContext encoder;
    private final Cork cork;
    private boolean chunked;

    private RawAnswer(
            HttpServerRequest request,
            String requestId,
            ChannelHandlerContext encoder,
            Runnable gone) {
        super(request, requestId);
        this.encoder = encoder;
        this.cork = Cork.of(encoder);
        cork.onGone(gone);
    }

    /**
     * @param raw false: everything through the encoder
     * @param gone what to do when the client's connection ends, maybe more than once
     * @return of either kind; the encoder is gone past where that is possible
     */
    static HttpAnswer of(HttpServerRequest request, String requestId, boolean raw, Runnable gone) {
        ChannelHandlerContext encoder = raw ? VertxInternals.behindEncoder(request) : null;
        return encoder == null
                ? new HttpAnswer(request, requestId)
                : new RawAnswer(request, requestId, encoder, gone);
    }

    @Override
    public void write(byte[] b, int from, int length) {
        if (isGone() || length == 0) {
            return;
        }
        cork.close();
        try {
            if (!response.headWritten()) {
                chunked = !response.headers().contains("content-length");
                writeHead();
            }
            body(b, from, length);
        } finally {
            cork.open();
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (isGone()) {
            return;
        }
        cork.close();
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
            cork.open();
        }
    }

    private void writeHead() {
        response.setChunked(chunked);
        response.writeHead();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection
    private void body(byte[] b, int from, int length) {
        ByteBuf out = encoder.alloc().directBuffer(length + FRAME_BYTES);
        if (chunked) {
            size(out, length);
        }
        out.writeBytes(b, from, length);
        if (chunked) {
            out.writeShort(CRLF);
        }
        cork.pending();
        encoder.write(out, encoder.voidPromise());
    }

    /** {@code length} in hexadecimal, then CRLF. */
    private static void size(ByteBuf out, int length) {
        int digits = Math.max(1, HEX_DIGITS - Integer.numberOfLeadingZeros(length) / 4);
        for (int i = digits - 1; i >= 0; i--) {
            out.writeByte(Character.forDigit((length >>> (4 * i)) & 0xf, 16));
        }
        out.writeShort(CRLF);
    }
}
