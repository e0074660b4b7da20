package io.warmpath.api.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Looks at events of a stream as they lie in bytes, without reading their JSON. Any thread. */
public final class EventBytes {
    private static final byte[] FINISH = utf8("\"finish_reason\":");
    private static final byte[] NULL = utf8("null");
    private static final byte[] DATA = utf8("data:");
    private static final byte[] NVEXT = utf8("\"nvext\"");

    private EventBytes() {}

    /** Of a chunk: a choice has come to its end. */
    public static boolean saysFinished(byte[] event) {
        for (int at = find(event, FINISH, 0); at >= 0; at = find(event, FINISH, at + 1)) {
            int value = at + FINISH.length;
            while (value < event.length && event[value] == ' ') {
                value++;
            }
            if (find(event, NULL, value) != value) {
                return true;
            }
        }
        return false;
    }

    /** Its data is a JSON object. */
    public static boolean isChunk(byte[] event) {
        return dataBeginsWith(event, '{');
    }

    /** Its data is {@code [DONE]}, as a chunk's never begins. */
    public static boolean isDone(byte[] event) {
        return dataBeginsWith(event, '[');
    }

    private static boolean dataBeginsWith(byte[] event, char first) {
        int data = find(event, DATA, 0);
        int value = data + DATA.length;
        while (data >= 0 && value < event.length && event[value] == ' ') {
            value++;
        }
        return data >= 0 && value < event.length && event[value] == first;
    }

    /** Behind the blank line that ends the event, or -1. */
    public static int eventEnd(byte[] b, int from) {
        for (int i = from; i < b.length; i++) {
            if (b[i] == '\n' && i > from) {
                int before = b[i - 1] == '\r' ? i - 2 : i - 1;
                if (before >= from && b[before] == '\n') {
                    return i + 1;
                }
            }
        }
        return -1;
    }

    /**
     * The object with one more member at its end; as it is where there is no object, or one that
     * has an {@code nvext}: in a text its quotes would be escaped.
     *
     * @param member name and value; empty: none
     */
    public static byte[] withMember(byte[] json, byte[] member) {
        int close = json.length - 1;
        while (close >= 0 && json[close] != '}') {
            close--;
        }
        if (member.length == 0 || close < 0 || find(json, NVEXT, 0) >= 0) {
            return json;
        }
        int before = close - 1;
        while (before >= 0 && json[before] <= ' ') {
            before--;
        }
        byte[] comma = utf8(before >= 0 && json[before] == '{' ? "" : ",");
        return joined(
                Arrays.copyOf(json, close),
                comma,
                member,
                Arrays.copyOfRange(json, close, json.length));
    }

    private static int find(byte[] in, byte[] what, int from) {
        for (int i = from; i <= in.length - what.length; i++) {
            if (Arrays.equals(in, i, i + what.length, what, 0, what.length)) {
                return i;
            }
        }
        return -1;
    }

    public static byte[] joined(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        byte[] all = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    public static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
