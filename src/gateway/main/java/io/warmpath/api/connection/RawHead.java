package io.warmpath.api.connection;

import io.netty.buffer.ByteBuf;
import io.warmpath.api.request.InferencePath;
import io.warmpath.net.HeaderList;
import io.warmpath.net.HttpBytes;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The head of a POST of the common shape, read from its bytes.
 *
 * <p>Takes less than RFC 9112 allows, so that what it takes has one meaning only: every line ends
 * with CRLF, one {@code Host}, one {@code Content-Length} of digits, no {@code Transfer-Encoding},
 * nothing that changes what follows ({@code Expect}, {@code Upgrade}, {@code Trailer}, {@code
 * Connection} other than {@code keep-alive}), values of printable ASCII. Everything else is left to
 * the server's decoder, which takes it or refuses it. Immutable, but for the list of headers.
 */
final class RawHead {
    /** Longest head that is read, with its empty line. */
    static final int MAX_BYTES = 8 << 10;

    private static final int MAX_LENGTH_DIGITS = 9;

    private static final byte[] METHOD = ascii("POST ");
    private static final int POST = 'P' << 24 | 'O' << 16 | 'S' << 8 | 'T';
    private static final byte[] VERSION = ascii(" HTTP/1.1\r\n");

    private final InferencePath path;
    private final HeaderList headers;
    private final int length;
    private final int bodyLength;

    private RawHead(InferencePath path, HeaderList headers, int length, int bodyLength) {
        this.path = path;
        this.headers = headers;
        this.length = length;
        this.bodyLength = bodyLength;
    }

    /** Which endpoint it is for. */
    InferencePath path() {
        return path;
    }

    HeaderList headers() {
        return headers;
    }

    /** In bytes, with its empty line. */
    int length() {
        return length;
    }

    /** In bytes, from 1. */
    int bodyLength() {
        return bodyLength;
    }

    /** It could be one, by its first bytes. */
    static boolean mayBegin(ByteBuf in) {
        return in.readableBytes() > METHOD.length && in.getInt(in.readerIndex()) == POST;
    }

    /**
     * @param b begins with the head
     * @param end behind the last byte that has arrived
     * @return null: it is of another shape, for another endpoint, or not there as a whole
     */
    static @Nullable RawHead read(byte[] b, int end) {
        int stop = Math.min(end, MAX_BYTES);
        if (!startsWith(b, 0, stop, METHOD)) {
            return null;
        }
        InferencePath path = InferencePath.at(b, METHOD.length, stop);
        if (path == null) {
            return null;
        }
        int at = METHOD.length + path.path().length();
        return startsWith(b, at, stop, VERSION)
                ? new Reader(b, stop, at + VERSION.length).read(path)
                : null;
    }

    private static boolean startsWith(byte[] b, int at, int end, byte[] text) {
        if (end - at < text.length) {
            return false;
        }
        for (int i = 0; i < text.length; i++) {
            if (b[at + i] != text[i]) {
                return false;
            }
        }
        return true;
    }

    /** The headers. */
    private static final class Reader {
        private final byte[] b;
        private final int end;
        private int at;
        private final HeaderList headers = new HeaderList();
        private boolean host;
        private int bodyLength = -1;

        Reader(byte[] b, int end, int at) {
            this.b = b;
            this.end = end;
            this.at = at;
        }

        @Nullable RawHead read(InferencePath path) {
            while (at + 1 < end) {
                if (b[at] == '\r') {
                    return b[at + 1] == '\n' && host && bodyLength > 0
                            ? new RawHead(path, headers, at + 2, bodyLength)
                            : null;
                }
                if (!header()) {
                    return null;
                }
            }
            return null;
        }

        private boolean header() {
            int name = at;
            int colon = name;
            while (colon < end && HttpBytes.isToken(b[colon])) {
                colon++;
            }
            if (colon == name || colon == end || b[colon] != ':') {
                return false;
            }
            int from = colon + 1;
            while (from < end && b[from] == ' ') {
                from++;
            }
            int to = from;
            while (to < end && b[to] >= ' ' && b[to] != 0x7f) {
                to++;
            }
            if (to + 1 >= end || b[to] != '\r' || b[to + 1] != '\n') {
                return false;
            }
            at = to + 2;
            while (to > from && b[to - 1] == ' ') {
                to--;
            }
            if (!allows(name, colon, from, to)) {
                return false;
            }
            headers.add(text(name, colon), text(from, to));
            return true;
        }

        /** Notes what the framing depends on. */
        private boolean allows(int name, int colon, int from, int to) {
            return switch (colon - name) {
                case 4 -> !is(name, "host") || host(from, to);
                case 6 -> !is(name, "expect") && !is(name, "origin"); // PageGate sees it
                case 7 -> !is(name, "upgrade") && !is(name, "trailer");
                case 10 -> !is(name, "connection") || isKeepAlive(from, to);
                case 14 ->
                        is(name, "content-length")
                                ? length(from, to)
                                : !is(name, "sec-fetch-site"); // a browser's, as origin
                case 16 -> !is(name, "proxy-connection");
                case 17 -> !is(name, "transfer-encoding");
                default -> true;
            };
        }

        private boolean isKeepAlive(int from, int to) {
            return to - from == 10 && is(from, "keep-alive");
        }

        private boolean host(int from, int to) {
            if (host || from == to || !HttpBytes.isHost(b, from, to)) {
                return false;
            }
            host = true;
            return true;
        }

        private boolean length(int from, int to) {
            if (bodyLength >= 0 || from == to || to - from > MAX_LENGTH_DIGITS || b[from] == '0') {
                return false;
            }
            int value = 0;
            for (int i = from; i < to; i++) {
                if (b[i] < '0' || b[i] > '9') {
                    return false;
                }
                value = 10 * value + b[i] - '0';
            }
            bodyLength = value;
            return true;
        }

        /** {@code text}: of the same length, in lower case. */
        private boolean is(int at, String text) {
            for (int i = 0; i < text.length(); i++) {
                int c = b[at + i];
                if (c != text.charAt(i)
                        && (c < 'A' || c > 'Z' || c + ('a' - 'A') != text.charAt(i))) {
                    return false;
                }
            }
            return true;
        }

        private String text(int from, int to) {
            return new String(b, from, to - from, StandardCharsets.ISO_8859_1);
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
