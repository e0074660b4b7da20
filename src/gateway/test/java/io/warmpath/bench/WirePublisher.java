package io.warmpath.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * One ZeroMQ publisher without ZeroMQ: says what a PUB socket says, never listens, and puts a
 * message on the wire in one write of the caller's thread. What a benchmark times begins there, not
 * at the queues of a library that it does not measure.
 */
final class WirePublisher implements AutoCloseable {
    private static final byte[] READY = {
        4, 25, 5, 'R', 'E', 'A', 'D', 'Y', 11, 'S', 'o', 'c', 'k', 'e', 't', '-', 'T', 'y', 'p',
        'e', 0, 0, 0, 3, 'P', 'U', 'B'
    };

    private final ServerSocketChannel server;
    private final ByteBuffer out;
    private SocketChannel channel;

    /**
     * @param out to write from, of whoever calls; larger than a message
     */
    WirePublisher(ByteBuffer out) throws IOException {
        this.out = out;
        server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    int port() throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    /** Waits for the subscriber; from then on nothing is lost. */
    void join() throws IOException {
        channel = server.accept();
        ByteBuffer greeting = ByteBuffer.allocate(64);
        greeting.put(0, (byte) 0xff).put(9, (byte) 0x7f).put(10, (byte) 3);
        greeting.put(12, "NULL".getBytes(StandardCharsets.US_ASCII));
        channel.write(greeting);
        channel.write(ByteBuffer.wrap(READY));
    }

    /** An empty topic, the number, the payload. */
    void send(long sequence, byte[] payload) throws IOException {
        out.clear().put((byte) 1).put((byte) 0).put((byte) 1).put((byte) 8).putLong(sequence);
        out.put((byte) 2).putLong(payload.length).put(payload).flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
        server.close();
    }
}
