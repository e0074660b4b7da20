package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Against the bytes of real libzmq sockets, whole and in pieces, and against bytes of nobody. */
class ZmtpReaderTest {
    private static final int MINOR = 11;
    private static final ZmtpLimits LIMITS = ZmtpLimits.ofEvents(new MessageRoom(Long.MAX_VALUE));

    /** What was heard, in order, as text. */
    private static final class Heard implements ZmtpReader.Sink {
        final List<String> all = new ArrayList<>();

        @Override
        public void greeted(int minor, String mechanism) {
            all.add("3." + minor + " " + mechanism);
        }

        @Override
        public void command(byte[] body) {
            String type =
                    ZmtpBytes.name(body).equals("READY")
                            ? " " + ZmtpBytes.property(body, "socket-TYPE")
                            : "";
            all.add(ZmtpBytes.name(body) + type);
        }

        @Override
        public void message(List<byte[]> frames) {
            all.add(
                    String.join(
                            "|", frames.stream().map(f -> HexFormat.of().formatHex(f)).toList()));
        }
    }

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void what_libzmq_sends_is_understood_in_whatever_pieces_it_comes() throws Exception {
        long seed = System.nanoTime();
        System.out.println("what_libzmq_sends seed " + seed);
        Random random = new Random(seed);
        byte[] all = new byte[300];
        Arrays.fill(all, (byte) 'x');
        for (int i = 0; i < 256; i++) {
            all[i] = (byte) i;
        }
        List<String> publisher =
                List.of(
                        "3.1 NULL",
                        "READY PUB",
                        hex("kv@w@m") + "|0000000000000000|" + hex("first"),
                        hex("kv@w@m") + "|0000000000000001|" + HexFormat.of().formatHex(all),
                        "PONG",
                        "PONG");
        List<String> router =
                List.of(
                        "3.1 NULL",
                        "READY ROUTER",
                        "|0000000000000007|" + hex("seventh"),
                        "|ffffffffffffffff|");
        for (int round = 0; round < 200; round++) {
            int piece = round == 0 ? Integer.MAX_VALUE : round == 1 ? 1 : 1 + random.nextInt(40);
            assertEquals(publisher, read(RecordedZmtp.PUB, piece), "pieces of " + piece);
            assertEquals(router, read(RecordedZmtp.ROUTER, piece), "pieces of " + piece);
        }
    }

    /**
     * But for the version, which is 3.0 so that subscriptions are messages, each byte is libzmq's.
     */
    @Test
    void what_this_side_says_is_what_libzmq_says() throws Exception {
        byte[] greeting = Arrays.copyOf(RecordedZmtp.SUB, ZmtpReader.GREETING);
        greeting[MINOR] = 0;
        assertArrayEquals(greeting, bytes(ZmtpBytes.greeting()));

        ByteArrayOutputStream sub = new ByteArrayOutputStream();
        sub.write(bytes(ZmtpBytes.ready("SUB", false)));
        sub.write(HexFormat.of().parseHex("040d09" + hex("SUBSCRIBEkv@"))); // ZMTP 3.1's own form
        sub.write(bytes(ZmtpBytes.ping()));
        sub.write(bytes(ZmtpBytes.ping()));
        assertArrayEquals(body(RecordedZmtp.SUB), sub.toByteArray());
        assertArrayEquals(
                HexFormat.of().parseHex("000401" + hex("kv@")),
                bytes(ZmtpBytes.subscription("kv@".getBytes(StandardCharsets.US_ASCII))));

        ByteArrayOutputStream dealer = new ByteArrayOutputStream();
        dealer.write(bytes(ZmtpBytes.ready("DEALER", true)));
        dealer.write(bytes(ZmtpBytes.message(EventMessages.request(7))));
        assertArrayEquals(body(RecordedZmtp.DEALER), dealer.toByteArray());

        byte[] recorded = RecordedZmtp.PUB;
        byte[] pong = Arrays.copyOfRange(recorded, recorded.length - 7, recorded.length);
        byte[] ping = bytes(ZmtpBytes.ping());
        assertArrayEquals(pong, bytes(ZmtpBytes.pong(Arrays.copyOfRange(ping, 2, ping.length))));
    }

    @Test
    void a_ping_is_answered_with_its_context() {
        byte[] ping = "\4PINGttabc".getBytes(StandardCharsets.US_ASCII);
        assertEquals(
                "\4\10\4PONGabc",
                new String(bytes(ZmtpBytes.pong(ping)), StandardCharsets.US_ASCII));
        assertEquals(
                "\4\5\4PONG",
                new String(
                        bytes(ZmtpBytes.pong("\4PING".getBytes(StandardCharsets.US_ASCII))),
                        StandardCharsets.US_ASCII));
    }

    @Test
    void another_protocol_and_another_version_are_told() {
        assertTrue(
                refused("HTTP/1.1 400 Bad Request\r\n".getBytes(StandardCharsets.US_ASCII))
                        .contains("ZeroMQ"));
        byte[] two = Arrays.copyOf(RecordedZmtp.PUB, ZmtpReader.GREETING);
        two[ZmtpReader.SIGNATURE] = 1;
        assertTrue(refused(two).contains("ZMTP 1"), refused(two));
    }

    @Test
    void what_no_peer_sends_ends_the_connection() {
        assertTrue(refused(after("0800")).contains("flags"));
        assertTrue(refused(after("020000000004000001")).contains("64 MiB"), "64 MiB and a byte");
        assertTrue(refused(after("02ffffffffffffffff")).contains("64 MiB"), "a negative length");
        assertTrue(refused(after("020000000003000000")).isEmpty(), "48 MiB may come");
        assertTrue(refused(after("0100".repeat(65))).contains("64 frames"), "an endless message");
        assertTrue(refused(after("060000000000010001")).contains("command"), "64 KiB and a byte");
        assertTrue(refused(after("06ffffffffffffffff")).contains("command"), "a negative length");
    }

    /** A peer that declares 60 MiB and sends nothing of it costs a kilobyte. */
    @Tag("measured")
    @Test
    void a_declared_length_allocates_little() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        byte[] declared = after("020000000003c00000ff");
        read(declared, Integer.MAX_VALUE);
        long before = threads.getCurrentThreadAllocatedBytes();
        read(declared, Integer.MAX_VALUE);
        long used = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(used < 100_000, used + " bytes");
    }

    @Test
    void what_is_unfinished_counts_until_it_ends_or_the_connection_does() throws Exception {
        long seed = System.nanoTime();
        System.out.println("what_is_unfinished seed " + seed);
        Random random = new Random(seed);
        MessageRoom room = new MessageRoom(Long.MAX_VALUE);
        for (int round = 0; round < 500; round++) {
            byte[] frame = new byte[1 + random.nextInt(5000)];
            byte[] bytes = bytes(ZmtpBytes.message(List.of(frame, frame)));
            ZmtpReader reader = new ZmtpReader(new Heard(), ZmtpLimits.ofEvents(room));
            reader.take(ByteBuffer.wrap(RecordedZmtp.PUB));
            assertEquals(0, room.held(), "recorded messages are whole");
            int cut = random.nextInt(bytes.length);
            reader.take(ByteBuffer.wrap(bytes, 0, cut));
            assertEquals(cut > 0, reader.unfinished());
            assertTrue(room.held() <= 2L * cut + 1024, cut + ": " + room.held());
            if (cut > 9 + 1024) {
                assertTrue(room.held() >= cut - 18 - 1024, cut + ": " + room.held());
            }
            if (random.nextBoolean()) {
                reader.take(ByteBuffer.wrap(bytes, cut, bytes.length - cut));
                assertEquals(false, reader.unfinished());
            } else {
                reader.stop();
            }
            assertEquals(0, room.held(), "seed " + seed);
        }
    }

    @Test
    void bytes_of_nobody_end_the_connection_or_wait_for_more_and_nothing_else() {
        long seed = System.nanoTime();
        System.out.println("bytes_of_nobody seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = RecordedZmtp.PUB.clone();
            for (int i = random.nextInt(8); i >= 0; i--) {
                int from = random.nextInt(4) == 0 ? 0 : ZmtpReader.GREETING;
                bytes[from + random.nextInt(bytes.length - from)] = (byte) random.nextInt();
            }
            refused(bytes);
        }
    }

    /** Why it was refused, empty when it was not. */
    private static String refused(byte[] bytes) {
        try {
            read(bytes, Integer.MAX_VALUE);
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void nothing_is_handed_out_after_a_stop() throws Exception {
        List<String> heard = new ArrayList<>();
        ZmtpReader[] reader = new ZmtpReader[1];
        reader[0] =
                new ZmtpReader(
                        new ZmtpReader.Sink() {
                            @Override
                            public void greeted(int minor, String mechanism) {}

                            @Override
                            public void command(byte[] body) {}

                            @Override
                            public void message(List<byte[]> frames) {
                                heard.add("message");
                                reader[0].stop();
                            }
                        },
                        LIMITS);
        reader[0].take(ByteBuffer.wrap(RecordedZmtp.PUB));
        assertEquals(1, heard.size());
    }

    private static List<String> read(byte[] bytes, int piece) throws IOException {
        Heard heard = new Heard();
        ZmtpReader reader = new ZmtpReader(heard, LIMITS);
        for (int at = 0; at < bytes.length; ) {
            int n = Math.min(piece, bytes.length - at);
            reader.take(ByteBuffer.wrap(bytes, at, n));
            at += n;
        }
        return heard.all;
    }

    private static byte[] after(String hex) {
        byte[] more = HexFormat.of().parseHex(hex);
        byte[] out = Arrays.copyOf(RecordedZmtp.PUB, ZmtpReader.GREETING + more.length);
        System.arraycopy(more, 0, out, ZmtpReader.GREETING, more.length);
        return out;
    }

    private static byte[] body(byte[] recorded) {
        return Arrays.copyOfRange(recorded, ZmtpReader.GREETING, recorded.length);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] out = new byte[buffer.remaining()];
        buffer.get(out);
        return out;
    }
}
