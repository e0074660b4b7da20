package io.warmpath.upstream;

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
    void an_answer_after_one_in_a_burst_makes_it_pause_from_its_first_read_on() {
        Gather.Stream s = new Gather.Stream();
        read(s, 0);
        read(s, 20 * MICRO); // the third one ended it
        s.begin();
        assertTrue(read(s, 3 * MILLI));
        assertTrue(read(s, 200 * MICRO));
        s.begin();
        assertTrue(read(s, 3 * MILLI));
        s.begin(); // all came with the second read: nothing new was learnt
        assertTrue(read(s, 3 * MILLI));
    }

    @Test
    void a_paced_answer_after_one_in_a_burst_makes_it_pause_once() {
        Gather.Stream s = new Gather.Stream();
        read(s, 0);
        read(s, 20 * MICRO);
        for (int answer = 0; answer < 3; answer++) {
            s.begin();
            assertEquals(answer == 0, read(s, 20 * MILLI));
            for (int token = 0; token < 20; token++) {
                assertFalse(read(s, 5 * MILLI));
            }
        }
    }

    @Test
    void a_head_and_a_first_token_at_once_are_no_burst() {
        Gather.Stream s = new Gather.Stream();
        for (int answer = 0; answer < 5; answer++) {
            s.begin();
            assertFalse(read(s, 20 * MILLI));
            assertFalse(read(s, 50 * MICRO));
            for (int token = 0; token < 20; token++) {
                assertFalse(read(s, 5 * MILLI));
            }
        }
    }

    @Test
    void several_writes_a_step_are_bursts() {
        Gather.Stream s = new Gather.Stream();
        for (int step = 0; step < 10; step++) {
            read(s, 5 * MILLI);
            for (int write = 1; write < 4; write++) {
                read(s, 20 * MICRO);
            }
        }
        s.begin();
        assertTrue(read(s, 20 * MILLI));
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
