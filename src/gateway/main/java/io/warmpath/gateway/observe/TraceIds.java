package io.warmpath.gateway.observe;

import io.vertx.core.MultiMap;

/** The id of the trace that a request is part of, 32 hexadecimal digits. Stateless. */
public final class TraceIds {
    private static final String HEADER = "traceparent";
    private static final String NONE = "0".repeat(32);
    private static final int FROM = 3;
    private static final int TO = 35;

    private TraceIds() {}

    /** As the client says it (W3C Trace Context); empty where it does not, or says none. */
    public static String of(MultiMap headers) {
        String given = headers.get(HEADER);
        if (given == null
                || given.length() < TO + 1
                || given.charAt(FROM - 1) != '-'
                || given.charAt(TO) != '-') {
            return "";
        }
        for (int i = FROM; i < TO; i++) {
            char c = given.charAt(i);
            if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
                return "";
            }
        }
        String id = given.substring(FROM, TO);
        return id.equals(NONE) ? "" : id;
    }
}
