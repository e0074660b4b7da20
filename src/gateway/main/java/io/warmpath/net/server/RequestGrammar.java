package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import io.warmpath.net.HttpBytes;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The grammar of requests on one connection (RFC 9112), read beside the server's decoder from the
 * same bytes. It is told how each body is framed and says where the request ends. It takes less
 * than the RFC: lines end with CRLF, no header goes on in a second line, a header has at most
 * {@link #MAX_HEADER} bytes. One connection, its event loop only.
 */
final class RequestGrammar {
    /** Longest header or trailer with its name, in bytes, without its line's end. */
    static final int MAX_HEADER = 8 << 10;

    /** Of an event loop, for what is looked at now. */
    private static final FastThreadLocal<byte[]> BLOCK =
            new FastThreadLocal<>() {
                @Override
                protected byte[] initialValue() {
                    return new byte[1 << 10];
                }
            };

    private static final String VERSION = "HTTP/1.";

    private static final byte[] HOST = "host".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LENGTH = "content-length".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CODING = "transfer-encoding".getBytes(StandardCharsets.US_ASCII);

    private enum State {
        /** Empty lines before a request. */
        START,
        START_LF,
        METHOD,
        TARGET,
        VERSION,
        MINOR,
        LINE_CR,
        LINE_LF,
        /** A header, or the empty line behind the last one. */
        LINE,
        NAME,
        VALUE,
        HEAD_LF,
        /** The head is complete, and nobody has said how the body is framed. */
        HEAD_END,
        BODY,
        CHUNKS,
        END
    }

    private State state = State.START;
    private boolean chunked;
    private int count; // of the state: bytes of a line
    private long left; // of the body, in bytes
    private final ChunkGrammar chunks = new ChunkGrammar();
    private final byte[] name = new byte[CODING.length]; // of a header, as far as it fits
    private boolean length; // the header is a length
    private boolean coding; // it is a coding
    private int hosts; // in this head, as the two below
    private int lengths;
    private int codings;

    /** The head is complete. */
    boolean isHeadEnd() {
        return state == State.HEAD_END;
    }

    /** Nothing of a next request has come. */
    boolean isStart() {
        return state == State.START;
    }

    /** The request is. */
    boolean isEnd() {
        return state == State.END;
    }

    /** The next byte is the first one of a request, or of an empty line before it. */
    void next() {
        state = State.START;
        chunked = false;
        hosts = 0;
        lengths = 0;
        codings = 0;
    }

    /** Headers of this name in the head so far. */
    int hosts() {
        return hosts;
    }

    /** Headers {@code Transfer-Encoding} in the head so far. */
    int codings() {
        return codings;
    }

    /** The head has a {@code Content-Length}, of digits and blanks. */
    boolean hasLength() {
        return lengths > 0;
    }

    /**
     * How the body behind this head is framed.
     *
     * @param length in bytes, from 0; negative: in chunks
     */
    void body(long length) {
        chunked = length < 0;
        left = length;
        if (chunked) {
            chunks.begin();
        }
        state = chunked ? State.CHUNKS : length == 0 ? State.END : State.BODY;
    }

    /**
     * @return null: bytes {@code from} to {@code to} are what may come
     */
    @Nullable MalformedRequest read(ByteBuf in, int from, int to) {
        byte[] block = BLOCK.get();
        int at = from;
        while (at < to) {
            if (isData()) {
                at += skip(to - at);
                continue;
            }
            int some = Math.min(block.length, to - at);
            in.getBytes(at, block, 0, some); // one by one they would be looked up again each
            int read = 0;
            while (read < some && !isData()) {
                read = stay(block, read, some);
                MalformedRequest wrong = read < some ? read(block[read]) : tooLong();
                if (wrong != null) {
                    return wrong;
                }
                read++;
            }
            at += Math.min(read, some);
        }
        return null;
    }

    /** The next byte is the client's. */
    private boolean isData() {
        return state == State.BODY || (state == State.CHUNKS && chunks.isData());
    }

    /** Returns bytes that are of the body. */
    private int skip(int bytes) {
        if (state == State.CHUNKS) {
            return chunks.skip(bytes);
        }
        int some = (int) Math.min(left, bytes);
        left -= some;
        if (left == 0) {
            state = State.END;
        }
        return some;
    }

    /**
     * Most bytes belong to a name or a value that goes on.
     *
     * @return where one is that may be something else
     */
    private int stay(byte[] b, int from, int to) {
        int at = from;
        if (state == State.VALUE && !length && !coding) {
            while (at < to && HttpBytes.isValue(b[at])) {
                at++;
            }
            count += at - from;
        } else if (state == State.NAME) {
            while (at < to && HttpBytes.isToken(b[at])) {
                keep(b[at]);
                at++;
            }
        }
        return at;
    }

    private void keep(byte b) {
        if (count < name.length) {
            name[count] = b;
        }
        count++;
    }

    private @Nullable MalformedRequest read(byte b) {
        return switch (state) {
            case START, START_LF, METHOD, TARGET, VERSION, MINOR, LINE_CR -> line(b);
            case LINE_LF, LINE, NAME, VALUE, HEAD_LF -> header(b);
            case CHUNKS -> chunk(b);
            case HEAD_END, BODY, END -> MalformedRequest.of("The request has no clear end.");
        };
    }

    private @Nullable MalformedRequest chunk(byte b) {
        MalformedRequest wrong = chunks.read(b);
        if (chunks.isEnd()) {
            state = State.LINE; // trailers
        }
        return wrong;
    }

    private @Nullable MalformedRequest line(byte b) {
        switch (state) {
            case START -> {
                if (b == '\r') {
                    state = State.START_LF;
                } else if (HttpBytes.isToken(b)) {
                    state = State.METHOD;
                } else {
                    return noLine();
                }
            }
            case START_LF -> {
                if (b != '\n') {
                    return noLine();
                }
                state = State.START;
            }
            case METHOD -> {
                if (b == ' ') {
                    state = State.TARGET;
                    count = 0;
                } else if (!HttpBytes.isToken(b)) {
                    return noLine();
                }
            }
            case TARGET -> {
                if (b == ' ' && count > 0) {
                    state = State.VERSION;
                    count = 0;
                } else if (HttpBytes.isTarget(b)) {
                    count++;
                } else {
                    return MalformedRequest.of(
                            "The request's target has a character that must be percent-encoded.");
                }
            }
            case VERSION -> {
                if (b != VERSION.charAt(count++)) {
                    return MalformedRequest.version();
                }
                if (count == VERSION.length()) {
                    state = State.MINOR;
                }
            }
            case MINOR -> {
                if (b != '0' && b != '1') {
                    return MalformedRequest.version();
                }
                state = State.LINE_CR;
            }
            case LINE_CR -> {
                if (b != '\r') {
                    return MalformedRequest.version();
                }
                state = State.LINE_LF;
            }
            default -> throw new IllegalStateException(state.name());
        }
        return null;
    }

    private static MalformedRequest noLine() {
        return MalformedRequest.of(
                "The request's first line is not `METHOD TARGET HTTP/1.1` with CRLF behind it.");
    }

    /** Of the head, and of the trailers behind the last chunk. */
    private @Nullable MalformedRequest header(byte b) {
        switch (state) {
            case LINE_LF -> {
                if (b != '\n') {
                    return MalformedRequest.of("A line of the head does not end with CRLF.");
                }
                state = State.LINE;
            }
            case LINE -> {
                if (b == '\r') {
                    state = State.HEAD_LF;
                } else if (b == ' ' || b == '\t') {
                    return MalformedRequest.of("A header goes on in a second line.");
                } else if (HttpBytes.isToken(b)) {
                    state = State.NAME;
                    count = 0;
                    keep(b);
                } else {
                    return noName();
                }
            }
            case NAME -> {
                if (b == ':') {
                    state = State.VALUE;
                    return named();
                }
                return noName();
            }
            case VALUE -> {
                if (b == '\r') {
                    state = State.LINE_LF;
                    return tooLong();
                }
                if (length && (b < '0' || b > '9') && b != ' ') {
                    return noLength();
                }
                if (coding && b == '\t') { // some readers do not take it off
                    return MalformedRequest.of("The header `Transfer-Encoding` has a tab.");
                }
                if (!HttpBytes.isValue(b)) {
                    return MalformedRequest.of("A header's value has a control character.");
                }
                count++;
            }
            case HEAD_LF -> {
                if (b != '\n') {
                    return MalformedRequest.of("The head does not end with an empty line.");
                }
                state = chunked ? State.END : State.HEAD_END;
            }
            default -> throw new IllegalStateException(state.name());
        }
        return null;
    }

    /** The decoder may make one length of several, and drops such trailers: it tells neither. */
    private @Nullable MalformedRequest named() {
        length = is(LENGTH);
        coding = is(CODING);
        if (chunked && (length || coding)) {
            return MalformedRequest.of("A trailer says where the body ends.");
        }
        hosts += is(HOST) ? 1 : 0;
        codings += coding ? 1 : 0;
        lengths += length ? 1 : 0;
        count++;
        return lengths > 1 ? noLength() : tooLong();
    }

    private boolean is(byte[] lowerCase) {
        if (count != lowerCase.length) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if ((name[i] | 0x20) != lowerCase[i]) { // no other token differs by this bit alone
                return false;
            }
        }
        return true;
    }

    private static MalformedRequest noLength() {
        return MalformedRequest.of("The header `Content-Length` may stand once and has digits.");
    }

    private static MalformedRequest noName() {
        return MalformedRequest.of("A header has no name, or one that is no token.");
    }

    private @Nullable MalformedRequest tooLong() {
        boolean header = state == State.NAME || state == State.VALUE || state == State.LINE_LF;
        return !header || count <= MAX_HEADER
                ? null
                : MalformedRequest.tooLarge("A header is longer than " + MAX_HEADER + " bytes.");
    }
}
