package io.warmpath.adapter.zmq;

import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.Place;
import io.warmpath.fleet.address.RefusedAddressException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** A ZeroMQ endpoint: {@code tcp://host:port} or {@code ipc://path}. Immutable. */
sealed interface ZmtpAddress {
    /** To connect to; names are looked up now, which may wait. */
    SocketAddress resolve(int attempt) throws UnknownHostException;

    SocketChannel open() throws IOException;

    ServerSocketChannel bind() throws IOException;

    /**
     * Asks {@code guard} of what {@link #resolve} has found.
     *
     * @throws RefusedAddressException when nothing is to be sent there
     */
    default void check(AddressGuard guard, SocketAddress found) throws RefusedAddressException {}

    /** What {@link #bind} left behind. */
    default void unbound() throws IOException {}

    /**
     * @throws IllegalArgumentException when it is neither form
     */
    static ZmtpAddress parse(String endpoint) {
        if (endpoint.startsWith("ipc://")) {
            return ipc(endpoint.substring("ipc://".length()));
        }
        int colon = endpoint.lastIndexOf(':');
        if (!endpoint.startsWith("tcp://") || colon <= "tcp://".length()) {
            throw new IllegalArgumentException(
                    "'" + endpoint + "' is neither tcp://HOST:PORT nor ipc://PATH");
        }
        String host = endpoint.substring("tcp://".length(), colon);
        String port = endpoint.substring(colon + 1);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        try {
            int number = port.equals("*") ? 0 : Integer.parseInt(port);
            if (number >= 0 && number <= 0xffff) {
                return new Tcp(host, number);
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + port + "' is no port", e);
        }
        throw new IllegalArgumentException("'" + port + "' is no port");
    }

    private static ZmtpAddress ipc(String path) {
        if (path.isEmpty() || path.equals("*") || path.startsWith("@")) {
            throw new IllegalArgumentException("ipc:// needs the path of a file");
        }
        try {
            return new Ipc(Path.of(path));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + path + "' is no path", e);
        }
    }

    /**
     * @param host name, address, or {@code *} to bind
     */
    record Tcp(String host, int port) implements ZmtpAddress {
        /** A name with several addresses is tried at each in turn. */
        @Override
        public SocketAddress resolve(int attempt) throws UnknownHostException {
            InetAddress[] all = InetAddress.getAllByName(host);
            return new InetSocketAddress(all[Math.floorMod(attempt, all.length)], port);
        }

        @Override
        public void check(AddressGuard guard, SocketAddress found) throws RefusedAddressException {
            guard.check(new Place("tcp", host, port, 1), ((InetSocketAddress) found).getAddress());
        }

        @Override
        public SocketChannel open() throws IOException {
            return SocketChannel.open();
        }

        @Override
        public ServerSocketChannel bind() throws IOException {
            return ServerSocketChannel.open()
                    .bind(
                            host.equals("*")
                                    ? new InetSocketAddress(port)
                                    : new InetSocketAddress(InetAddress.getByName(host), port));
        }
    }

    /** A Unix domain socket. */
    record Ipc(Path path) implements ZmtpAddress {
        @Override
        public SocketAddress resolve(int attempt) {
            return UnixDomainSocketAddress.of(path);
        }

        @Override
        public SocketChannel open() throws IOException {
            return SocketChannel.open(StandardProtocolFamily.UNIX);
        }

        /** Takes the place of a socket file, which a process that was killed leaves behind. */
        @Override
        public ServerSocketChannel bind() throws IOException {
            unbound();
            return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                    .bind(UnixDomainSocketAddress.of(path));
        }

        @Override
        public void unbound() throws IOException {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                    && !Files.isRegularFile(path)
                    && !Files.isDirectory(path)) {
                Files.delete(path);
            }
        }
    }
}
