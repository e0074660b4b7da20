package io.warmpath.api;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An engine whose every byte the test decides: one blocking thread per connection, scripted per
 * request. Misbehaves exactly as told.
 */
final class StubEngine implements AutoCloseable {
    /** What to do with one request; runs on the connection's own thread. */
    interface Script {
        void serve(Call call) throws Exception;
    }

    /** One request and its connection. */
    static final class Call {
        final String head;
        final byte[] body;
        private final Socket socket;
        private final OutputStream out;

        Call(String head, byte[] body, Socket socket) throws IOException {
            this.head = head;
            this.body = body;
            this.socket = socket;
            this.out = socket.getOutputStream();
        }

        String bodyText() {
            return new String(body, StandardCharsets.UTF_8);
        }

        /** Value of a header, or null. */
        String header(String name) {
            for (String line : head.split("\r\n", -1)) {
                int colon = line.indexOf(':');
                if (colon > 0 && line.substring(0, colon).equalsIgnoreCase(name)) {
                    return line.substring(colon + 1).strip();
                }
            }
            return null;
        }

        void send(String text) throws IOException {
            send(text.getBytes(StandardCharsets.UTF_8));
        }

        void send(byte[] bytes) throws IOException {
            out.write(bytes);
            out.flush();
        }

        /** One HTTP chunk. */
        void chunk(String text) throws IOException {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(
                    (Integer.toHexString(bytes.length) + "\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            all.writeBytes(bytes);
            all.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
            send(all.toByteArray());
        }

        void lastChunk() throws IOException {
            send("0\r\n\r\n");
        }

        void streamHead() throws IOException {
            send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding:"
                            + " chunked\r\n\r\n");
        }

        void json(int status, String json) throws IOException {
            send(
                    "HTTP/1.1 "
                            + status
                            + " X\r\nContent-Type: application/json\r\nContent-Length: "
                            + json.getBytes(StandardCharsets.UTF_8).length
                            + "\r\n\r\n"
                            + json);
        }

        /** Sends RST. */
        void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        void close() throws IOException {
            socket.close();
        }

        Socket socket() {
            return socket;
        }

        /** Blocks until the gateway has closed this connection; false after ten seconds. */
        boolean awaitGone() throws IOException {
            socket.setSoTimeout(10_000);
            try {
                return socket.getInputStream().read() < 0;
            } catch (SocketTimeoutException e) {
                return false;
            } catch (IOException e) {
                return true; // reset
            }
        }
    }

    private final ServerSocket server;
    private final Thread acceptor;
    private final String scheme;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Script script;
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger requests = new AtomicInteger();
    final List<Call> calls = new CopyOnWriteArrayList<>();
    final List<Throwable> failures = new CopyOnWriteArrayList<>();

    StubEngine(Script script) throws IOException {
        this(0, script);
    }

    StubEngine(int port, Script script) throws IOException {
        this(new ServerSocket(), "http", port, script);
    }

    /** Over a socket that the test has made, such as one with TLS. */
    StubEngine(ServerSocket server, String scheme, int port, Script script) throws IOException {
        this.script = script;
        this.server = server;
        this.scheme = scheme;
        server.setReuseAddress(true);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
        acceptor = Thread.ofVirtual().name("stub-accept").start(this::accept);
    }

    void script(Script next) {
        script = next;
    }

    URI url() {
        return URI.create(scheme + "://127.0.0.1:" + server.getLocalPort());
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                open.add(socket);
                connections.incrementAndGet();
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            while (!socket.isClosed()) {
                String head = readHead(in);
                if (head == null) {
                    return;
                }
                byte[] body = in.readNBytes(contentLength(head));
                Call call = new Call(head, body, socket);
                calls.add(call);
                requests.incrementAndGet();
                script.serve(call);
            }
        } catch (IOException e) {
            // The gateway closed or reset: what most of these tests are about.
        } catch (Throwable e) {
            failures.add(e);
        } finally {
            open.remove(socket);
        }
    }

    private static String readHead(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int state = 0;
        while (state < 4) {
            int c = in.read();
            if (c < 0) {
                return null;
            }
            head.write(c);
            state = c == (state % 2 == 0 ? '\r' : '\n') ? state + 1 : c == '\r' ? 1 : 0;
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    private static int contentLength(String head) {
        for (String line : head.split("\r\n", -1)) {
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                return Integer.parseInt(line.substring(15).strip());
            }
        }
        return 0;
    }

    int openConnections() {
        return open.size();
    }

    /** Ends every connection and goes on listening. */
    void closeConnections() throws IOException {
        for (Socket socket : open) {
            socket.close();
        }
    }

    /** Stops listening and resets every connection, as a killed process does. */
    void kill() throws IOException {
        server.close();
        try {
            acceptor.join(); // only its thread closes a socket that it waits for
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        for (Socket socket : open) {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
