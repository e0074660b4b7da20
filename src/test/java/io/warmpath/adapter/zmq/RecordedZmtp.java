package io.warmpath.adapter.zmq;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** What real libzmq sockets said to each other; see the head of the file. */
final class RecordedZmtp {
    static final byte[] PUB = of("pub");
    static final byte[] SUB = of("sub");
    static final byte[] ROUTER = of("router");
    static final byte[] DEALER = of("dealer");

    private RecordedZmtp() {}

    private static byte[] of(String socket) {
        try (InputStream in = RecordedZmtp.class.getResourceAsStream("/zmtp/libzmq-4.3.5.txt")) {
            if (in == null) {
                throw new IllegalStateException("no recording");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith(socket + " "))
                    .map(line -> HexFormat.of().parseHex(line.substring(socket.length() + 1)))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
