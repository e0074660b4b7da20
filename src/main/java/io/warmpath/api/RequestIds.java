package io.warmpath.api;

import io.vertx.core.MultiMap;
import java.util.HexFormat;
import java.util.function.LongSupplier;

/** The name of one request in logs, at the engine and in the answer. Any thread. */
final class RequestIds {
    static final String HEADER = "x-request-id";

    private static final int MAX_LENGTH = 128;

    private final LongSupplier random;

    /**
     * @param random 64 random bits; any thread
     */
    RequestIds(LongSupplier random) {
        this.random = random;
    }

    /** The client's id when it is safe to log and to send on, else a new one. */
    String of(MultiMap headers) {
        String given = headers.get(HEADER);
        return given != null && isSane(given)
                ? given
                : "req-"
                        + HexFormat.of().toHexDigits(random.getAsLong())
                        + HexFormat.of().toHexDigits(random.getAsLong());
    }

    /** Short, and printable ASCII without blanks, quotes or backslashes. */
    static boolean isSane(String id) {
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
