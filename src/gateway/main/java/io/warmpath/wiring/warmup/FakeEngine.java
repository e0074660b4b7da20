package io.warmpath.wiring.warmup;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * An engine that computes nothing: every question of one kind gets the same answer. Listens on
 * loopback only, a virtual thread per connection. Any thread.
 */
final class FakeEngine implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(FakeEngine.class);

    /** Tokens of a stream; each is an event and, in threes, a chunk of its own. */
    private static final int TOKENS = 24;

    private final String model;
    private final ServerSocket server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final byte[] chatStream;
    private final byte[] textStream;
    private final byte[] chatWhole;
    private final byte[] textWhole;

    FakeEngine(String model) throws IOException {
        this.model = model;
        chatStream = stream("chat.completion.chunk", "\"delta\":{\"content\":\" word\"}");
        textStream = stream("text_completion", "\"text\":\" word\"");
        String usage = "\"usage\":" + usage();
        chatWhole =
                json(
                        "{\"id\":\"w\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,"
                                + "\"message\":{\"role\":\"assistant\",\"content\":\"word\"},"
                                + "\"finish_reason\":\"stop\"}],"
                                + usage
                                + "}");
        textWhole =
                json(
                        "{\"id\":\"w\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,"
                                + "\"text\":\"word\",\"finish_reason\":\"stop\"}],"
                                + usage
                                + "}");
        server = new ServerSocket();
        try {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        } catch (IOException e) {
            server.close();
            throw e;
        }
        Thread.ofVirtual().name("warm-up-engine").start(this::accept);
    }

    URI url() {
        return URI.create(
                "http://"
                        + server.getInetAddress().getHostAddress().replaceFirst("^(.*:.*)$", "[$1]")
                        + ":"
                        + server.getLocalPort());
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                open.add(socket);
                Thread.ofVirtual().name("warm-up-engine").start(() -> serve(socket));
            } catch (IOException e) {
                LOG.debug("the warm-up's engine ended", e);
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            Messages requests = new Messages(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            for (var m = requests.read(); m != null; m = requests.read()) {
                out.write(answer(m));
            }
        } catch (IOException e) {
            LOG.debug("a connection to the warm-up's engine ended", e);
        } finally {
            open.remove(socket);
        }
    }

    private byte[] answer(Messages.Message request) {
        String line = request.firstLine();
        if (line.startsWith("GET /health")) {
            return json("{}");
        }
        if (line.startsWith("GET /v1/models")) {
            return json(
                    "{\"object\":\"list\",\"data\":[{\"id\":\""
                            + model
                            + "\",\"object\":\"model\"}]}");
        }
        if (!line.startsWith("POST ")) {
            return response("404 Not Found", "application/json", "{}");
        }
        boolean chat = line.contains("/chat/");
        if (new String(request.body(), StandardCharsets.UTF_8).contains("\"stream\":true")) {
            return chat ? chatStream : textStream;
        }
        return chat ? chatWhole : textWhole;
    }

    private static byte[] json(String body) {
        return response("200 OK", "application/json", body);
    }

    private static byte[] response(String status, String type, String body) {
        return ("HTTP/1.1 "
                        + status
                        + "\r\ncontent-type: "
                        + type
                        + "\r\ncontent-length: "
                        + body.length()
                        + "\r\n\r\n"
                        + body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static String usage() {
        return "{\"prompt_tokens\":100,\"completion_tokens\":"
                + TOKENS
                + ",\"total_tokens\":"
                + (100 + TOKENS)
                + ",\"prompt_tokens_details\":{\"cached_tokens\":0}}";
    }

    private static byte[] stream(String object, String piece) {
        StringBuilder out = new StringBuilder("HTTP/1.1 200 OK\r\n");
        out.append("content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
        String head = "data: {\"id\":\"w\",\"object\":\"" + object + "\",\"choices\":[";
        for (int i = 0; i < TOKENS; i += 3) {
            chunk(out, (head + "{\"index\":0," + piece + "}]}\n\n").repeat(3));
        }
        chunk(out, head + "{\"index\":0," + piece + ",\"finish_reason\":\"stop\"}]}\n\n");
        chunk(out, head + "],\"usage\":" + usage() + "}\n\n");
        chunk(out, "data: [DONE]\n\n");
        return out.append("0\r\n\r\n").toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void chunk(StringBuilder out, String data) {
        out.append(Integer.toHexString(data.length())).append("\r\n").append(data).append("\r\n");
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            LOG.debug("closing the warm-up's engine", e);
        }
    }
}
