package io.warmpath.net;

import java.util.Collections;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/**
 * Headers of an engine's answer that act in a browser. The gateway's origin is the operators' too:
 * whatever an engine answers must neither run as a page of it nor change what browsers keep of it.
 */
final class BrowserHeaders {
    private static final String OTHER = "application/octet-stream";
    private static final String CORS = "access-control-";

    private static final Set<String> OF_SITES = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    static {
        Collections.addAll(
                OF_SITES,
                ("set-cookie set-cookie2 set-login clear-site-data location content-location refresh"
                                + " link alt-svc nel report-to reporting-endpoints sourcemap"
                                + " x-sourcemap accept-ch critical-ch permissions-policy"
                                + " speculation-rules service-worker-allowed content-disposition"
                                + " www-authenticate strict-transport-security"
                                + " x-content-type-options content-security-policy"
                                + " content-security-policy-report-only")
                        .split(" ", -1));
    }

    private BrowserHeaders() {}

    /**
     * Added to each answer of an engine: it is what its type says, and a page without an origin.
     */
    static void each(BiConsumer<String, String> to) {
        to.accept("x-content-type-options", "nosniff");
        to.accept("content-security-policy", "sandbox");
    }

    /** Says something about the whole site, or about what a page may do: not an engine's to say. */
    static boolean isForTheSite(String name) {
        return OF_SITES.contains(name) || name.regionMatches(true, 0, CORS, 0, CORS.length());
    }

    /**
     * {@code value} where browsers only show, play or save what is of this type, else that of plain
     * bytes. A comma would begin a second type, which counts in its place.
     */
    static String type(String value) {
        if (value.equals("application/json") || value.equals("text/event-stream; charset=utf-8")) {
            return value;
        }
        int end = value.indexOf(';');
        String type = (end < 0 ? value : value.substring(0, end)).strip().toLowerCase(Locale.ROOT);
        return value.indexOf(',') < 0 && type.indexOf(' ') < 0 && isShown(type) ? value : OTHER;
    }

    private static boolean isShown(String type) {
        return switch (type) {
            case "application/json",
                    "application/x-ndjson",
                    "application/ndjson",
                    "application/jsonl",
                    "text/event-stream",
                    "text/plain" ->
                    true;
            default ->
                    (type.startsWith("application/") && type.endsWith("+json"))
                            || type.startsWith("audio/")
                            || (type.startsWith("image/")
                                    && !type.contains("svg")
                                    && !type.contains("xml"));
        };
    }
}
