package io.warmpath.adapter.mooncake;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Something on a master's admin port, byte by byte as the test wants it. */
public final class MasterDouble implements AutoCloseable {
    /** What is written for one request; the connection is closed afterwards when it says so. */
    public interface Script {
        void answer(String target, Wire wire) throws IOException, InterruptedException;
    }

    /** The connection's way out. */
    public static final class Wire {
        private final OutputStream out;
        private final Socket socket;

        Wire(OutputStream out, Socket socket) {
            this.out = out;
            this.socket = socket;
        }

        public void raw(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        }

        public void reply(int status, String body) throws IOException {
            raw(head(status, body.getBytes(StandardCharsets.UTF_8).length) + body);
        }

        public void hangUp() throws IOException {
            socket.close();
        }
    }

    private final ServerSocket server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final List<String> targets = new CopyOnWriteArrayList<>();
    private final Map<String, Script> scripts = new ConcurrentHashMap<>();

    public MasterDouble() {
        this(0);
    }

    MasterDouble(int port) {
        try {
            server = new ServerSocket();
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 64);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        on("/role", (target, wire) -> wire.reply(200, "leader"));
        on("/kv_events/status", (target, wire) -> wire.reply(200, "{\"enabled\":false}"));
        healthy("null");
        Thread.ofVirtual().start(this::accept);
    }

    static String head(int status, long length) {
        return "HTTP/1.1 "
                + status
                + " X\r\nserver: cinatra\r\ncontent-type: application/json; charset=utf-8\r\n"
                + "content-length: "
                + length
                + "\r\n\r\n";
    }

    /** Ready, in this view, as JSON. */
    public void healthy(String view) {
        on(
                "/health",
                (target, wire) ->
                        wire.reply(
                                200,
                                "{\"status\":\"ok\",\"role\":\"leader\",\"ha_state\":\"serving\","
                                        + "\"service_ready\":true,\"leader_address\":null,"
                                        + "\"view_version\":"
                                        + view
                                        + "}"));
    }

    public void on(String path, Script script) {
        scripts.put(path, script);
    }

    /** Answers look-ups from this set, in a master's form. */
    public void holds(Set<String> keys) {
        on("/batch_query_keys", (target, wire) -> wire.reply(200, body(keysOf(target), keys)));
    }

    static List<String> keysOf(String target) {
        String query = target.substring(target.indexOf('=') + 1);
        return List.of(java.net.URLDecoder.decode(query, StandardCharsets.UTF_8).split(",", -1));
    }

    static String body(List<String> asked, Set<String> held) {
        StringBuilder json = new StringBuilder("{\"success\":true,\"data\":{");
        String comma = "";
        for (String key : new java.util.TreeSet<>(asked)) {
            json.append(comma).append('"').append(key).append("\":");
            json.append(
                    held.contains(key)
                            ? "{\"ok\":true,\"error\":null,\"values\":[{\"size_\":4096}],"
                            : "{\"ok\":false,\"error\":\"OBJECT_NOT_FOUND\",\"values\":null,");
            json.append("\"disk_values\":null,\"local_disk_values\":null,\"nof_values\":null}");
            comma = ",";
        }
        return json.append("}}").toString();
    }

    /** What was asked, in order. */
    public List<String> targets() {
        return targets;
    }

    long asked(String path) {
        return targets.stream().filter(target -> target.startsWith(path)).count();
    }

    public URI url() {
        return URI.create("http://127.0.0.1:" + port());
    }

    int port() {
        return server.getLocalPort();
    }

    int connections() {
        return open.size();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                open.add(socket);
                if (server.isClosed()) {
                    socket.close(); // close() may have looked before this one was there
                }
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader in =
                    new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            Wire wire = new Wire(socket.getOutputStream(), socket);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String target = line.split(" ", -1)[1];
                while (!in.readLine().isEmpty()) {
                    // headers
                }
                targets.add(target);
                int query = target.indexOf('?');
                Script script = scripts.get(query < 0 ? target : target.substring(0, query));
                if (script == null) {
                    wire.reply(404, "404 Not Found");
                } else {
                    script.answer(target, wire);
                }
            }
        } catch (IOException e) {
            // the client hung up, or the test did
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            open.remove(socket);
        }
    }

    /** Nothing is answered afterwards, on no connection. */
    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
