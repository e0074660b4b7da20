package io.warmpath.net;

import java.nio.charset.StandardCharsets;

/** What parts of a request's head are made of. Any thread. */
public final class HttpBytes {
    private static final boolean[] TOKEN = table("!#$%&'*+-.^_`|~");
    private static final boolean[] NAME = table("-._~!$&'()*+,;=%");
    private static final boolean[] TARGET = table("-._~!$&'()*+,;=%:[]/?@");

    private HttpBytes() {}

    private static boolean[] table(String others) {
        boolean[] is = new boolean[256];
        for (char c = '0'; c <= 'z'; c++) {
            is[c] = Character.isLetterOrDigit(c);
        }
        for (int i = 0; i < others.length(); i++) {
            is[others.charAt(i)] = true;
        }
        return is;
    }

    /** Of a method or a header's name (RFC 9110 section 5.6.2). */
    public static boolean isToken(int b) {
        return TOKEN[b & 0xff];
    }

    /** A host with an optional port (RFC 3986 sections 3.2.2 and 3.2.3); the host may be empty. */
    public static boolean isHost(byte[] b, int from, int to) {
        int at = from;
        if (at < to && b[at] == '[') {
            do {
                at++;
            } while (at < to && (NAME[b[at] & 0xff] || b[at] == ':'));
            if (at == to || b[at] != ']' || at == from + 1) {
                return false;
            }
            at++;
        } else {
            while (at < to && NAME[b[at] & 0xff]) {
                at++;
            }
        }
        if (at == to) {
            return true;
        }
        if (b[at] != ':') {
            return false;
        }
        do {
            at++;
        } while (at < to && b[at] >= '0' && b[at] <= '9');
        return at == to;
    }

    /** As {@link #isHost(byte[], int, int)}. */
    public static boolean isHost(String text) {
        byte[] b = text.getBytes(StandardCharsets.ISO_8859_1); // what is no byte becomes `?`
        return isHost(b, 0, b.length);
    }

    /** Of a request's target; square brackets in queries, too, as clients write them there. */
    public static boolean isTarget(int b) {
        return TARGET[b & 0xff];
    }

    /** All of it is ({@link #isTarget(int)}). */
    public static boolean isTarget(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0x7f || !isTarget(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** Of a header's value: all but the other controls, bytes above ASCII among them. */
    public static boolean isValue(int b) {
        int c = b & 0xff;
        return (c >= ' ' && c != 0x7f) || c == '\t';
    }
}
