package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.LmcacheInstances;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs at LMCache's ports that are no workers, byte for byte. */
@Timeout(60)
class LmcachePortTest {
    private static final int ROOM = 8 << 20;
    private static final int CONNECTIONS = 6;

    /** What has come of a message of 4 MiB. */
    private static final int HALF = 3 << 20;

    private final MessageRoom room = new MessageRoom(ROOM);
    private final AtomicLong ahead = new AtomicLong();
    private final List<SocketChannel> peers = new ArrayList<>();
    private LmcacheController controller;
    private int pull;
    private int reply;

    @BeforeEach
    void start() throws IOException {
        pull = freePort();
        reply = freePort();
        controller =
                new LmcacheController(
                        "tcp://127.0.0.1:" + pull,
                        "tcp://127.0.0.1:" + reply,
                        new LmcacheInstances(1000),
                        new ZmtpLimits(4 << 20, CONNECTIONS, room),
                        () -> System.nanoTime() + ahead.get() * 1_000_000_000L);
    }

    @AfterEach
    void close() throws IOException {
        for (SocketChannel peer : peers) {
            peer.close();
        }
        controller.close();
        assertEquals(0, room.held());
    }

    private static int freePort() throws IOException {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        }
    }

    private SocketChannel connect(int port) throws IOException {
        SocketChannel peer =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        peers.add(peer);
        return peer;
    }

    private SocketChannel worker(int port, String type) throws IOException {
        SocketChannel peer = connect(port);
        write(peer, ZmtpBytes.greeting());
        write(peer, ZmtpBytes.ready(type, false));
        return peer;
    }

    private static void write(SocketChannel peer, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            peer.write(bytes);
        }
    }

    /** Announces a message, and says so much of it. */
    private static void half(SocketChannel peer, long announced, int said) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(1 + Long.BYTES + said);
        out.put((byte) ZmtpReader.LONG).putLong(announced).position(0);
        try {
            write(peer, out);
        } catch (IOException closed) {
            // It was refused before it had said all.
        }
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }

    private static boolean ended(SocketChannel peer) {
        try {
            peer.configureBlocking(false);
            ByteBuffer in = ByteBuffer.allocate(1 << 16);
            int n;
            do {
                in.clear();
                n = peer.read(in);
            } while (n > 0);
            return n < 0;
        } catch (IOException e) {
            return true;
        }
    }

    /** A message that is none is heard, and counted. */
    private void heard() throws IOException {
        long before = controller.badMessages();
        SocketChannel peer = worker(pull, "PUSH");
        write(peer, ZmtpBytes.message(List.of(new byte[] {1, 2, 3})));
        eventually().until(() -> controller.badMessages() == before + 1);
        peer.close();
    }

    @Test
    void half_messages_take_no_more_than_the_room_and_the_others_end() throws IOException {
        List<SocketChannel> halves = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SocketChannel peer = worker(pull, "PUSH");
            half(peer, (4 << 20) - 1, HALF);
            halves.add(peer);
            assertTrue(room.held() <= ROOM, "held " + room.held());
        }
        eventually().until(() -> halves.stream().filter(LmcachePortTest::ended).count() >= 2);
        assertEquals(room.refused(), halves.stream().filter(LmcachePortTest::ended).count());
        heard();
    }

    @Test
    void an_announced_message_takes_what_has_come_of_it() throws IOException {
        SocketChannel peer = worker(pull, "PUSH");
        half(peer, (4 << 20) - 1, 10);
        eventually().until(() -> room.held() > 0);
        assertTrue(room.held() <= 1024, "held " + room.held());
    }

    @Test
    void a_message_beyond_the_bound_ends_the_connection_when_it_is_announced() throws IOException {
        SocketChannel peer = worker(pull, "PUSH");
        half(peer, (4 << 20) + 1, 0);
        eventually().until(() -> ended(peer));
        assertEquals(0, room.held());
    }

    @Test
    void a_large_command_ends_the_connection_when_it_is_announced() throws IOException {
        SocketChannel peer = connect(pull);
        write(peer, ZmtpBytes.greeting());
        ByteBuffer head = ByteBuffer.allocate(1 + Long.BYTES);
        head.put((byte) (ZmtpReader.LONG | ZmtpReader.COMMAND)).putLong(1 << 20);
        write(peer, head.flip());
        eventually().until(() -> ended(peer));
    }

    @Test
    void without_memory_unfinished_messages_are_dropped_and_whole_ones_heard() throws IOException {
        SocketChannel before = worker(pull, "PUSH");
        half(before, 1 << 20, 1 << 10);
        eventually().until(() -> room.held() > 0);
        room.full(true);
        eventually().until(() -> ended(before));
        SocketChannel then = worker(pull, "PUSH");
        half(then, 1 << 20, 1 << 10);
        eventually().until(() -> ended(then));
        assertEquals(2, room.refused());
        heard();
        room.full(false);
        SocketChannel again = worker(pull, "PUSH");
        half(again, 1 << 20, 1 << 10);
        eventually().until(() -> room.held() > 0);
    }

    @Test
    void a_message_ends_in_time_or_the_connection_does() throws IOException {
        SocketChannel drips = worker(pull, "PUSH");
        half(drips, 1000, 10);
        eventually().until(() -> room.held() > 0);
        ahead.set(20);
        write(drips, ByteBuffer.allocate(10));
        ahead.set(31);
        eventually().until(() -> ended(drips));
    }

    @Test
    void a_handshake_that_drips_ends_in_time() throws IOException {
        SocketChannel drips = connect(pull);
        write(drips, ZmtpBytes.greeting().limit(20));
        eventually().until(() -> controller.connections() == 1);
        ahead.set(20);
        write(drips, ByteBuffer.allocate(10));
        ahead.set(31);
        eventually().until(() -> ended(drips));
    }

    @Test
    void of_too_many_connections_the_oldest_without_a_handshake_goes() throws IOException {
        List<SocketChannel> strangers = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            strangers.add(connect(pull));
            int now = i + 1;
            eventually().until(() -> controller.connections() == now);
        }
        for (int i = 0; i < CONNECTIONS; i++) {
            SocketChannel known = worker(pull, "PUSH");
            write(known, ZmtpBytes.message(List.of(new byte[] {1, 2, 3})));
            SocketChannel oldest = strangers.get(i);
            eventually().until(() -> ended(oldest));
        }
        assertEquals(CONNECTIONS, room.refused());
        eventually().until(() -> controller.badMessages() == CONNECTIONS);
        SocketChannel oneMore = connect(pull);
        eventually().until(() -> ended(oneMore));
        assertEquals(CONNECTIONS, controller.connections());
    }

    @Test
    void answers_that_are_not_read_do_not_pile_up() throws IOException {
        SocketChannel asks = worker(reply, "DEALER");
        ByteBuffer ping =
                ByteBuffer.wrap(
                        "\4\27\4PING\0\0cccccccccccccccc".getBytes(StandardCharsets.US_ASCII));
        ByteBuffer many = ByteBuffer.allocate(1000 * ping.capacity());
        for (int i = 0; i < 1000; i++) {
            many.put(ping.duplicate());
        }
        asks.configureBlocking(false);
        many.flip();
        eventually()
                .pollInterval(Duration.ofMillis(1))
                .until(
                        () -> {
                            try {
                                for (int i = 0; i < 1000; i++) {
                                    asks.write(many);
                                    if (!many.hasRemaining()) {
                                        many.rewind();
                                    }
                                }
                                return false;
                            } catch (IOException closed) {
                                return true;
                            }
                        });
        heard();
    }
}
