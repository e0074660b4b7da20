package io.warmpath.api;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A client over a plain socket that sees every byte, chunk borders included. Blocking. */
final class RawClient implements AutoCloseable {
    /** A whole answer; {@code broken} when the connection ended before the answer did. */
    record Answer(int status, String head, List<String> chunks, String body, boolean broken) {
        String header(String name) {
            for (String line : head.split("\r\n", -1)) {
                int colon = line.indexOf(':');
                if (colon > 0 && line.substring(0, colon).equalsIgnoreCase(name)) {
                    return line.substring(colon + 1).strip();
                }
            }
            return null;
        }
    }

    final Socket socket;
    final InputStream in;

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(15_000);
        in = socket.getInputStream();
    }

    static Answer post(int port, String path, String json, String... headers) throws IOException {
        try (RawClient client = new RawClient(port)) {
            client.sendPost(path, json, headers);
            return client.readAnswer();
        }
    }

    static Answer request(int port, String method, String path) throws IOException {
        try (RawClient client = new RawClient(port)) {
            client.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
            return client.readAnswer(method.equals("HEAD"));
        }
    }

    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }

    void sendPost(String path, String json, String... headers) throws IOException {
        StringBuilder head = new StringBuilder();
        head.append("POST ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\n");
        head.append("Content-Type: application/json\r\nContent-Length: ");
        head.append(json.getBytes(StandardCharsets.UTF_8).length).append("\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        send(head.append("\r\n").append(json).toString());
    }

    String readHead() throws IOException {
        StringBuilder head = new StringBuilder();
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            head.append(line).append("\r\n");
        }
        return head.toString();
    }

    static int status(String head) {
        return Integer.parseInt(head.substring(9, 12));
    }

    /** The next chunk's text; empty at the end. */
    String readChunk() throws IOException {
        int size = Integer.parseInt(readLine(), 16);
        byte[] bytes = in.readNBytes(size);
        if (bytes.length < size) {
            throw new EOFException("cut inside a chunk");
        }
        if (!readLine().isEmpty()) {
            throw new IOException("no line end behind a chunk");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    Answer readAnswer() throws IOException {
        return readAnswer(false);
    }

    private Answer readAnswer(boolean noBody) throws IOException {
        String head = readHead();
        int status = status(head);
        String lower = head.toLowerCase(Locale.ROOT);
        List<String> chunks = new ArrayList<>();
        boolean broken = false;
        try {
            int length = lower.indexOf("content-length: ");
            if (noBody || status == 204) {
                return new Answer(status, head, chunks, "", false);
            } else if (lower.contains("transfer-encoding: chunked")) {
                for (String c = readChunk(); !c.isEmpty(); c = readChunk()) {
                    chunks.add(c);
                }
            } else if (length >= 0) {
                int n = Integer.parseInt(head.substring(length + 16, head.indexOf('\r', length)));
                byte[] bytes = in.readNBytes(n);
                chunks.add(new String(bytes, StandardCharsets.UTF_8));
                broken = bytes.length < n;
            } else {
                chunks.add(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            broken = true;
        }
        return new Answer(status, head, chunks, String.join("", chunks), broken);
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            int c = in.read();
            if (c < 0) {
                throw new EOFException("connection ended in a line: " + line);
            }
            if (c == '\n') {
                String text = line.toString(StandardCharsets.UTF_8);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            line.write(c);
        }
    }

    /** Sends RST. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
