package io.warmpath.api.extproc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What an unfinished message takes, against its bytes so far. */
class GrpcFramesTest {
    private static final int LARGEST = 16 << 20;
    private static final int ROUNDS = 400;

    /** Keeps what it gets, and what memory is asked for, up to {@code most}. */
    private static class Seen implements GrpcFrames.Receiver {
        private final long most;
        private final List<String> messages = new ArrayList<>();
        private long held;

        Seen(long most) {
            this.most = most;
        }

        long held() {
            return held;
        }

        @Override
        public void message(byte[] b, int from, int length) {
            messages.add(hex(Arrays.copyOfRange(b, from, from + length)));
        }

        @Override
        public boolean gathers(int bytes) {
            if (held + bytes > most) {
                return false;
            }
            held += bytes;
            return true;
        }

        @Override
        public void gathered() {
            held = 0;
        }
    }

    private static String hex(byte[] b) {
        return HexFormat.of().formatHex(b);
    }

    private static byte[] message(byte[] body) {
        return ByteBuffer.allocate(GrpcFrames.HEAD + body.length)
                .put((byte) 0)
                .putInt(body.length)
                .put(body)
                .array();
    }

    /** The rule of the protocol in its own words: all bytes, read from the beginning each time. */
    private static List<String> wholeIn(byte[] all, int length) {
        List<String> whole = new ArrayList<>();
        ByteBuffer b = ByteBuffer.wrap(all, 0, length);
        while (b.remaining() >= GrpcFrames.HEAD) {
            b.get();
            int size = b.getInt();
            if (size > b.remaining()) {
                break;
            }
            byte[] body = new byte[size];
            b.get(body);
            whole.add(hex(body));
        }
        return whole;
    }

    private static int unfinished(byte[] all, int length) {
        int left = length;
        for (String whole : wholeIn(all, length)) {
            left -= GrpcFrames.HEAD + whole.length() / 2;
        }
        return Math.max(0, left - GrpcFrames.HEAD);
    }

    @Test
    void memory_is_what_has_come_and_at_most_as_much_again() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            for (int i = random.nextInt(5); i >= 0; i--) {
                byte[] body = new byte[random.nextInt(3) == 0 ? 3000 : random.nextInt(30)];
                random.nextBytes(body);
                stream.writeBytes(message(body));
            }
            byte[] all = stream.toByteArray();
            Seen seen = new Seen(Long.MAX_VALUE);
            GrpcFrames frames = new GrpcFrames(LARGEST, seen);
            int most = random.nextBoolean() ? 8 : 1500;
            for (int at = 0; at < all.length; ) {
                int part = Math.min(all.length - at, 1 + random.nextInt(most));
                assertTrue(frames.add(all, at, part));
                at += part;
                String where = "seed " + seed + ", round " + round + ", byte " + at;
                assertEquals(wholeIn(all, at), seen.messages, where);
                int begun = unfinished(all, at);
                assertTrue(seen.held >= begun && seen.held <= 2L * begun, where + ": " + seen.held);
            }
            assertFalse(frames.isWithin());
        }
    }

    @Test
    void a_length_that_is_announced_takes_nothing() {
        Seen seen = new Seen(Long.MAX_VALUE);
        GrpcFrames frames = new GrpcFrames(LARGEST, seen);
        assertTrue(frames.add(new byte[] {0, 1, 0, 0, 0}, 0, 5)); // 16 MiB
        assertEquals(0, seen.held);
        assertTrue(frames.add(new byte[] {10}, 0, 1));
        assertEquals(1, seen.held);
        assertTrue(frames.isWithin());
        frames.end();
        assertEquals(0, seen.held);
    }

    @Test
    void without_memory_nothing_more_is_read() {
        Seen seen = new Seen(100);
        GrpcFrames frames = new GrpcFrames(LARGEST, seen);
        byte[] two = message(new byte[200]);
        assertTrue(frames.add(two, 0, 50));
        assertFalse(frames.add(two, 50, 120));
        assertEquals(List.of(), seen.messages);
        // The control: in one piece it is handed on where it lies.
        new GrpcFrames(LARGEST, seen).add(two, 0, two.length);
        assertEquals(1, seen.messages.size());
    }

    @Test
    void a_message_that_is_handed_on_is_still_counted_until_its_receiver_returns() {
        long[] during = {-1};
        Seen seen =
                new Seen(Long.MAX_VALUE) {
                    @Override
                    public void message(byte[] b, int from, int length) {
                        during[0] = held();
                    }
                };
        byte[] one = message(new byte[64]);
        GrpcFrames frames = new GrpcFrames(LARGEST, seen);
        frames.add(one, 0, 40);
        frames.add(one, 40, one.length - 40);
        assertEquals(64, during[0]);
        assertEquals(0, seen.held);
    }

    @Test
    void what_is_larger_than_may_be_is_refused_by_its_head() {
        GrpcFrames frames = new GrpcFrames(LARGEST, new Seen(0));
        assertThrows(
                WireFormatException.class,
                () -> frames.add(new byte[] {0, 1, 0, 0, 1}, 0, GrpcFrames.HEAD));
    }
}
