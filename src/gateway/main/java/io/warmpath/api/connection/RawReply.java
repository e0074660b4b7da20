package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.unix.Socket;
import io.vertx.core.MultiMap;
import io.warmpath.api.error.ErrorMapper;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.json.EventBytes;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.net.EndToEndHeaders;
import io.warmpath.net.HeaderList;
import io.warmpath.net.SocketWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * {@link Answer} to a request that went past the server's codec, and goes past it itself: head,
 * chunks and end are made here. One call is one system call where the socket takes the bytes at
 * once, and a write to the pipeline where it does not, where there is TLS, and on other transports
 * than epoll. On the request's event loop.
 */
final class RawReply implements Answer {
    private static final byte[] KEEP_ALIVE = EventBytes.utf8(": keep-alive\n\n");
    private static final byte[] CHUNKED = ascii("transfer-encoding: chunked\r\n");
    private static final byte[] LAST_CHUNK = ascii("0\r\n\r\n");

    /** Around a head: a length or the encoding, and the empty line. */
    private static final int AROUND_HEAD = 64;

    /** What all answers of one client connection share. Its event loop only. */
    static final class Line {
        private final ChannelHandlerContext encoder;
        private final Channel channel;
        private final @Nullable Socket socket; // null: everything through the pipeline
        private final SocketWriter writer = SocketWriter.ofLoop();
        private final RawReplyHead head = new RawReplyHead();
        private boolean mayWait = true; // something may be waiting in the channel

        /**
         * @param encoder bytes are written from here on
         */
        Line(ChannelHandlerContext encoder) {
            this.encoder = encoder;
            this.channel = encoder.channel();
            this.socket = FlushHandler.of(encoder).socket();
        }

        /** Somebody else has written. */
        void used() {
            mayWait = true;
        }
    }

    private final Line line;
    private final RawRequest request;
    private final String requestId;
    private int status = 200;
    private boolean headed;
    private boolean begun; // its head is out
    private boolean chunked;
    private boolean over;
    private @Nullable Runnable drained;

    RawReply(Line line, RawRequest request, String requestId) {
        this.line = line;
        this.request = request;
        this.requestId = requestId;
    }

    int status() {
        return status;
    }

    @Override
    public void head(int code, MultiMap engine, @Nullable MultiMap own, boolean keepLength) {
        if (over) {
            return;
        }
        begin(code);
        boolean empty = code == 204 || code == 205;
        EndToEndHeaders.eachOfResponse(
                engine,
                keepLength && !empty,
                (name, value) -> {
                    if (!isReplaced(name, own)) {
                        line.head.add(name, value);
                    }
                });
        if (own != null) {
            own.forEach(line.head::add);
        }
        line.head.add(RequestIds.HEADER, requestId);
    }

    /** The gateway has its own value. */
    private static boolean isReplaced(String name, @Nullable MultiMap own) {
        return name.equalsIgnoreCase(RequestIds.HEADER) || (own != null && own.contains(name));
    }

    private void begin(int code) {
        status = code;
        headed = true;
        line.head.begin(code);
        HeaderList extra = request.extra();
        if (extra != null) {
            extra.forEach(line.head::add);
        }
    }

    @Override
    public void keepAlive() {
        write(KEEP_ALIVE, 0, KEEP_ALIVE.length);
    }

    @Override
    public void write(byte[] b, int from, int length) {
        if (length > 0 && !over && !isBodiless()) {
            chunked |= !begun && !line.head.hasLength();
            send(b, from, length, false);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (over) {
            return;
        }
        int wanted = isBodiless() ? 0 : length;
        if (!begun && !line.head.hasLength() && status != 204 && status != 304) {
            line.head.add("content-length", Integer.toString(wanted));
        }
        send(b, from, wanted, true);
        finish();
    }

    /** RFC 9110 section 6.4.1. */
    private boolean isBodiless() {
        return status == 204 || status == 205 || status == 304;
    }

    @Override
    public void fail(GatewayError error) {
        if (over || begun) {
            return;
        }
        begin(error.httpStatus());
        ErrorMapper.headers(error, requestId, line.head::add);
        byte[] body = ErrorMapper.body(error).getBytes();
        end(body, 0, body.length);
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        byte[] event = ErrorMapper.event(error);
        end(event, 0, event.length);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // channelInactive follows
    public void reset() {
        if (!over) {
            over = true;
            line.channel.close();
        }
    }

    @Override
    public boolean isFull() {
        return line.mayWait && !over && !line.channel.isWritable();
    }

    @Override
    public void onDrain(Runnable action) {
        if (!over) {
            drained = action;
        }
    }

    /** The channel takes more. */
    void drain() {
        Runnable action = drained;
        drained = null;
        if (action != null) {
            action.run();
        }
    }

    /** The client has gone. */
    void gone() {
        over = true;
        drained = null;
    }

    private void finish() {
        over = true;
        drained = null;
        request.answered();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection
    private void send(byte[] b, int from, int length, boolean last) {
        int most =
                length
                        + ChunkFrame.BYTES
                        + LAST_CHUNK.length
                        + (begun ? 0 : line.head.length() + AROUND_HEAD);
        Socket to = line.socket;
        // Nobody else writes between two answers: what was empty after the last write still is.
        boolean direct = to != null && (!line.mayWait || SocketWriter.isEmpty(line.channel));
        ByteBuf out = direct ? line.writer.begin(most) : null;
        if (out == null || to == null) {
            ByteBuf copy = line.encoder.alloc().directBuffer(most);
            compose(copy, b, from, length, last);
            line.mayWait = true;
            line.encoder.writeAndFlush(copy, line.encoder.voidPromise());
            return;
        }
        compose(out, b, from, length, last);
        line.mayWait = line.writer.send(to) != 0;
        if (line.mayWait) {
            ByteBuf rest = line.writer.rest(line.encoder.alloc());
            line.encoder.writeAndFlush(rest, line.encoder.voidPromise());
        }
    }

    private void compose(ByteBuf out, byte[] b, int from, int length, boolean last) {
        if (!begun) {
            begun = true;
            if (!headed) {
                throw new IllegalStateException("an answer without a head");
            }
            line.head.writeTo(out);
            if (chunked) {
                out.writeBytes(CHUNKED);
            }
            out.writeShort('\r' << 8 | '\n');
        }
        if (length > 0) {
            ChunkFrame.write(out, b, from, length, chunked);
        }
        if (last && chunked) {
            out.writeBytes(LAST_CHUNK);
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
