package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MessageRoomTest {
    @Test
    void what_does_not_fit_is_not_counted() {
        MessageRoom room = new MessageRoom(10);
        assertTrue(room.take(7));
        assertFalse(room.take(4));
        assertEquals(7, room.held());
        assertTrue(room.take(3));
        room.free(10);
        assertEquals(0, room.held());
    }

    @Test
    void without_memory_nothing_is_taken_however_little() {
        MessageRoom room = new MessageRoom(10);
        room.full(true);
        assertFalse(room.take(0));
        room.full(false);
        assertTrue(room.take(10));
    }

    @Test
    void the_first_refusal_alone_is_worth_a_line() {
        MessageRoom room = new MessageRoom(10);
        assertTrue(room.refuse());
        assertFalse(room.refuse());
        assertEquals(2, room.refused());
    }

    @Test
    void threads_together_never_hold_more_than_there_is() {
        long seed = System.nanoTime();
        System.out.println("threads_together seed " + seed);
        MessageRoom room = new MessageRoom(1000);
        IntStream.range(0, 8)
                .parallel()
                .forEach(
                        t -> {
                            Random random = new Random(seed + t);
                            for (int i = 0; i < 20_000; i++) {
                                int bytes = random.nextInt(400);
                                if (room.take(bytes)) {
                                    room.free(bytes);
                                }
                            }
                        });
        assertEquals(0, room.held());
    }
}
