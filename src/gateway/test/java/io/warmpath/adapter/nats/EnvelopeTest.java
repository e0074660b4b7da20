package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nats.Envelope.BadEnvelope;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The wire between relay and gateway, and the ring it comes from. */
class EnvelopeTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void the_layout_is_the_documented_one() throws BadEnvelope {
        Envelope e = Envelope.batches(0x0102L, 7, 0x0304L, 9, List.of(bytes("ab"), bytes("c")));
        String hex =
                "5745" // WE
                        + "01" // version
                        + "00" // kind
                        + "0000000000000102" // process
                        + "0000000000000007" // first
                        + "0000000000000304" // before
                        + "0000000000000009" // time
                        + "00000002" // count
                        + "00000002"
                        + "6162"
                        + "00000001"
                        + "63";
        assertEquals(hex, HexFormat.of().formatHex(e.encoded()));
        Envelope read = Envelope.decode(HexFormat.of().parseHex(hex));
        assertEquals(9, read.next());
        assertArrayEquals(bytes("c"), read.batches().get(1));
    }

    @Test
    void pieces_of_a_batch_come_in_order_and_hold_it_whole() throws BadEnvelope {
        byte[] batch = new byte[10_000];
        new Random(1).nextBytes(batch);
        List<Envelope> parts = Envelope.parts(1, 5, 0, 0, batch, 3_000);
        assertEquals(4, parts.size());
        int at = 0;
        for (int i = 0; i < 4; i++) {
            Envelope part = Envelope.decode(parts.get(i).encoded());
            assertEquals(i, part.part());
            assertEquals(4, part.parts());
            byte[] piece = part.batches().getFirst();
            assertArrayEquals(Arrays.copyOfRange(batch, at, at + piece.length), piece);
            at += piece.length;
        }
        assertEquals(batch.length, at);
    }

    @Test
    void no_bytes_are_read_as_anything_but_an_envelope_or_an_error() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] good =
                Envelope.batches(1, 2, 3, 4, List.of(new byte[50], new byte[0], new byte[3]))
                        .encoded();
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = good.clone();
            for (int n = random.nextInt(3); n >= 0; n--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            if (random.nextBoolean()) {
                bad = Arrays.copyOf(bad, random.nextInt(bad.length));
            }
            try {
                Envelope.decode(bad);
            } catch (BadEnvelope e) {
                refused++;
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertTrue(refused > 1_000);
        assertThrows(BadEnvelope.class, () -> Envelope.decode(new byte[0]));
    }

    @Test
    void a_ring_gives_runs_without_holes_of_one_process_in_small_messages() {
        RelayRing ring = new RelayRing(1 << 20);
        for (int i = 0; i < 6; i++) {
            ring.add(1, i < 3 ? i : i + 10, 0, 0, new byte[100]);
        }
        ring.add(2, 0, 0, 0, new byte[100]);
        Envelope first = ring.take(350, null);
        assertEquals(0, first.first());
        assertEquals(2, first.count(), "two of 104 bytes behind 40 of the head");
        assertEquals(2, ring.take(350, null).first());
        Envelope behindHole = ring.take(1_000, null);
        assertEquals(13, behindHole.first());
        assertEquals(3, behindHole.count());
        assertNull(ring.take(1_000, 1L), "the other process waits");
        assertEquals(2, ring.take(1_000, 2L).process());
        assertNull(ring.take(1_000, null));
        // Sent ones can still be asked for.
        assertEquals(
                List.of(1L, 13L), ring.from(1, 1, 1_000).stream().map(Envelope::first).toList());
    }

    @Test
    void a_full_ring_drops_the_oldest_sent_or_not_and_counts_what_was_not() {
        RelayRing ring = new RelayRing(1_000);
        for (int i = 0; i < 5; i++) {
            ring.add(1, i, 0, 0, new byte[100]);
        }
        assertEquals(0, ring.overflowed());
        assertEquals(5, ring.take(10_000, null).count());
        for (int i = 5; i < 20; i++) {
            ring.add(1, i, 0, 0, new byte[100]);
        }
        assertEquals(9, ring.overflowed());
        assertEquals(6, ring.waiting());
        assertEquals(14, ring.take(10_000, null).first());
        ring.add(1, 20, 0, 0, new byte[100_000]);
        assertEquals(1, ring.waiting(), "the newest stays, however large");
    }
}
