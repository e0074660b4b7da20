package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import java.util.ArrayList;
import java.util.List;

/** Reads bytes as the decoder of a client's connection does, without a connection. */
public final class ServerReading {
    /** As the runtime sets them (`quarkus.http.limits`). */
    private static final HttpServerOptions OPTIONS =
            new HttpServerOptions().setMaxHeaderSize(20 << 10).setMaxChunkSize(64 << 10);

    /** Which decoder. */
    public enum Rules {
        /** The product's. */
        STRICT,
        /** Vert.x' own, as it was used before. */
        VERTX
    }

    /** How it went on after the last request. */
    public enum State {
        WAITING,
        CLOSED,
        REFUSED
    }

    /** What was read. */
    public interface Seen {
        /** A head lies at {@code from}, with empty lines before it, and ends before {@code to}. */
        void head(HttpRequest request, int from, int to);

        void body(ByteBuf content);

        /** The request ends before {@code at}. */
        void end(int at);
    }

    private interface Decoder {
        void decode(ByteBuf in, List<Object> out) throws Exception;
    }

    private static final class Vertx extends VertxHttpRequestDecoder implements Decoder {
        Vertx() {
            super(OPTIONS);
        }

        @Override
        public void decode(ByteBuf in, List<Object> out) throws Exception {
            decode(null, in, out);
        }
    }

    private ServerReading() {}

    /**
     * @param cuts where reads of the socket end, ascending; the last one ends at {@code length}
     */
    public static State read(Rules rules, byte[] bytes, int length, int[] cuts, Seen seen)
            throws Exception {
        Decoder decoder =
                switch (rules) {
                    case STRICT -> {
                        StrictDecoder strict = new StrictDecoder(OPTIONS);
                        yield (in, out) -> strict.decode(null, in, out);
                    }
                    case VERTX -> new Vertx();
                };
        ByteBuf in = Unpooled.wrappedBuffer(bytes, 0, length);
        List<Object> out = new ArrayList<>(4);
        Position position = new Position(seen);
        for (int i = 0; i <= cuts.length; i++) {
            in.writerIndex(i < cuts.length ? cuts[i] : length);
            State state = decodeAll(decoder, in, out, position);
            if (state != State.WAITING) {
                return state;
            }
        }
        return State.WAITING;
    }

    private static final class Position {
        private final Seen seen;
        private int from;
        private boolean last;

        Position(Seen seen) {
            this.seen = seen;
        }
    }

    private static State decodeAll(Decoder decoder, ByteBuf in, List<Object> out, Position position)
            throws Exception {
        while (in.isReadable()) {
            int before = in.readerIndex();
            out.clear();
            decoder.decode(in, out);
            for (Object part : out) {
                State state = take((HttpObject) part, in.readerIndex(), position);
                if (state != State.WAITING) {
                    return state;
                }
            }
            if (out.isEmpty() && in.readerIndex() == before) {
                break;
            }
        }
        return State.WAITING;
    }

    private static State take(HttpObject part, int at, Position position) {
        if (part.decoderResult().isFailure()) {
            return State.REFUSED;
        }
        if (part instanceof HttpRequest request) {
            HttpVersion version = request.protocolVersion();
            position.last =
                    LastRequestGate.isLast(
                            version.equals(HttpVersion.HTTP_1_1),
                            version.equals(HttpVersion.HTTP_1_0),
                            option -> request.headers().contains("connection", option, true));
            position.seen.head(request, position.from, at);
        }
        if (part instanceof HttpContent content) {
            position.seen.body(content.content());
            ReferenceCountUtil.release(content);
        }
        if (part instanceof LastHttpContent) {
            position.seen.end(at);
            position.from = at;
            return position.last ? State.CLOSED : State.WAITING;
        }
        return State.WAITING;
    }
}
