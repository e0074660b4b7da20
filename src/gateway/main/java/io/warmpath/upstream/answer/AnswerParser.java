package io.warmpath.upstream.answer;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes engines' HTTP/1.1 answers apart: head, and body bytes without their framing.
 *
 * <p>At least as strict as any client behind us (RFC 9112): what could be read in two ways is
 * refused, never guessed, because the other reader may guess differently. Lines end in CRLF; a
 * header's name is a token with the colon right behind it; no folded lines; one length, in digits
 * only, or {@code chunked} alone; chunk sizes of 1 to 8 hex digits, below 2 GiB. Chunk extensions
 * and trailers are read and dropped.
 *
 * <p>One per connection, reused by {@link #begin}; one thread. Bytes may be cut anywhere. Allocates
 * for a head that differs from the last one on this connection, and nothing for a body.
 */
public final class AnswerParser {
    static final int MAX_HEAD_BYTES = 64 << 10;
    static final int MAX_TRAILER_BYTES = 8 << 10;
    static final int MAX_CHUNK_EXTENSION = 1024;
    private static final int MAX_INTERIM_ANSWERS = 8;
    private static final int FIRST_HEAD_BYTES = 512;
    private static final int MAX_CHUNK_DIGITS = 8;

    private enum State {
        HEAD,
        LENGTH,
        UNTIL_CLOSE,
        SIZE,
        EXTENSION,
        SIZE_LF,
        CHUNK,
        CHUNK_CR,
        CHUNK_LF,
        TRAILER_START,
        TRAILER,
        TRAILER_LF,
        END_LF,
        DONE,
        BAD
    }

    private State state = State.DONE;
    private byte[] head = new byte[FIRST_HEAD_BYTES];
    private int headLength;
    private byte[] lastHead = {};
    private @Nullable AnswerHead lastParsed;
    private @Nullable AnswerHead parsed;
    private int interimAnswers;
    private int line; // digits or bytes of the line being read
    private long left; // of the length, or of this chunk
    private int trailerBytes;
    private String fault = "";

    /** The next bytes are the start of an answer. */
    public void begin() {
        state = State.HEAD;
        headLength = 0;
        parsed = null;
        interimAnswers = 0;
        trailerBytes = 0;
        fault = "";
    }

    /** Status and headers; null until they are complete. 1xx answers are skipped. */
    public @Nullable AnswerHead head() {
        return parsed;
    }

    /** The answer is complete. */
    public boolean isDone() {
        return state == State.DONE;
    }

    /** The answer is not valid; {@link #fault} says why, and nothing more is read. */
    public boolean isBad() {
        return state == State.BAD;
    }

    public String fault() {
        return fault;
    }

    /** The connection has ended; true when that is how this answer has to end. */
    public boolean endsAtClose() {
        return state == State.UNTIL_CLOSE;
    }

    private int read; // up to where the last call has read

    /** Bytes behind the answer's end that came with the last {@link #parse}. */
    public boolean leftOver(int end) {
        return state == State.DONE && read < end;
    }

    /**
     * Reads {@code b[from, end)} and moves the body's bytes together at {@code to}.
     *
     * @param to at most {@code from}
     * @return end of the body's bytes
     */
    public int parse(byte[] b, int to, int from, int end) {
        int p = from;
        int out = to;
        while (p < end && state != State.DONE && state != State.BAD) {
            switch (state) {
                case HEAD -> p = headBytes(b, p, end);
                case LENGTH, CHUNK -> {
                    int n = (int) Math.min(left, end - p);
                    if (out != p) {
                        System.arraycopy(b, p, b, out, n);
                    }
                    out += n;
                    p += n;
                    left -= n;
                    if (left == 0) {
                        state = state == State.LENGTH ? State.DONE : State.CHUNK_CR;
                    }
                }
                case UNTIL_CLOSE -> {
                    int n = end - p;
                    System.arraycopy(b, p, b, out, n);
                    out += n;
                    p = end;
                }
                default -> framing(b[p++]);
            }
        }
        read = p;
        return out;
    }

    /** One byte between the data of chunks. */
    private void framing(byte c) {
        switch (state) {
            case SIZE -> size(c);
            case EXTENSION -> {
                if (c == '\r') {
                    state = State.SIZE_LF;
                } else if (isControl(c) || ++line > MAX_CHUNK_EXTENSION) {
                    bad("a chunk's size line with a bad extension");
                }
            }
            case SIZE_LF -> {
                if (c != '\n') {
                    bad("a chunk's size line that ends in CR alone");
                } else if (left == 0) {
                    state = State.TRAILER_START;
                } else {
                    state = State.CHUNK;
                }
            }
            case CHUNK_CR -> expect(c, '\r', State.CHUNK_LF, "a chunk longer than it says");
            case CHUNK_LF -> {
                beginSize();
                expect(c, '\n', State.SIZE, "a chunk longer than it says");
            }
            case TRAILER_START -> {
                if (c == '\r') {
                    state = State.END_LF;
                } else {
                    state = State.TRAILER;
                    trailer(c);
                }
            }
            case TRAILER -> {
                if (c == '\r') {
                    state = State.TRAILER_LF;
                } else {
                    trailer(c);
                }
            }
            case TRAILER_LF ->
                    expect(c, '\n', State.TRAILER_START, "a trailer line that ends in CR alone");
            case END_LF -> expect(c, '\n', State.DONE, "a last line that ends in CR alone");
            default -> throw new IllegalStateException("state " + state + " reads no framing");
        }
    }

    private void beginSize() {
        line = 0;
        left = 0;
    }

    private void size(byte c) {
        int digit = Character.digit(c, 16);
        if (digit >= 0) {
            if (++line > MAX_CHUNK_DIGITS) {
                bad("a chunk's size of more than " + MAX_CHUNK_DIGITS + " digits");
                return;
            }
            left = left << 4 | digit;
        } else if (line == 0) {
            bad("a chunk without a size");
        } else if (left > Integer.MAX_VALUE) {
            bad("a chunk of " + left + " bytes");
        } else if (c == '\r') {
            state = State.SIZE_LF;
        } else if (c == ';' || c == ' ' || c == '\t') {
            line = 0;
            state = State.EXTENSION;
        } else {
            bad("a chunk's size that is not a number");
        }
    }

    private void trailer(byte c) {
        if (isControl(c)) {
            bad("a trailer with a control character");
        } else if (++trailerBytes > MAX_TRAILER_BYTES) {
            bad("trailers of more than " + MAX_TRAILER_BYTES + " bytes");
        }
    }

    private void expect(byte c, char wanted, State next, String otherwise) {
        if (c == wanted) {
            state = next;
        } else {
            bad(otherwise);
        }
    }

    private static boolean isControl(byte c) {
        return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
    }

    private void bad(String why) {
        state = State.BAD;
        fault = why;
    }

    /** Collects the head up to its empty line, then reads it. */
    private int headBytes(byte[] b, int from, int end) {
        int p = from;
        while (p < end) {
            int newline = p;
            while (newline < end && b[newline] != '\n') {
                newline++;
            }
            int upTo = Math.min(newline + 1, end);
            if (headLength + upTo - p > MAX_HEAD_BYTES) {
                bad("a head of more than " + MAX_HEAD_BYTES + " bytes");
                return end;
            }
            append(b, p, upTo);
            p = upTo;
            if (headLength >= 4 && endsWithEmptyLine()) {
                headComplete();
                return p;
            }
        }
        return p;
    }

    private boolean endsWithEmptyLine() {
        return head[headLength - 1] == '\n'
                && head[headLength - 2] == '\r'
                && head[headLength - 3] == '\n'
                && head[headLength - 4] == '\r';
    }

    private void append(byte[] b, int from, int to) {
        int n = to - from;
        if (headLength + n > head.length) {
            head = Arrays.copyOf(head, Math.max(headLength + n, 2 * head.length));
        }
        System.arraycopy(b, from, head, headLength, n);
        headLength += n;
    }

    private void headComplete() {
        AnswerHead answer = lastParsed;
        if (answer == null || !Arrays.equals(head, 0, headLength, lastHead, 0, lastHead.length)) {
            try {
                answer = new AnswerHeadReader(head, headLength).read();
                lastParsed = answer;
                lastHead = Arrays.copyOf(head, headLength);
            } catch (AnswerHead.Malformed e) {
                bad(e.what());
                return;
            }
        }
        headLength = 0;
        int status = answer.status();
        if (status == 101) {
            bad("a change of protocol that nobody asked for");
        } else if (status < 200) {
            if (++interimAnswers > MAX_INTERIM_ANSWERS) {
                bad("more than " + MAX_INTERIM_ANSWERS + " interim answers");
            }
        } else {
            parsed = answer;
            bodyBegins(answer);
        }
    }

    private void bodyBegins(AnswerHead answer) {
        if (answer.isWithoutBody()) {
            state = State.DONE;
        } else if (answer.chunked()) {
            beginSize();
            state = State.SIZE;
        } else if (answer.length() >= 0) {
            left = answer.length();
            state = left == 0 ? State.DONE : State.LENGTH;
        } else {
            state = State.UNTIL_CLOSE;
        }
    }
}
