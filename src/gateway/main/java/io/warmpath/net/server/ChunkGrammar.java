package io.warmpath.net.server;

import io.warmpath.net.HttpBytes;
import org.jspecify.annotations.Nullable;

/**
 * The grammar of a body in chunks (RFC 9112 section 7.1), without its trailers. It takes less than
 * the RFC: a size is 1 to 8 hex digits, an extension has no blanks and nothing escaped. One
 * connection, its event loop only.
 */
final class ChunkGrammar {
    private static final int MAX_SIZE_DIGITS = 8;

    private enum State {
        SIZE,
        /** {@code ;name}. */
        NAME,
        /** {@code =token}, or the beginning of a text. */
        VALUE,
        /** {@code "text}. */
        TEXT,
        TEXT_END,
        SIZE_LF,
        DATA,
        DATA_CR,
        DATA_LF,
        END
    }

    private State state = State.SIZE;
    private int count; // digits of a size, characters of a name or a token
    private long left; // of the chunk, in bytes

    /** The next byte is the first one of a body. */
    void begin() {
        state = State.SIZE;
        count = 0;
        left = 0;
    }

    /** The next byte is of a chunk's data. */
    boolean isData() {
        return state == State.DATA;
    }

    /** The line of the last chunk has been read. */
    boolean isEnd() {
        return state == State.END;
    }

    /** Returns how many of so many bytes are of this chunk's data. */
    int skip(int bytes) {
        int some = (int) Math.min(left, bytes);
        left -= some;
        if (left == 0) {
            state = State.DATA_CR;
        }
        return some;
    }

    /**
     * @return null: it is what may come
     */
    @Nullable MalformedRequest read(byte b) {
        return switch (state) {
            case SIZE -> size(b);
            case NAME, VALUE -> word(b);
            case TEXT -> text(b);
            case TEXT_END -> behindExtension(b);
            case SIZE_LF -> go(b, '\n', left > 0 ? State.DATA : State.END);
            case DATA_CR -> go(b, '\r', State.DATA_LF);
            case DATA_LF -> go(b, '\n', State.SIZE);
            case DATA, END -> throw new IllegalStateException(state.name());
        };
    }

    private @Nullable MalformedRequest go(byte b, char expected, State next) {
        state = next;
        count = 0;
        return b == expected ? null : noChunk();
    }

    private @Nullable MalformedRequest size(byte b) {
        int digit = Character.digit(b, 16);
        if (digit < 0) {
            return count == 0 ? noChunk() : behindExtension(b);
        }
        left = 16 * left + digit;
        return ++count <= MAX_SIZE_DIGITS ? null : noChunk();
    }

    private @Nullable MalformedRequest word(byte b) {
        if (HttpBytes.isToken(b)) {
            count++;
            return null;
        }
        if (state == State.VALUE && count == 0 && b == '"') {
            state = State.TEXT;
            return null;
        }
        if (count == 0) {
            return noChunk();
        }
        return state == State.NAME && b == '=' ? go(b, '=', State.VALUE) : behindExtension(b);
    }

    private @Nullable MalformedRequest text(byte b) {
        if (b == '"') {
            state = State.TEXT_END;
            return null;
        }
        return b > 0 && b != '\\' && HttpBytes.isValue(b) ? null : noChunk();
    }

    private @Nullable MalformedRequest behindExtension(byte b) {
        return b == ';' ? go(b, ';', State.NAME) : go(b, '\r', State.SIZE_LF);
    }

    private static MalformedRequest noChunk() {
        return MalformedRequest.of("The body is not in chunks as RFC 9112 has them.");
    }
}
