package io.warmpath.fleet.address;

import io.warmpath.fleet.EngineAddress;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a socket is, as somebody wrote it. Immutable.
 *
 * @param scheme of the URL or the ZeroMQ endpoint; {@code unix} for socket files of both
 * @param host name or address, without brackets; the path of a socket file
 * @param port 0 for a socket file
 * @param ports so many in a row, at least 1
 */
public record Place(String scheme, String host, int port, int ports) {
    static final String UNIX = "unix";

    private static final Pattern TCP = Pattern.compile("tcp://(.+):(\\d{1,5})");
    private static final String IPC = "ipc://";

    /** {@code base}: as {@link EngineAddress#checked} returns it. */
    public static Place of(URI base) {
        return UNIX.equals(base.getScheme())
                ? new Place(UNIX, base.getPath(), 0, 1)
                : of(EngineAddress.of(base), base.getScheme());
    }

    private static Place of(EngineAddress address, String scheme) {
        return new Place(scheme, address.host(), address.port(), 1);
    }

    /**
     * @param endpoint {@code tcp://host:port} or {@code ipc://path}
     * @throws IllegalArgumentException when it is neither
     */
    static Place ofEndpoint(String endpoint, int ports) {
        if (endpoint.startsWith(IPC)) {
            return new Place(UNIX, endpoint.substring(IPC.length()), 0, 1);
        }
        Matcher tcp = TCP.matcher(endpoint);
        if (!tcp.matches()) {
            throw new IllegalArgumentException(
                    "`" + endpoint + "` is neither tcp://HOST:PORT nor ipc://PATH");
        }
        return new Place(
                "tcp", bare(tcp.group(1)), Integer.parseInt(tcp.group(2)), Math.max(1, ports));
    }

    /** An IPv6 address without its brackets. */
    static String bare(String host) {
        return host.startsWith("[") && host.endsWith("]")
                ? host.substring(1, host.length() - 1)
                : host;
    }

    boolean isFile() {
        return scheme.equals(UNIX);
    }

    @Override
    public String toString() {
        return isFile() ? "unix:" + host : scheme + "://" + host + ":" + port;
    }
}
