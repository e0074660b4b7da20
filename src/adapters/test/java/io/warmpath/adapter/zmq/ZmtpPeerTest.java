package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers that say, byte for byte, what the test wants; what they are told is looked at as bytes. */
@Timeout(60)
class ZmtpPeerTest {
    /** Greeting and READY of a real PUB socket. */
    private static final byte[] HELLO = Arrays.copyOf(RecordedZmtp.PUB, 64 + 27);

    private static final byte[] SUBSCRIBED = {0, 4, 1, 'k', 'v', '@'};
    private static final byte[] PING = {4, 7, 4, 'P', 'I', 'N', 'G', 0, 0};

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final EventCounters counters = new EventCounters();

    /** Seconds that the feed's clock is ahead. */
    private final AtomicLong ahead = new AtomicLong();

    private final ZmqEventFeed feed =
            new ZmqEventFeed(
                    index,
                    counters,
                    new ZmqEventFeed.Settings(
                            Duration.ofHours(1),
                            Duration.ofHours(1),
                            Duration.ofHours(1),
                            Duration.ofHours(1),
                            Duration.ofMillis(20),
                            Duration.ofMillis(100)),
                    () -> System.nanoTime() + ahead.get() * 1_000_000_000L);

    @AfterEach
    void close() {
        feed.close();
        index.close();
    }

    @Test
    void a_silent_peer_is_asked_for_a_sign_of_life_and_left_when_it_gives_none() throws Exception {
        try (ServerSocketChannel server = listening()) {
            Subscription sub = subscribe(tcp(server));
            try (SocketChannel peer = server.accept()) {
                peer.write(ByteBuffer.wrap(HELLO));
                assertSaid(peer, SUBSCRIBED);
                ahead.addAndGet(11);
                assertSaid(peer, PING);
                peer.write(ByteBuffer.wrap(new byte[] {4, 5, 4, 'P', 'O', 'N', 'G'}));
                peer.write(ByteBuffer.wrap(new byte[] {0, 3, 'k', 'v', '@'}));
                eventually().until(() -> counters.badFrames() == 1);
                ahead.addAndGet(11);
                assertSaid(peer, PING);
                assertTrue(sub.state() != EventView.GONE, "it gave one");
                ahead.addAndGet(11);
                eventually().until(() -> sub.state() == EventView.GONE);
            }
            try (SocketChannel again = server.accept()) {
                again.write(ByteBuffer.wrap(HELLO));
                assertSaid(again, SUBSCRIBED);
            }
        }
    }

    @Test
    void a_ping_is_answered() throws Exception {
        try (ServerSocketChannel server = listening()) {
            subscribe(tcp(server));
            try (SocketChannel peer = server.accept()) {
                peer.write(ByteBuffer.wrap(HELLO));
                peer.write(ByteBuffer.wrap(new byte[] {4, 8, 4, 'P', 'I', 'N', 'G', 0, 9, 'c'}));
                assertSaid(peer, new byte[] {4, 6, 4, 'P', 'O', 'N', 'G', 'c'});
            }
        }
    }

    /** An operator who swaps the two endpoints of an engine. */
    @Test
    void a_socket_of_another_kind_is_no_source() throws Exception {
        try (ServerSocketChannel server = listening()) {
            Subscription sub = subscribe(tcp(server));
            for (int i = 0; i < 2; i++) {
                try (SocketChannel peer = server.accept()) {
                    peer.write(ByteBuffer.wrap(RecordedZmtp.ROUTER));
                    eventually().until(() -> ended(peer));
                }
            }
            assertEquals(EventView.CONNECTING, sub.state());
            assertEquals(0, counters.badFrames());
        }
    }

    @Test
    void a_message_cut_off_by_the_end_of_a_connection_is_not_heard() throws Exception {
        try (ServerSocketChannel server = listening()) {
            Subscription sub = subscribe(tcp(server));
            try (SocketChannel peer = server.accept()) {
                peer.write(ByteBuffer.wrap(HELLO));
                peer.write(ByteBuffer.wrap(new byte[] {1, 3, 'k', 'v', '@', 1, 8, 0, 0}));
                assertSaid(peer, SUBSCRIBED);
            }
            eventually().until(() -> sub.state() == EventView.GONE);
            assertEquals(0, counters.badFrames() + counters.batches());
        }
    }

    /** Publishers of other makes: the payload alone, or behind a topic. */
    @Test
    void what_comes_without_a_number_is_named() throws Exception {
        assertEquals(
                "2 frame(s) of 3, 5 bytes, not topic, sequence number of 8 bytes and payload",
                EventMessages.form(List.of(new byte[3], new byte[5])));
        try (ServerSocketChannel server = listening()) {
            Subscription sub = subscribe(tcp(server));
            try (SocketChannel peer = server.accept()) {
                peer.write(ByteBuffer.wrap(HELLO));
                assertSaid(peer, SUBSCRIBED);
                peer.write(ByteBuffer.wrap(new byte[] {1, 3, 'k', 'v', '@', 0, 2, 5, 5}));
                eventually().until(() -> sub.status().rejected() == 1);
                assertEquals(1, counters.badFrames());
                assertEquals(0, sub.status().batches());
            }
        }
    }

    @Test
    void a_unix_socket_is_an_endpoint(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("events");
        try (ServerSocketChannel server =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                        .bind(UnixDomainSocketAddress.of(path))) {
            subscribe("ipc://" + path);
            try (SocketChannel peer = server.accept()) {
                peer.write(ByteBuffer.wrap(RecordedZmtp.PUB));
                eventually().until(() -> counters.rejectedBatches() == 2);
            }
        }
    }

    @Test
    void a_unix_socket_left_behind_is_bound_again(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("events");
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(path))
                .close();
        assertTrue(Files.exists(path), "as a killed process leaves it");
        try (Subscription sub = feed.subscribe(source("ipc://" + path, true));
                SocketChannel peer = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            peer.write(ByteBuffer.wrap(RecordedZmtp.PUB));
            eventually().until(() -> sub.status().rejected() == 2);
        }
        assertTrue(Files.notExists(path));
    }

    private Subscription subscribe(String endpoint) {
        return feed.subscribe(source(endpoint, false));
    }

    private EventSource source(String endpoint, boolean bind) {
        return new EventSource("w", 0, List.of(index.open(0)), endpoint, bind, null, "kv@", 4);
    }

    private static ServerSocketChannel listening() throws IOException {
        return ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private static String tcp(ServerSocketChannel server) throws IOException {
        SocketAddress at = server.getLocalAddress();
        return "tcp://127.0.0.1:" + ((InetSocketAddress) at).getPort();
    }

    /** Reads until these bytes have come. */
    private static void assertSaid(SocketChannel peer, byte[] wanted) throws IOException {
        String end = text(wanted, wanted.length);
        StringBuilder said = new StringBuilder();
        ByteBuffer in = ByteBuffer.allocate(1024);
        while (said.indexOf(end) < 0) {
            in.clear();
            int n = peer.read(in);
            assertTrue(n > 0, "ended after " + said);
            said.append(text(in.array(), n));
        }
    }

    private static boolean ended(SocketChannel peer) {
        try {
            return peer.read(ByteBuffer.allocate(1024)) < 0;
        } catch (IOException e) {
            return true;
        }
    }

    private static String text(byte[] bytes, int length) {
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }
}
