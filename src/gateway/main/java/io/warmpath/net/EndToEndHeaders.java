package io.warmpath.net;

import io.vertx.core.MultiMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Which headers are passed on. Hop-by-hop headers (RFC 9110 section 7.6.1), also those that {@code
 * Connection} names, end here in both directions.
 */
public final class EndToEndHeaders {
    private EndToEndHeaders() {}

    /**
     * The client's headers for an engine. Host and length are set anew, {@code Expect} has been
     * answered here, and without {@code Accept-Encoding} the answer comes as it is. Which pages may
     * read an answer is this gateway's to say, so engines do not see {@code Origin}.
     */
    public static void copyRequest(MultiMap from, MultiMap to) {
        eachOfRequest(from, to::add);
    }

    /** {@link #copyRequest} to wherever {@code to} puts it. */
    public static void eachOfRequest(MultiMap from, BiConsumer<String, String> to) {
        String named = connectionOptions(from);
        from.forEach(
                (name, value) -> {
                    if (!isHopByHop(name, named) && !isRequestOnly(name)) {
                        to.accept(name, value);
                    }
                });
    }

    /**
     * An engine's headers for the client, as {@link BrowserHeaders} makes them safe: its answer is
     * read by browsers as the gateway's own.
     */
    public static void copyResponse(MultiMap from, MultiMap to, boolean keepLength) {
        eachOfResponse(from, keepLength, to::add);
    }

    /** {@link #copyResponse} to wherever {@code to} puts it. */
    public static void eachOfResponse(
            MultiMap from, boolean keepLength, BiConsumer<String, String> to) {
        String named = connectionOptions(from);
        from.forEach(
                (name, value) -> {
                    if (!isHopByHop(name, named)
                            && !BrowserHeaders.isForTheSite(name)
                            && (keepLength || !name.equalsIgnoreCase("content-length"))) {
                        boolean isType =
                                name.length() == 12 && name.equalsIgnoreCase("content-type");
                        to.accept(name, isType ? BrowserHeaders.type(value) : value);
                    }
                });
        BrowserHeaders.each(to);
    }

    private static @Nullable String connectionOptions(MultiMap headers) {
        String first = headers.get("connection");
        if (first == null
                || first.equalsIgnoreCase("keep-alive")
                || first.equalsIgnoreCase("close")) {
            // Most values name no header. A second Connection header would.
            return headers.getAll("connection").size() > 1
                    ? String.join(",", headers.getAll("connection"))
                    : null;
        }
        return String.join(",", headers.getAll("connection"));
    }

    static boolean isHopByHop(String name, @Nullable String connectionOptions) {
        boolean known =
                switch (name.length()) {
                    case 2 -> name.equalsIgnoreCase("te");
                    case 7 -> name.equalsIgnoreCase("trailer") || name.equalsIgnoreCase("upgrade");
                    case 10 ->
                            name.equalsIgnoreCase("connection")
                                    || name.equalsIgnoreCase("keep-alive");
                    case 16 -> name.equalsIgnoreCase("proxy-connection");
                    case 17 -> name.equalsIgnoreCase("transfer-encoding");
                    case 18 -> name.equalsIgnoreCase("proxy-authenticate");
                    case 19 -> name.equalsIgnoreCase("proxy-authorization");
                    default -> false;
                };
        return known || (connectionOptions != null && lists(connectionOptions, name));
    }

    private static boolean isRequestOnly(String name) {
        return switch (name.length()) {
            case 4 -> name.equalsIgnoreCase("host");
            case 6 -> name.equalsIgnoreCase("expect") || name.equalsIgnoreCase("origin");
            case 14 -> name.equalsIgnoreCase("content-length");
            case 15 -> name.equalsIgnoreCase("accept-encoding");
            case 18 -> name.equalsIgnoreCase("x-warmpath-explain");
            default -> false;
        };
    }

    /** {@code name} is one of the comma-separated {@code options}. */
    public static boolean lists(String options, String name) {
        int from = 0;
        while (from <= options.length()) {
            int comma = options.indexOf(',', from);
            int to = comma < 0 ? options.length() : comma;
            if (options.substring(from, to).strip().equalsIgnoreCase(name)) {
                return true;
            }
            from = to + 1;
        }
        return false;
    }
}
