package io.warmpath.net.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Clients of a server that answers {@code yes}, byte by byte. One thread. */
final class ClientSockets implements AutoCloseable {
    static final String GET = "GET / HTTP/1.1\r\nHost: g\r\n\r\n";

    private final int port;
    private final List<Socket> sockets = new ArrayList<>();

    ClientSockets(int port) {
        this.port = port;
    }

    /** Connects and sends this. */
    Socket open(String sent) throws IOException {
        Socket socket = connect(port);
        send(socket, sent);
        return socket;
    }

    Socket connect(int to) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), to);
        sockets.add(socket);
        socket.setSoTimeout(20_000);
        return socket;
    }

    static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
    }

    /** Fails when the connection ends before the answer. */
    static void assertAnswered(Socket socket) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf("yes") < 0) {
            int b = socket.getInputStream().read();
            assertTrue(b >= 0, () -> "cut after " + text);
            text.append((char) b);
        }
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
