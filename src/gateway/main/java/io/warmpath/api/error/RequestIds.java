package io.warmpath.api.error;

import io.vertx.core.MultiMap;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

/**
 * The name of one request in logs, at the engine and in the answer. Any thread.
 *
 * @param random 64 random bits; any thread
 */
public record RequestIds(LongSupplier random) {
    public static final String HEADER = "x-request-id";

    private static final int MAX_LENGTH = 128;
    private static final byte[] PREFIX = {'r', 'e', 'q', '-'};
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int DIGITS = 16;

    /** The client's id when it is safe to log and to send on, else a new one. */
    public String of(MultiMap headers) {
        String given = headers.get(HEADER);
        return given != null && isSane(given) ? given : made();
    }

    private String made() {
        byte[] id = new byte[PREFIX.length + 2 * DIGITS];
        System.arraycopy(PREFIX, 0, id, 0, PREFIX.length);
        hex(id, PREFIX.length, random.getAsLong());
        hex(id, PREFIX.length + DIGITS, random.getAsLong());
        return new String(id, StandardCharsets.ISO_8859_1);
    }

    private static void hex(byte[] to, int at, long bits) {
        for (int i = DIGITS - 1; i >= 0; i--) {
            to[at + i] = HEX[(int) bits & 0xf];
            bits >>>= 4;
        }
    }

    /** Short, and printable ASCII without blanks, quotes or backslashes. */
    public static boolean isSane(String id) {
        if (id.isEmpty() || id.length() > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '\'') {
                return false;
            }
        }
        return true;
    }
}
