package io.warmpath.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.TestVectors;
import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.Medium;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/** Live and replayed messages over real sockets, frame by frame as the engines' own publisher. */
class EventSocketsTest {
    private static final HexFormat HEX = HexFormat.of();

    @ParameterizedTest
    @CsvSource({
        "sglang, 0.5.16, SGLANG_ARRAY",
        "sglang, 0.5.23, SGLANG_MAP",
        "vllm, 0.19.1, VLLM_ARRAY",
        "vllm, 0.33.0, VLLM_MAP"
    })
    void live_and_replayed_frames_equal_those_of_the_engines_publisher(
            String engine, String version, WireFormat format) {
        JsonNode vector = vector(engine, version);
        AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
        InstantSource clock = now::get;
        ReplayBuffer buffer = new ReplayBuffer(vector.path("buffer_steps").intValue());
        String topic = vector.path("topic").asText();
        try (ZContext context = new ZContext()) {
            ZMQ.Socket pub = ReplayServer.open(context, SocketType.XPUB);
            int pubPort = pub.bindToRandomPort("tcp://127.0.0.1");
            ZMQ.Socket router = ReplayServer.open(context, SocketType.ROUTER);
            int routerPort = router.bindToRandomPort("tcp://127.0.0.1");
            ZMQ.Socket sub = context.createSocket(SocketType.SUB);
            sub.setReceiveTimeOut(5_000);
            sub.connect("tcp://127.0.0.1:" + pubPort);
            sub.subscribe(ZMQ.SUBSCRIPTION_ALL);
            pub.setReceiveTimeOut(5_000);
            assertNotNull(pub.recv(), "the subscription arrives");

            EventPublisher publisher =
                    new EventPublisher(
                            pub, topic, format, new EventEncoder(format, false), buffer, clock, 0);
            List<JsonNode> live = list(vector.path("live"));
            for (JsonNode frames : live) {
                JsonNode said = stored(frames);
                now.set(Instant.ofEpochMilli(said.path("millis").longValue()));
                publisher.publish(List.of(event(said.path("hash").bigIntegerValue(), format)));
                ZMsg got = ZMsg.recvMsg(sub);
                assertNotNull(got, "a published batch arrives");
                // The struct vector leaves extra keys out; vLLM itself sends them, see
                // EventEncoderTest.
                int compared = format.sglang() ? 3 : 2;
                assertEquals(hex(frames, compared), hex(got, compared));
            }

            ReplayServer server =
                    new ReplayServer(
                            context, List.of(router), List.of(buffer), topic, format, "test");
            server.start();
            for (JsonNode request : vector.path("requests")) {
                if (!request.path("socket").asText().equals("DEALER")) {
                    continue;
                }
                ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
                dealer.connect("tcp://127.0.0.1:" + routerPort);
                ZMsg message = new ZMsg();
                request.path("frames").forEach(f -> message.add(HEX.parseHex(f.asText())));
                message.send(dealer);
                String name = request.path("name").asText();
                List<JsonNode> replies = list(request.path("replies"));
                dealer.setReceiveTimeOut(
                        (int) Duration.ofMillis(replies.isEmpty() ? 300 : 5_000).toMillis());
                for (JsonNode reply : replies) {
                    ZMsg got = ZMsg.recvMsg(dealer);
                    assertNotNull(got, name);
                    boolean end = reply.get(reply.size() - 1).asText().isEmpty();
                    int compared = format.sglang() || end ? reply.size() : reply.size() - 1;
                    assertEquals(reply.size(), got.size(), name + ": number of frames");
                    assertEquals(hex(reply, compared), hex(got, compared), name);
                }
                if (replies.isEmpty()) {
                    assertNull(dealer.recv(), name + " gets no answer");
                }
                dealer.close();
            }
            server.close();
        }
    }

    private static JsonNode vector(String engine, String version) {
        for (JsonNode v : TestVectors.file("vectors/kv-events-zmq.json").path("replay")) {
            if (v.path("engine").asText().equals(engine)
                    && v.path("version").asText().equals(version)) {
                return v;
            }
        }
        throw new IllegalArgumentException("no replay vector for " + engine + " " + version);
    }

    /** Time and hash of a live vector: all of them store tokens 0..3 in one block on the GPU. */
    private static JsonNode stored(JsonNode frames) {
        byte[] payload = HEX.parseHex(frames.get(2).asText());
        ByteBuffer bytes = ByteBuffer.wrap(payload);
        long millis = (long) (bytes.getDouble(2) * 1000);
        int at = indexOf(payload, HEX.parseHex("91cf"));
        BigInteger hash = new BigInteger(1, payload, at + 2, 8);
        return TestVectors.json("{\"millis\":" + millis + ",\"hash\":" + hash + "}");
    }

    private static int indexOf(byte[] in, byte[] what) {
        for (int i = 10; i < in.length - what.length; i++) {
            if (in[i] == what[0] && in[i + 1] == what[1]) {
                return i;
            }
        }
        throw new IllegalArgumentException("no hash list in " + HEX.formatHex(in));
    }

    private static CacheEvent event(BigInteger hash, WireFormat format) {
        ByteBuffer digest = ByteBuffer.allocate(32);
        digest.putLong(format.sglang() ? 0 : 24, hash.longValue());
        return new CacheEvent.Stored(
                Medium.GPU,
                null,
                List.of(digest.array()),
                new int[] {0, 1, 2, 3},
                4,
                CacheSpace.NONE,
                null);
    }

    private static List<JsonNode> list(JsonNode array) {
        List<JsonNode> list = new ArrayList<>();
        array.forEach(list::add);
        return list;
    }

    private static List<String> hex(JsonNode frames, int count) {
        List<String> hex = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            hex.add(frames.get(i).asText());
        }
        return hex;
    }

    private static List<String> hex(ZMsg frames, int count) {
        return frames.stream().limit(count).map(f -> HEX.formatHex(f.getData())).toList();
    }
}
