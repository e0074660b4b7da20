package io.warmpath.net;

/** What parts of a request's head are made of. Any thread. */
public final class HttpBytes {
    private static final boolean[] TOKEN = table("!#$%&'*+-.^_`|~");
    private static final boolean[] HOST = table("-._~!$&'()*+,;=%:[]");
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

    /** Of a host with its port (RFC 3986 section 3.2.2). */
    public static boolean isHost(int b) {
        return HOST[b & 0xff];
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
