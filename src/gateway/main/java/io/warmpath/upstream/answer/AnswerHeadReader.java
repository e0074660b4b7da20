package io.warmpath.upstream.answer;

import io.warmpath.net.EndToEndHeaders;
import io.warmpath.net.HeaderList;
import io.warmpath.upstream.answer.AnswerHead.Malformed;
import java.nio.charset.StandardCharsets;

/**
 * Reads one complete head of an answer; the rules are in {@link AnswerParser}. One per head. Header
 * values are bytes: each becomes the character of its number (ISO 8859-1), so that they come out
 * again as they went in.
 */
final class AnswerHeadReader {
    private static final long UNKNOWN = -1;

    private final byte[] b;
    private final int end;
    private final HeaderList headers = new HeaderList();
    private long length = UNKNOWN;
    private boolean chunked;
    private boolean close;
    private boolean keep;
    private long keepAliveSeconds = UNKNOWN;

    AnswerHeadReader(byte[] b, int end) {
        this.b = b;
        this.end = end;
    }

    AnswerHead read() throws Malformed {
        int line = lineEnd(0);
        boolean oldVersion = startsWith("HTTP/1.0 ", line);
        if (!oldVersion && !startsWith("HTTP/1.1 ", line)) {
            throw new Malformed("something else than HTTP/1.1");
        }
        int status = status(line);
        for (int p = line + 2; b[p] != '\r'; ) {
            int to = lineEnd(p);
            header(p, to);
            p = to + 2;
        }
        if (chunked && length != UNKNOWN) {
            throw new Malformed("both a length and chunks");
        }
        if (chunked && oldVersion) {
            throw new Malformed("chunks in HTTP/1.0");
        }
        boolean keepAlive = !close && (!oldVersion || keep);
        return new AnswerHead(status, headers, length, chunked, keepAlive, keepAliveSeconds);
    }

    private boolean startsWith(String text, int line) {
        if (line < text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (b[i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Three digits behind the version, then a blank or the end of the line. */
    private int status(int line) throws Malformed {
        int at = "HTTP/1.1 ".length();
        int status = 0;
        for (int i = at; i < at + 3; i++) {
            if (i >= line || b[i] < '0' || b[i] > '9') {
                throw new Malformed("a status that is not three digits");
            }
            status = 10 * status + b[i] - '0';
        }
        if (status < 100 || (line > at + 3 && b[at + 3] != ' ')) {
            throw new Malformed("a status that is not three digits");
        }
        return status;
    }

    /** Of the CR of the CRLF that ends the line at {@code p}. */
    private int lineEnd(int p) throws Malformed {
        for (int i = p; i < end; i++) {
            byte c = b[i];
            if (c == '\r') {
                if (b[i + 1] != '\n') { // the head ends in LF, so there is one more byte
                    throw new Malformed("a header line with CR alone");
                }
                return i;
            }
            if (c == '\n') {
                throw new Malformed("a header line that ends in LF alone");
            }
            if ((c >= 0 && c < ' ' && c != '\t') || c == 0x7f) {
                throw new Malformed("a header with a control character");
            }
        }
        throw new Malformed("a head without an end");
    }

    private void header(int from, int to) throws Malformed {
        int colon = from;
        while (colon < to && isTokenChar(b[colon])) {
            colon++;
        }
        if (colon == from || colon == to || b[colon] != ':') {
            throw new Malformed("a header line without a proper name");
        }
        int start = colon + 1;
        int stop = to;
        while (start < stop && isBlank(b[start])) {
            start++;
        }
        while (stop > start && isBlank(b[stop - 1])) {
            stop--;
        }
        String name = new String(b, from, colon - from, StandardCharsets.ISO_8859_1);
        String value = new String(b, start, stop - start, StandardCharsets.ISO_8859_1);
        headers.add(name, value);
        switch (name.length()) {
            case 10 -> {
                if (name.equalsIgnoreCase("connection")) {
                    close |= EndToEndHeaders.lists(value, "close");
                    keep |= EndToEndHeaders.lists(value, "keep-alive");
                } else if (name.equalsIgnoreCase("keep-alive")) {
                    keepAliveSeconds = timeout(value);
                }
            }
            case 14 -> {
                if (name.equalsIgnoreCase("content-length")) {
                    contentLength(value);
                }
            }
            case 17 -> {
                if (name.equalsIgnoreCase("transfer-encoding")) {
                    if (chunked || !value.equalsIgnoreCase("chunked")) {
                        throw new Malformed("a transfer encoding other than chunked");
                    }
                    chunked = true;
                }
            }
            default -> {
                // passed on unread
            }
        }
    }

    private void contentLength(String value) throws Malformed {
        if (value.isEmpty() || value.length() > 18) {
            throw new Malformed("a length that is not a number");
        }
        long number = 0;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < '0' || c > '9') {
                throw new Malformed("a length that is not a number");
            }
            number = 10 * number + c - '0';
        }
        if (length != UNKNOWN && length != number) {
            throw new Malformed("two different lengths");
        }
        length = number;
    }

    /** Of {@code timeout=5, max=100}; advice only, so anything else counts as nothing. */
    private static long timeout(String value) {
        for (String part : value.split(",", -1)) {
            String p = part.strip();
            if (p.regionMatches(true, 0, "timeout=", 0, 8)
                    && p.length() > 8
                    && p.length() < 18
                    && p.chars().skip(8).allMatch(c -> c >= '0' && c <= '9')) {
                return Long.parseLong(p.substring(8));
            }
        }
        return UNKNOWN;
    }

    private static boolean isBlank(byte c) {
        return c == ' ' || c == '\t';
    }

    /** RFC 9110 section 5.6.2. */
    private static boolean isTokenChar(byte c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || (c > 0 && "!#$%&'*+-.^_`|~".indexOf(c) >= 0);
    }
}
