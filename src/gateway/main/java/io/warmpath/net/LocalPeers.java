package io.warmpath.net;

import io.vertx.core.net.SocketAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which user of this machine has the other end of a connection within it, by Linux' lists of
 * sockets. Any thread, one at a time; a look takes about a millisecond for each thousand sockets of
 * the machine, so not on an event loop.
 */
public final class LocalPeers {
    /** Another state may be that of a socket whose process has left it; its user reads as root. */
    private static final String ESTABLISHED = "01";

    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int USER = 7;
    private static final int V4_BYTES = 4;
    private static final int V6_BYTES = 16;
    private static final long ROOT = 0;
    private static final long NOBODY_FOUND = -1;

    private final List<Path> lists;
    private final boolean known;
    private final ReentrantLock looking = new ReentrantLock();

    private record End(InetAddress address, int port) {}

    /** {@code folder}: {@code /proc/net}. */
    public LocalPeers(Path folder) {
        lists = List.of(folder.resolve("tcp"), folder.resolve("tcp6"));
        known = Files.isReadable(lists.getFirst());
    }

    /** Of this machine. */
    public LocalPeers() {
        this(Path.of("/proc/net"));
    }

    /** {@code address}: a literal, null for a socket without one. Any thread; looks nothing up. */
    public static boolean isLoopback(@Nullable String address) {
        try {
            return address != null && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** The system tells; otherwise nothing here may be asked. */
    public boolean areKnown() {
        return known;
    }

    /**
     * The other end is open, and has the user of this end, or root.
     *
     * @param peer literal address and port of the other end
     * @param own of this end
     */
    public boolean isOfThisUser(SocketAddress peer, SocketAddress own) {
        looking.lock();
        try {
            End there = end(peer);
            End here = end(own);
            long user = user(there, here);
            return user == ROOT || (user != NOBODY_FOUND && user == user(here, there));
        } catch (IOException | IllegalArgumentException e) {
            return false; // who cannot be found out is not let in
        } finally {
            looking.unlock();
        }
    }

    private static End end(SocketAddress address) throws UnknownHostException {
        InetAddress literal = InetAddress.ofLiteral(String.valueOf(address.hostAddress()));
        // An IPv4 address within IPv6 becomes itself.
        return new End(InetAddress.getByAddress(literal.getAddress()), address.port());
    }

    private long user(End from, End to) throws IOException {
        String port = ":%04X ".formatted(from.port());
        for (Path list : lists) {
            if (!Files.isReadable(list)) {
                continue; // without IPv6
            }
            try (BufferedReader lines = Files.newBufferedReader(list, StandardCharsets.US_ASCII)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (!line.contains(port)) {
                        continue;
                    }
                    String[] fields = line.strip().split("\\s+", -1);
                    if (fields.length > USER
                            && fields[STATE].equals(ESTABLISHED)
                            && end(fields[LOCAL]).equals(from)
                            && end(fields[REMOTE]).equals(to)) {
                        return Long.parseLong(fields[USER]);
                    }
                }
            }
        }
        return NOBODY_FOUND;
    }

    /** As the kernel writes it: words of 32 bits in the machine's order, a colon, the port. */
    private static End end(String text) throws UnknownHostException {
        int colon = text.indexOf(':');
        if (colon != 2 * V4_BYTES && colon != 2 * V6_BYTES) {
            throw new UnknownHostException(text);
        }
        byte[] read = HexFormat.of().parseHex(text, 0, colon);
        byte[] address = new byte[read.length];
        for (int i = 0; i < read.length; i++) {
            address[i] = read[(i & ~3) + 3 - (i & 3)];
        }
        return new End(
                InetAddress.getByAddress(address),
                Integer.parseInt(text, colon + 1, text.length(), 16));
    }
}
