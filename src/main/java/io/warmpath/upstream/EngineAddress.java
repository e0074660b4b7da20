package io.warmpath.upstream;

import java.net.URI;

/**
 * Where an engine listens, from its base URL.
 *
 * @param host name or address, an IPv6 address without brackets
 * @param authority for the {@code Host} header
 * @param path what comes before every request's path, empty for none
 */
record EngineAddress(boolean tls, String host, int port, String authority, String path) {
    static EngineAddress of(URI base) {
        boolean tls = "https".equalsIgnoreCase(base.getScheme());
        int usual = tls ? 443 : 80;
        int port = base.getPort() >= 0 ? base.getPort() : usual;
        String host = base.getHost();
        String bare =
                host.startsWith("[") && host.endsWith("]")
                        ? host.substring(1, host.length() - 1)
                        : host;
        String authority = port == usual ? host : host + ":" + port;
        return new EngineAddress(tls, bare, port, authority, path(base));
    }

    static String path(URI base) {
        String path = base.getRawPath();
        if (path == null || path.isEmpty() || path.equals("/")) {
            return "";
        }
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}
