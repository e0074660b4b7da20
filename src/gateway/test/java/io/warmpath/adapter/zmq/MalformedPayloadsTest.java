package io.warmpath.adapter.zmq;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.zmq.FakePublisher.ReplayShape;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Publishers that say nonsense, through real sockets into the native index, while another one of
 * the same index says what is right. {@code -Dtest.payloads=N} tries more of them (20,000).
 */
@Timeout(300)
class MalformedPayloadsTest {
    private static final int PAYLOADS = Integer.getInteger("test.payloads", 20_000);
    private static final int AT_ONCE = 1000;
    private static final int SIZE = 4;

    /** Blocks of the right publisher that are looked at. */
    private static final int DEPTH = 200;

    private static final byte[] CLEAR =
            HexFormat.of().parseHex("92cb00000000000000009191b0416c6c426c6f636b73436c6561726564");

    private final NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 10_000);
    private final EventCounters counters = new EventCounters();
    private final ZmqEventFeed feed =
            new ZmqEventFeed(index, counters, ZmqEventFeed.Settings.DEFAULT, System::nanoTime);

    @AfterEach
    void close() {
        feed.close();
        index.close();
    }

    @Test
    void nonsense_of_one_publisher_costs_the_other_nothing_and_ends_with_a_clear()
            throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("MalformedPayloadsTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        List<byte[]> payloads = payloads();
        WorkerSlot right = index.open(0);
        WorkerSlot wrong = index.open(0);
        try (FakePublisher good = FakePublisher.bound(ReplayShape.THREE);
                ServerSocketChannel server =
                        ServerSocketChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                Subscription goodOne =
                        feed.subscribe(source(good.endpoint(), right, good.replayEndpoint()));
                Subscription badOne =
                        feed.subscribe(
                                source(
                                        "tcp://127.0.0.1:" + server.socket().getLocalPort(),
                                        wrong,
                                        null));
                SocketChannel bad = server.accept()) {
            joined(good, goodOne);
            // Greeting and READY of a PUB socket.
            bad.write(ByteBuffer.wrap(RecordedZmtp.PUB, 0, 64 + 27));
            long sequence = 0;
            int block = 1;
            for (int sent = 0; sent < PAYLOADS; ) {
                for (int i = 0; i < AT_ONCE && sent < PAYLOADS; i++, sent++) {
                    byte[] payload = payloads.get(random.nextInt(payloads.size())).clone();
                    for (int k = random.nextInt(4); k > 0 && payload.length > 0; k--) {
                        payload[random.nextInt(payload.length)] = (byte) random.nextInt(256);
                    }
                    // An empty payload is a message of another kind, and takes no number.
                    say(bad, payload.length == 0 ? sequence : sequence++, payload);
                }
                good.publish(block, FakePublisher.stored(1, block, SIZE));
                int want = ++block;
                long newest = sequence - 1;
                eventually()
                        .until(
                                () ->
                                        badOne.status().sequence() == newest
                                                && depth(right) == Math.min(want, DEPTH));
            }
            assertTrue(badOne.status().rejected() > 0 && badOne.status().batches() > 0);
            assertEquals(0, badOne.status().lost() + badOne.status().restarts());
            // A block that fits, should none have yet: another size would be told as its state.
            say(bad, sequence, FakePublisher.stored(1, 0, SIZE));
            long clear = sequence + 1;
            say(bad, clear, CLEAR);
            eventually().until(() -> badOne.status().sequence() == clear);
            assertEquals(EventView.EXACT, badOne.state(), badOne.status().toString());
            assertEquals(Belief.ALL, badOne.status().belief());
            assertEquals(EventView.EXACT, goodOne.state(), goodOne.status().toString());
            assertEquals(block, index.stats().residencies(), "of the right one, and no other");
        }
    }

    private static List<byte[]> payloads() throws Exception {
        List<byte[]> all = new ArrayList<>();
        try (InputStream in =
                MalformedPayloadsTest.class.getResourceAsStream("/vectors/kv-events-zmq.json")) {
            JsonNode vectors = new ObjectMapper().readTree(in);
            for (JsonNode v : vectors.get("messages")) {
                all.add(HexFormat.of().parseHex(v.get("frames").get(2).asText()));
            }
            for (JsonNode v : vectors.get("malformed")) {
                all.add(HexFormat.of().parseHex(v.get("payload").asText()));
            }
        }
        return all;
    }

    private static void say(SocketChannel to, long sequence, byte[] payload) throws IOException {
        byte[] topic = "kv@bad".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer out = ZmtpBytes.message(List.of(topic, FakePublisher.big(sequence), payload));
        while (out.hasRemaining()) {
            to.write(out);
        }
    }

    /** Says its first batch until it is heard: PUB drops what it sends before that. */
    private static void joined(FakePublisher publisher, Subscription sub) {
        byte[] first = FakePublisher.stored(1, 0, SIZE);
        eventually()
                .until(
                        () -> {
                            publisher.again(0, first);
                            return sub.status().batches() > 0;
                        });
    }

    private static EventSource source(
            String endpoint, WorkerSlot slot, @Nullable String replayEndpoint) {
        return new EventSource("w", 0, List.of(slot), endpoint, false, replayEndpoint, "kv@", SIZE);
    }

    private int depth(WorkerSlot slot) {
        int[] prompt = new int[DEPTH * SIZE];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        return index.match(new PrefixQuery(prompt, prompt.length, SIZE, PrefixSpace.NONE))
                .depth(slot, Tier.GPU);
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(2));
    }
}
