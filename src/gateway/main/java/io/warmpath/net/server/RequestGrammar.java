package io.warmpath.net.server;

import io.netty.buffer.ByteBuf;
import io.warmpath.net.HttpBytes;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The grammar of requests on one connection (RFC 9112), read beside the server's decoder from the
 * same bytes. It is told how each body is framed and says where the request ends.
 *
 * <p>It takes less than the RFC: lines end with CRLF, no header goes on in a second line, a header
 * has at most {@link #MAX_HEADER} bytes, a chunk's size is 1 to 8 hex digits. One connection, its
 * event loop only.
 */
final class RequestGrammar {
    /** Longest header or trailer with its name, in bytes, without its line's end. */
    static final int MAX_HEADER = 8 << 10;

    private static final int MAX_SIZE_DIGITS = 8;
    private static final String VERSION = "HTTP/1.";

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
        SIZE,
        EXTENSION,
        EXTENSION_VALUE,
        EXTENSION_TEXT,
        EXTENSION_END,
        SIZE_LF,
        CHUNK_CR,
        CHUNK_LF,
        END
    }

    private State state = State.START;
    private boolean chunked;
    private int count; // of the state: bytes of a line, digits of a size
    private long left; // of the body or of the chunk, in bytes
    private final byte[] name = new byte[CODING.length]; // of a header, as far as it fits
    private boolean length; // the header is a length
    private boolean coding; // it is a coding
    private boolean lengthSeen; // in this head

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
        lengthSeen = false;
    }

    /**
     * How the body behind this head is framed.
     *
     * @param length in bytes, from 0; negative: in chunks
     */
    void body(long length) {
        chunked = length < 0;
        left = Math.max(0, length);
        state = chunked ? State.SIZE : length == 0 ? State.END : State.BODY;
        count = 0;
    }

    /**
     * @return null: bytes {@code from} to {@code to} are what may come
     */
    @Nullable MalformedRequest read(ByteBuf in, int from, int to) {
        int at = from;
        while (at < to) {
            if (state == State.BODY) {
                int some = (int) Math.min(left, to - at);
                left -= some;
                at += some;
                if (left == 0) {
                    state = chunked ? State.CHUNK_CR : State.END;
                }
                continue;
            }
            MalformedRequest wrong = read(in.getByte(at));
            if (wrong != null) {
                return wrong;
            }
            at++;
        }
        return null;
    }

    private @Nullable MalformedRequest read(byte b) {
        return switch (state) {
            case START, START_LF, METHOD, TARGET, VERSION, MINOR, LINE_CR -> line(b);
            case LINE_LF, LINE, NAME, VALUE, HEAD_LF -> header(b);
            case EXTENSION, EXTENSION_VALUE, EXTENSION_TEXT, EXTENSION_END -> extension(b);
            case SIZE, SIZE_LF, CHUNK_CR, CHUNK_LF -> chunk(b);
            case HEAD_END, BODY, END -> MalformedRequest.of("The request has no clear end.");
        };
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
                    name[0] = b;
                    count = 1;
                } else {
                    return noName();
                }
            }
            case NAME -> {
                if (b == ':') {
                    state = State.VALUE;
                    return named();
                } else if (!HttpBytes.isToken(b)) {
                    return noName();
                } else if (count < name.length) {
                    name[count] = b;
                }
                return counted();
            }
            case VALUE -> {
                if (b == '\r') {
                    state = State.LINE_LF;
                    return null;
                }
                if (length && (b < '0' || b > '9') && b != ' ') {
                    return noLength();
                }
                if (coding && b == '\t') { // some readers do not take it off
                    return MalformedRequest.of("The header `Transfer-Encoding` has a tab.");
                }
                return HttpBytes.isValue(b)
                        ? counted()
                        : MalformedRequest.of("A header's value has a control character.");
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
        if (length && lengthSeen) {
            return noLength();
        }
        lengthSeen |= length;
        return counted();
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

    private @Nullable MalformedRequest counted() {
        return ++count <= MAX_HEADER
                ? null
                : MalformedRequest.tooLarge("A header is longer than " + MAX_HEADER + " bytes.");
    }

    private @Nullable MalformedRequest chunk(byte b) {
        switch (state) {
            case SIZE -> {
                int digit = Character.digit(b, 16);
                if (digit >= 0 && count < MAX_SIZE_DIGITS) {
                    left = 16 * left + digit;
                    count++;
                } else if (count > 0) {
                    return behindExtension(b);
                } else {
                    return noChunk();
                }
            }
            case SIZE_LF -> {
                if (b != '\n') {
                    return noChunk();
                }
                state = left > 0 ? State.BODY : State.LINE; // trailers
            }
            case CHUNK_CR -> {
                if (b != '\r') {
                    return noChunk();
                }
                state = State.CHUNK_LF;
            }
            case CHUNK_LF -> {
                if (b != '\n') {
                    return noChunk();
                }
                state = State.SIZE;
                count = 0;
            }
            default -> throw new IllegalStateException(state.name());
        }
        return null;
    }

    /** {@code ;name}, {@code ;name=token} or {@code ;name="text"}, without blanks. */
    private @Nullable MalformedRequest extension(byte b) {
        if (state == State.EXTENSION_TEXT) {
            if (b == '"') {
                state = State.EXTENSION_END;
            } else if (b < 0 || b == '\\' || !HttpBytes.isValue(b)) {
                return noChunk();
            }
            return null;
        }
        if (state == State.EXTENSION_VALUE && count == 0 && b == '"') {
            state = State.EXTENSION_TEXT;
            return null;
        }
        if (state != State.EXTENSION_END) {
            if (HttpBytes.isToken(b)) {
                count++;
                return null;
            }
            if (count == 0) {
                return noChunk();
            }
            if (state == State.EXTENSION && b == '=') {
                state = State.EXTENSION_VALUE;
                count = 0;
                return null;
            }
        }
        return behindExtension(b);
    }

    private @Nullable MalformedRequest behindExtension(byte b) {
        if (b == '\r') {
            state = State.SIZE_LF;
            return null;
        }
        if (b == ';') {
            state = State.EXTENSION;
            count = 0;
            return null;
        }
        return noChunk();
    }

    private static MalformedRequest noChunk() {
        return MalformedRequest.of("The body is not in chunks as RFC 9112 has them.");
    }
}
