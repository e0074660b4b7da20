package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.warmpath.session.WarmLedger.Warmed;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WarmLedgerTest {
    private final WarmLedger ledger = new WarmLedger(8);

    private static long[] chain(long from, int blocks) {
        return LongStream.range(from, from + blocks).toArray();
    }

    @Test
    void the_next_turn_of_a_conversation_finds_it_once_and_on_its_rank_only() {
        Warmed warmed = new Warmed(3, 100, 160);
        ledger.add(chain(1, 6), warmed);
        assertNull(ledger.take(chain(1, 10), 4), "another rank");
        assertNull(ledger.take(chain(1, 2), 3), "a conversation that only begins alike");
        assertNull(ledger.take(chain(50, 10), 3));
        assertSame(warmed, ledger.take(chain(1, 10), 3));
        assertNull(ledger.take(chain(1, 10), 3));
    }

    @Test
    void a_turn_whose_last_blocks_were_rendered_anew_is_recognised() {
        Warmed warmed = new Warmed(0, 96, 160);
        ledger.add(chain(1, 6), warmed);
        long[] next = chain(1, 10);
        next[4] = 77;
        next[5] = 78;
        assertSame(warmed, ledger.take(next, 0));
    }

    @Test
    void only_tokens_behind_the_turn_before_count_and_none_twice() {
        Warmed warmed = new Warmed(0, 100, 160);
        assertEquals(0, warmed.hit(0));
        assertEquals(0, warmed.hit(100));
        assertEquals(44, warmed.hit(144));
        assertEquals(60, warmed.hit(5000));
    }

    @Test
    void the_oldest_makes_room() {
        ledger.add(chain(1, 4), new Warmed(0, 1, 2));
        ledger.add(chain(11, 4), new Warmed(0, 1, 2));
        ledger.add(chain(21, 4), new Warmed(0, 1, 2));
        assertNull(ledger.take(chain(1, 4), 0));
        assertEquals(new Warmed(0, 1, 2), ledger.take(chain(11, 4), 0));
        assertEquals(new Warmed(0, 1, 2), ledger.take(chain(21, 5), 0));
    }

    @Test
    void a_prompt_without_names_is_not_found() {
        ledger.add(new long[0], new Warmed(0, 1, 2));
        assertNull(ledger.take(new long[0], 0));
    }
}
