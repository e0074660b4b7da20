package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class PriorityOrderTest {
    @Test
    void a_priority_is_turned_round_for_engines_that_serve_low_ones_first() {
        assertEquals(OptionalInt.of(7), PriorityOrder.HIGHER_FIRST.of(7));
        assertEquals(OptionalInt.of(-7), PriorityOrder.LOWER_FIRST.of(7));
        assertEquals(OptionalInt.of(7), PriorityOrder.LOWER_FIRST.of(-7));
        assertEquals(OptionalInt.of(0), PriorityOrder.LOWER_FIRST.of(0));
        assertEquals(OptionalInt.empty(), PriorityOrder.NOT_TAKEN.of(7));
    }

    @Test
    void the_order_holds_to_the_ends_of_the_range() {
        assertEquals(
                OptionalInt.of(Integer.MAX_VALUE), PriorityOrder.LOWER_FIRST.of(Integer.MIN_VALUE));
        assertEquals(
                OptionalInt.of(-Integer.MAX_VALUE),
                PriorityOrder.LOWER_FIRST.of(Integer.MAX_VALUE));
    }

    @Test
    void words_are_read_back_and_others_are_named() {
        for (PriorityOrder o : PriorityOrder.values()) {
            assertEquals(o, PriorityOrder.parse(o.word()));
        }
        String said =
                assertThrows(IllegalArgumentException.class, () -> PriorityOrder.parse("high"))
                        .getMessage();
        assertTrue(said.contains("high") && said.contains("lower-first"), said);
    }
}
