package io.warmpath.fleet;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where an engine listens and what it speaks there, from its base URL. Immutable.
 *
 * <table>
 * <caption>Schemes</caption>
 * <tr><td>{@code http://host:port}</td><td>HTTP/1.1</td></tr>
 * <tr><td>{@code https://host:port}</td><td>HTTP/1.1 in TLS</td></tr>
 * <tr><td>{@code unix:///path}</td><td>HTTP/1.1 over the socket file of an engine on this host</td></tr>
 * <tr><td>{@code h2c://host:port}</td><td>HTTP/2 from the first byte, without TLS</td></tr>
 * <tr><td>{@code h2://host:port}</td><td>HTTP/2 in TLS, asked for by ALPN</td></tr>
 * </table>
 *
 * @param socket path of the socket file; null: {@code host} and {@code port} count
 * @param host name or address, an IPv6 address without brackets; {@code localhost} for a socket
 *     file
 * @param authority for the {@code Host} header
 * @param path what comes before every request's path, empty for none
 */
public record EngineAddress(
        boolean tls,
        boolean http2,
        @Nullable String socket,
        String host,
        int port,
        String authority,
        String path) {
    private static final Set<String> NETWORK = Set.of("http", "https", "h2c", "h2");
    private static final String UNIX = "unix";
    private static final Pattern API = Pattern.compile("(/v1(/models|/(chat/)?completions)?)?/*$");

    private static final int MAX_PORT = 65535;

    /** The kernel's limit for the name of a socket file, without the zero behind it. */
    private static final int MAX_SOCKET_BYTES = 107;

    /** {@code base}: as {@link #checked} returns it. */
    public static EngineAddress of(URI base) {
        if (UNIX.equals(base.getScheme())) {
            return new EngineAddress(false, false, base.getPath(), "localhost", 0, "localhost", "");
        }
        boolean tls = "https".equals(base.getScheme()) || "h2".equals(base.getScheme());
        int usual = tls ? 443 : 80;
        int port = base.getPort() >= 0 ? base.getPort() : usual;
        String host = base.getHost();
        String bare =
                host.startsWith("[") && host.endsWith("]")
                        ? host.substring(1, host.length() - 1)
                        : host;
        String authority = port == usual ? host : host + ":" + port;
        return new EngineAddress(tls, isHttp2(base), null, bare, port, authority, path(base));
    }

    /** {@code host:port}, an IPv6 address in brackets. */
    public String hostAndPort() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }

    /** The same as {@link #http2} of the address, without making one. */
    public static boolean isHttp2(URI base) {
        return "h2c".equals(base.getScheme()) || "h2".equals(base.getScheme());
    }

    /** The host at which other sockets of the same process can be reached. */
    public static String hostOf(URI base) {
        return UNIX.equals(base.getScheme()) ? "127.0.0.1" : base.getHost();
    }

    /**
     * A base URL in its one form: with an authority, without a trailing slash, and without the
     * {@code /v1} that clients write behind it, as paths such as {@code /v1/models} are added here.
     *
     * @throws IllegalArgumentException when it is none; the message says how one looks
     */
    public static URI checked(URI url) {
        if (url.getRawUserInfo() != null) { // not repeated: it may hold a password
            throw new IllegalArgumentException(
                    "worker URL of host `" + url.getHost() + "` must have no user");
        }
        String scheme = url.getScheme();
        boolean unix = UNIX.equals(scheme);
        if (unix) {
            checkSocket(url);
        } else if (scheme == null || !NETWORK.contains(scheme) || url.getHost() == null) {
            throw new IllegalArgumentException(
                    "worker URL `"
                            + url
                            + "` must look like http://host:port or unix:///path/to/socket");
        }
        if (!unix && (url.getPort() == 0 || url.getPort() > MAX_PORT)) {
            throw new IllegalArgumentException(
                    "worker URL `" + url + "` must have a port from 1 to " + MAX_PORT);
        }
        if (url.getRawQuery() != null || url.getRawFragment() != null) {
            throw new IllegalArgumentException(
                    "worker URL `" + url + "` must have no query or fragment");
        }
        if (unix) {
            return URI.create("unix://" + url.getRawPath());
        }
        String path = url.getRawPath() == null ? "" : url.getRawPath();
        int more = path.length() - API.matcher(path).replaceFirst("").length();
        String text = url.toString();
        return more == 0 ? url : URI.create(text.substring(0, text.length() - more));
    }

    private static void checkSocket(URI url) {
        String path = url.getPath();
        if (path == null || path.length() < 2 || path.endsWith("/") || url.getHost() != null) {
            throw new IllegalArgumentException(
                    "worker URL `" + url + "` must name a socket file: unix:///path/to/socket");
        }
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_SOCKET_BYTES) {
            throw new IllegalArgumentException(
                    ("worker URL `%s`: the name of a socket file has at most %s bytes, this"
                                    + " one %s")
                            .formatted(url, MAX_SOCKET_BYTES, bytes));
        }
    }

    private static String path(URI base) {
        String path = base.getRawPath();
        if (path == null || path.isEmpty() || path.equals("/")) {
            return "";
        }
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}
