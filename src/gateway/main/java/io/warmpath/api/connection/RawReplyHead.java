package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The head of an answer as bytes, until it is written. One per client connection, used again for
 * each of its answers; its event loop only. Characters of names and values become the byte of their
 * number (ISO 8859-1), as they came from bytes.
 */
final class RawReplyHead {
    /** Larger ones are not kept for the next answer. */
    private static final int KEPT = 1 << 10;

    private static final byte[] OK = "HTTP/1.1 200 OK\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NOTHING = {};

    private byte[] bytes = NOTHING;
    private int used;
    private boolean hasLength;

    /** Begins another one. */
    void begin(int status) {
        used = 0;
        hasLength = false;
        room(KEPT / 2);
        if (status == 200) {
            System.arraycopy(OK, 0, bytes, 0, OK.length);
            used = OK.length;
            return;
        }
        HttpResponseStatus known = HttpResponseStatus.valueOf(status);
        text("HTTP/1.1 ");
        text(known.codeAsText());
        put(' ');
        text(known.reasonPhrase());
        end();
    }

    void add(String name, String value) {
        hasLength |= name.length() == 14 && name.equalsIgnoreCase("content-length");
        text(name);
        put(':');
        put(' ');
        text(value);
        end();
    }

    /** The length of the body is in it. */
    boolean hasLength() {
        return hasLength;
    }

    int length() {
        return used;
    }

    /** Writes it; the empty line is the caller's. */
    void writeTo(ByteBuf out) {
        out.writeBytes(bytes, 0, used);
        if (bytes.length > KEPT) {
            bytes = NOTHING;
        }
        used = 0;
    }

    /**
     * @throws IllegalArgumentException a character that would end the line, or is none of a header
     */
    private void text(CharSequence text) {
        int length = text.length();
        room(length + 4);
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c == '\r' || c == '\n' || c == 0 || c > 0xff) {
                throw new IllegalArgumentException(
                        "character " + (int) c + " at " + i + " of an answer's head");
            }
            bytes[used + i] = (byte) c;
        }
        used += length;
    }

    private void put(char c) {
        bytes[used++] = (byte) c;
    }

    private void end() {
        put('\r');
        put('\n');
    }

    private void room(int more) {
        if (bytes.length - used < more) {
            bytes = Arrays.copyOf(bytes, Math.max(used + more, 2 * bytes.length));
        }
    }
}
