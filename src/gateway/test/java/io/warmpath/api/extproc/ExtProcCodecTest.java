package io.warmpath.api.extproc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.api.extproc.ProcessingRequest.Modes;
import io.warmpath.net.HeaderList;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Messages that a real Envoy has sent, and random ones. That an Envoy takes our answers is seen by
 * the tests that start one.
 */
class ExtProcCodecTest {
    private static final int ROUNDS = 20_000;

    private static final Map<String, byte[]> RECORDED = recorded();

    private static Map<String, byte[]> recorded() {
        Map<String, byte[]> messages = new LinkedHashMap<>();
        try (Stream<String> lines =
                Files.lines(Path.of("src/test/resources/extproc/envoy-1.40.0.txt"))) {
            lines.filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" ", -1))
                    .forEach(word -> messages.put(word[0], HexFormat.of().parseHex(word[1])));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return messages;
    }

    private static ProcessingRequest read(String name) {
        byte[] b = Objects.requireNonNull(RECORDED.get(name), name);
        return ProcessingRequest.read(b, 0, b.length);
    }

    private static String body(ProcessingRequest message) {
        return new String(
                message.array(), message.from(), message.length(), StandardCharsets.UTF_8);
    }

    @Test
    void the_head_of_a_request() {
        ProcessingRequest head = read("streamed_head");
        assertEquals(Kind.REQUEST_HEADERS, head.kind());
        assertEquals("POST", head.headers().get(":method"));
        assertEquals("/v1/chat/completions", head.headers().get(":path"));
        assertEquals("application/json", head.headers().get("content-type"));
        assertEquals(10, head.headers().size());
        assertEquals(Modes.DUPLEX, head.modes());
        assertFalse(head.endOfStream());
        assertNull(head.subset());
        assertNull(head.served());
    }

    @Test
    void bodies_and_their_ends() {
        ProcessingRequest body = read("streamed_body");
        assertEquals(Kind.REQUEST_BODY, body.kind());
        assertEquals(600, body.length());
        assertTrue(body(body).startsWith("{\"model\": \"stub\""));
        assertFalse(body.endOfStream());
        assertNull(body.modes());
        ProcessingRequest end = read("streamed_body_end");
        assertEquals(0, end.length());
        assertTrue(end.endOfStream());
        assertEquals("data: [DONE]\n\n", body(read("answer_event")));
        assertTrue(read("answer_end").endOfStream());
        assertEquals(Kind.RESPONSE_BODY, read("answer_end").kind());
    }

    @Test
    void the_head_of_an_answer_and_who_has_served() {
        ProcessingRequest head = read("answer_head");
        assertEquals(Kind.RESPONSE_HEADERS, head.kind());
        assertEquals("200", head.headers().get(":status"));
        assertEquals("text/event-stream", head.headers().get("content-type"));
        assertNull(head.served(), "where it was to go is not who has served");
        assertEquals("127.0.0.11:27100", read("served").served());
    }

    @Test
    void the_hint_of_a_subset_in_both_forms_and_empty() {
        assertEquals(List.of("10.9.9.9:1"), read("subset_text").subset());
        assertEquals(List.of("127.0.0.11:27100"), read("subset_list").subset());
        assertEquals(List.of(), read("subset_empty").subset());
    }

    @Test
    void trailers() {
        ProcessingRequest trailers = read("trailers");
        assertEquals(Kind.REQUEST_TRAILERS, trailers.kind());
        assertEquals("t", trailers.headers().get("x-client-trailer"));
    }

    private static ProxyMessages.Answer answer(byte[] frame) {
        List<ProxyMessages.Answer> found = new ArrayList<>();
        new GrpcFrames(1 << 20, (b, from, n) -> found.add(ProxyMessages.read(b, from, n)))
                .add(frame, 0, frame.length);
        assertEquals(1, found.size());
        return found.getFirst();
    }

    /** As Google's encoder writes the same message, recorded in hex. */
    @Test
    void answers_are_the_messages_of_the_protocol() {
        assertEquals("00000000021200", hex(ProcessingResponse.unchanged(Kind.RESPONSE_HEADERS)));
        byte[] event = "data: 1\n\n".getBytes(StandardCharsets.US_ASCII);
        assertEquals(
                "000000001522130a111a0f1a0d0a09646174613a20310a0a1001",
                hex(ProcessingResponse.piece(Kind.RESPONSE_BODY, event, 0, event.length, true)));
        HeaderList set = new HeaderList().add("x-a", "1");
        ProxyMessages.Answer picked =
                answer(
                        ProcessingResponse.pick(
                                Kind.REQUEST_HEADERS,
                                new ProcessingResponse.Pick("1.2.3.4:5", set, List.of("x-b")),
                                null));
        assertEquals("1.2.3.4:5", picked.destination());
        assertEquals("1.2.3.4:5", picked.set().get(ProcessingRequest.DESTINATION));
        assertEquals("1", picked.set().get("x-a"));
        assertEquals(List.of("x-b"), picked.removed());
        ProxyMessages.Answer refusal =
                answer(ProcessingResponse.immediate(429, set, event, "warmpath"));
        assertEquals(429, refusal.status());
        assertArrayEquals(event, refusal.body());
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void frames_are_the_same_however_they_are_cut() {
        Random random = new Random(11);
        for (int round = 0; round < 300; round++) {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            List<String> sent = new ArrayList<>();
            for (int i = random.nextInt(6); i >= 0; i--) {
                byte[] body = new byte[random.nextInt(4) == 0 ? 70_000 : random.nextInt(40)];
                random.nextBytes(body);
                byte[] frame = ProxyMessages.body(Kind.REQUEST_BODY, body, false);
                sent.add(hex(Arrays.copyOfRange(frame, GrpcFrames.HEAD, frame.length)));
                stream.writeBytes(frame);
            }
            List<String> read = new ArrayList<>();
            GrpcFrames frames =
                    new GrpcFrames(
                            1 << 20,
                            (b, from, n) -> read.add(hex(Arrays.copyOfRange(b, from, from + n))));
            byte[] all = stream.toByteArray();
            for (int at = 0; at < all.length; ) {
                int part = Math.min(all.length - at, 1 + random.nextInt(20_000));
                frames.add(all, at, part);
                at += part;
            }
            assertEquals(sent, read, "round " + round);
        }
    }

    @Test
    void what_is_too_large_or_compressed_is_refused() {
        GrpcFrames frames = new GrpcFrames(100, (b, from, n) -> {});
        assertThrows(
                WireFormatException.class, () -> frames.add(new byte[] {0, 0, 0, 0, 101}, 0, 5));
        assertThrows(
                WireFormatException.class,
                () ->
                        new GrpcFrames(100, (b, from, n) -> {})
                                .add(new byte[] {1, 0, 0, 0, 1}, 0, 5));
    }

    /** Bytes of real messages, changed, cut and repeated: read, or refused in words. */
    @Test
    void any_bytes_are_read_or_refused() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<byte[]> real = List.copyOf(RECORDED.values());
        int refused = 0;
        for (int i = 0; i < ROUNDS; i++) {
            byte[] b = real.get(random.nextInt(real.size())).clone();
            for (int changes = random.nextInt(8); changes >= 0; changes--) {
                b[random.nextInt(Math.min(b.length, 64))] = (byte) random.nextInt();
            }
            int length = random.nextInt(3) == 0 ? random.nextInt(b.length + 1) : b.length;
            try {
                ProcessingRequest message = ProcessingRequest.read(b, 0, length);
                assertTrue(message.from() + message.length() <= length, "seed " + seed);
            } catch (WireFormatException e) {
                refused++;
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
        }
        assertTrue(refused > ROUNDS / 10 && refused < ROUNDS, refused + " of " + ROUNDS);
    }
}
