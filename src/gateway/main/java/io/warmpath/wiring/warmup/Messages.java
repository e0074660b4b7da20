package io.warmpath.wiring.warmup;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * HTTP/1.1 messages from one socket, one after the other. Reads what the two ends of the warm-up
 * say and no more. One thread.
 */
final class Messages {
    /** The first line and the body, chunks put together. */
    record Message(String firstLine, byte[] body) {}

    private static final int MAX_LINE = 64 << 10;

    private final InputStream in;

    Messages(InputStream in) {
        this.in = new BufferedInputStream(in);
    }

    /** Null when the other side has closed between two messages. */
    @Nullable Message read() throws IOException {
        String first = line();
        if (first == null) {
            return null;
        }
        int length = 0;
        boolean chunked = false;
        for (String header = whole(line()); !header.isEmpty(); header = whole(line())) {
            String lower = header.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring("content-length:".length()).strip());
            } else if (lower.startsWith("transfer-encoding:") && lower.contains("chunked")) {
                chunked = true;
            }
        }
        return new Message(first, chunked ? chunks() : bytes(length));
    }

    private byte[] chunks() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (true) {
            int size = Integer.parseInt(whole(line()).strip(), 16);
            all.writeBytes(bytes(size));
            whole(line()); // the line end after the chunk; after the last one, of the trailers
            if (size == 0) {
                return all.toByteArray();
            }
        }
    }

    private byte[] bytes(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("closed in mid-body");
        }
        return bytes;
    }

    private static String whole(@Nullable String line) throws IOException {
        if (line == null) {
            throw new EOFException("closed in mid-message");
        }
        return line;
    }

    private @Nullable String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                return line.size() == 0 ? null : whole(null);
            }
            if (line.size() >= MAX_LINE) {
                throw new IOException("a line of more than " + MAX_LINE + " bytes");
            }
            line.write(c);
        }
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }
}
