package io.warmpath.wiring.warmup;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A client on loopback that asks for a bit of everything, one request after the other on one
 * connection, and checks the status of each answer. One thread; {@link #close} any thread.
 */
final class Visitor implements Closeable {
    private static final String WORDS = "Say again what the quick brown fox did to the lazy dog. ";

    private final Socket socket = new Socket();
    private final String model;
    private @Nullable Messages answers; // null until it is connected
    private int asked;

    Visitor(String model) {
        this.model = model;
    }

    /**
     * Sends up to {@code count} requests more, until {@code time} has gone by. After a time that
     * was too short, no more can be sent.
     *
     * @return how many were answered in time, all of them as expected
     */
    int visit(int port, int count, Duration time) throws IOException {
        long end = System.nanoTime() + time.toNanos();
        Messages reader = answers;
        if (reader == null) {
            socket.setTcpNoDelay(true);
            socket.connect(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millisTo(end));
            reader = new Messages(socket.getInputStream());
            answers = reader;
        }
        for (int i = 0; i < count; i++) {
            if (System.nanoTime() >= end) {
                return i;
            }
            socket.setSoTimeout(millisTo(end));
            Kind kind = Kind.of(asked);
            socket.getOutputStream().write(request(kind, asked++));
            Messages.Message answer;
            try {
                answer = reader.read();
            } catch (SocketTimeoutException e) {
                return i; // the time is over, which is no fault of the gateway's
            }
            if (answer == null || !answer.firstLine().startsWith("HTTP/1.1 " + kind.status)) {
                throw new IOException(
                        kind + " was answered with " + (answer == null ? "" : answer.firstLine()));
            }
        }
        return count;
    }

    private static int millisTo(long end) {
        return (int) Math.max(1, (end - System.nanoTime()) / 1_000_000);
    }

    private byte[] request(Kind kind, int i) {
        // A prompt starts like others and ends like none, as prompts do.
        String text = WORDS.repeat(40) + "Number " + i + ".";
        String name = kind == Kind.UNKNOWN_MODEL ? model + " of nobody" : model;
        String body =
                kind == Kind.BROKEN
                        ? "{\"model\":"
                        : "{\"model\":\""
                                + name
                                + "\",\"max_tokens\":16,\"temperature\":0.5,"
                                + (kind.stream ? "\"stream\":true," : "")
                                + (kind.chat
                                        ? "\"messages\":[{\"role\":\"system\",\"content\":\"Be"
                                                + " brief.\"},{\"role\":\"user\",\"content\":\""
                                                + text
                                                + "\"}]}"
                                        : "\"prompt\":\"" + text + "\"}");
        return ("POST "
                        + (kind.chat ? "/v1/chat/completions" : "/v1/completions")
                        + " HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: warm-up\r\naccept: */*\r\n"
                        + "content-type: application/json\r\ncontent-length: "
                        + body.length()
                        + "\r\n\r\n"
                        + body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** What is asked for, and the status it must get. */
    private enum Kind {
        CHAT_STREAM(true, true, 200),
        CHAT(true, false, 200),
        TEXT_STREAM(false, true, 200),
        TEXT(false, false, 200),
        BROKEN(true, false, 400),
        UNKNOWN_MODEL(true, true, 404);

        final boolean chat;
        final boolean stream;
        final int status;

        Kind(boolean chat, boolean stream, int status) {
            this.chat = chat;
            this.stream = stream;
            this.status = status;
        }

        /** Of ten, seven chats, two completions, and one that is refused. */
        static Kind of(int i) {
            return switch (i % 10) {
                case 3 -> CHAT;
                case 5 -> TEXT_STREAM;
                case 7 -> TEXT;
                case 9 -> i % 20 == 9 ? BROKEN : UNKNOWN_MODEL;
                default -> CHAT_STREAM;
            };
        }
    }
}
