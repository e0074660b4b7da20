package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GatherTest {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;

    private final Gather gather = new Gather(true);
    private long now = -3 * MILLI; // a clock may stand anywhere

    /** A read {@code gap} after the one before; whether a pause follows. */
    private boolean read(Gather.Stream stream, long gap) {
        now += gap;
        boolean pauses = gather.read(stream, now);
        if (pauses) {
            gather.paused();
        }
        return pauses;
    }

    @Test
    void a_stream_in_a_burst_makes_the_loop_pause_from_its_third_read_on() {
        Gather.Stream s = new Gather.Stream();
        assertFalse(read(s, 0));
        assertFalse(read(s, 20 * MICRO));
        assertTrue(read(s, 20 * MICRO));
        assertTrue(read(s, 200 * MICRO), "the pause itself does not end the burst");
    }

    @Test
    void a_thousand_streams_of_one_token_a_step_never_do() {
        Gather.Stream[] streams =
                IntStream.range(0, 1000)
                        .mapToObj(i -> new Gather.Stream())
                        .toArray(Gather.Stream[]::new);
        for (int step = 0; step < 20; step++) {
            for (Gather.Stream s : streams) {
                assertFalse(read(s, 5 * MICRO)); // 200,000 reads a second, 5 ms apart for each
            }
        }
    }

    @Test
    void a_gap_ends_the_burst() {
        Gather.Stream s = new Gather.Stream();
        for (int i = 0; i < 5; i++) {
            read(s, 10 * MICRO);
        }
        assertFalse(read(s, Gather.Stream.GAP_NANOS));
        assertFalse(read(s, 10 * MICRO));
        assertTrue(read(s, 10 * MICRO));
    }

    @Test
    void the_answer_before_on_the_same_connection_does_not_count() {
        Gather.Stream s = new Gather.Stream();
        for (int i = 0; i < 5; i++) {
            read(s, 10 * MICRO);
        }
        s.begin();
        assertFalse(read(s, 10 * MICRO));
        assertFalse(read(s, 10 * MICRO));
        assertTrue(read(s, 10 * MICRO));
    }

    @Test
    void a_turn_pauses_once_however_many_streams_burst() {
        Gather.Stream a = new Gather.Stream();
        Gather.Stream b = new Gather.Stream();
        int asked = 0;
        for (int i = 0; i < 3; i++) {
            now += 10 * MICRO;
            asked += gather.read(a, now) ? 1 : 0;
            asked += gather.read(b, now) ? 1 : 0;
        }
        assertEquals(1, asked);
        gather.paused();
        assertTrue(gather.read(b, now + 10 * MICRO));
    }

    @Test
    void switched_off_it_never_pauses() {
        Gather off = new Gather(false);
        Gather.Stream s = new Gather.Stream();
        for (int i = 0; i < 1000; i++) {
            assertFalse(off.read(s, now += 10 * MICRO));
        }
    }
}
