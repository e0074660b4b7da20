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
    private static final byte[] CONTINUE = ascii("HTTP/1.1 100 Continue\r\n\r\n");

    /** Around a head: a length or the encoding, and the empty line. */
    private static final int AROUND_HEAD = 64;

    /** What all answers of one client connection share. Its event loop only. */
    static final class ClientChannel {
        private final ChannelHandlerContext encoder;
        private final Channel channel;
        private final @Nullable Socket socket; // null: everything through the pipeline
        private final SocketWriter writer = SocketWriter.ofLoop();
        private final RawReplyHead head = new RawReplyHead();
        private boolean mayWait = true; // something may be waiting in the channel

        /** {@code encoder}: bytes are written from here on. */
        ClientChannel(ChannelHandlerContext encoder) {
            this.encoder = encoder;
            this.channel = encoder.channel();
            this.socket = FlushHandler.of(encoder).socket();
        }

        /** Somebody else has written. */
        void used() {
            mayWait = true;
        }

        /** Where bytes can go past the pipeline. */
        @Nullable Socket socket() {
            return socket;
        }

        /** The client sends nothing more while a request runs that went through the codec. */
        void inputEnded() {
            FlushHandler.of(encoder).inputEnded();
        }
    }

    private final ClientChannel client;
    private final RawRequest request;
    private final String requestId;
    private int status = 200;
    private boolean headed;
    private boolean begun; // its head is out
    private boolean chunked;
    private boolean over;
    private @Nullable Runnable drained;
    private @Nullable Runnable inputEnd;

    RawReply(ClientChannel client, RawRequest request, String requestId) {
        this.client = client;
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
                        client.head.add(name, value);
                    }
                });
        if (own != null) {
            own.forEach(client.head::add);
        }
        client.head.add(RequestIds.HEADER, requestId);
    }

    /** The gateway has its own value. */
    private static boolean isReplaced(String name, @Nullable MultiMap own) {
        return name.equalsIgnoreCase(RequestIds.HEADER) || (own != null && own.contains(name));
    }

    private void begin(int code) {
        status = code;
        headed = true;
        client.head.begin(code);
        HeaderList extra = request.extra();
        if (extra != null) {
            extra.forEach(client.head::add);
        }
    }

    @Override
    public void keepAlive() {
        write(KEEP_ALIVE, 0, KEEP_ALIVE.length);
    }

    @Override
    public void write(byte[] b, int from, int length) {
        if (length > 0 && !over && !isBodiless()) {
            chunked |= !begun && !client.head.hasLength();
            send(b, from, length, false);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (over) {
            return;
        }
        int wanted = isBodiless() ? 0 : length;
        if (!begun && !client.head.hasLength() && status != 204 && status != 304) {
            client.head.add("content-length", Integer.toString(wanted));
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
        ErrorMapper.headers(error, requestId, client.head::add);
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
            client.channel.close();
        }
    }

    @Override
    public boolean isFull() {
        return client.mayWait && !over && !client.channel.isWritable();
    }

    @Override
    public void onDrain(Runnable action) {
        if (!over) {
            drained = action;
        }
    }

    @Override
    public void onInputEnd(Runnable action) {
        inputEnd = action;
    }

    /** The client sends nothing more: writes something, so that it shows whether it reads. */
    void inputEnded() {
        Runnable action = inputEnd;
        if (over) {
            return;
        }
        if (!begun) {
            sayContinue(client);
        } else if (action != null) {
            action.run();
        }
    }

    /** What may come before any answer (RFC 9110 section 15.2). */
    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection
    static void sayContinue(ClientChannel client) {
        client.used();
        client.encoder.writeAndFlush(
                client.encoder.alloc().directBuffer(CONTINUE.length).writeBytes(CONTINUE),
                client.encoder.voidPromise());
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
                        + (begun ? 0 : client.head.length() + AROUND_HEAD);
        Socket to = client.socket;
        // Nobody else writes between two answers: what was empty after the last write still is.
        boolean direct = to != null && (!client.mayWait || SocketWriter.isEmpty(client.channel));
        ByteBuf out = direct ? client.writer.begin(most) : null;
        if (out == null || to == null) {
            ByteBuf copy = client.encoder.alloc().directBuffer(most);
            compose(copy, b, from, length, last);
            client.mayWait = true;
            client.encoder.writeAndFlush(copy, client.encoder.voidPromise());
            return;
        }
        compose(out, b, from, length, last);
        client.mayWait = client.writer.send(to) != 0;
        if (client.mayWait) {
            ByteBuf rest = client.writer.rest(client.encoder.alloc());
            client.encoder.writeAndFlush(rest, client.encoder.voidPromise());
        }
    }

    private void compose(ByteBuf out, byte[] b, int from, int length, boolean last) {
        if (!begun) {
            begun = true;
            if (!headed) {
                throw new IllegalStateException("an answer without a head");
            }
            client.head.writeTo(out);
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
