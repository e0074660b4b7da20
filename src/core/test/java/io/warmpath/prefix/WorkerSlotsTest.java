package io.warmpath.prefix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Slots that do not come from an index of events alone. */
class WorkerSlotsTest {
    private static final int B = 4;

    private static PrefixQuery prompt(int... firstTokens) {
        int[] tokens = new int[firstTokens.length * B];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = firstTokens[i / B];
        }
        return new PrefixQuery(tokens, tokens.length, B, PrefixSpace.NONE);
    }

    @Test
    void numbered_slots_are_those_an_index_would_give() {
        NumberedSlots slots = new NumberedSlots();
        try (PrefixIndex index = new ReferencePrefixIndex()) {
            Random random = new Random(5);
            List<WorkerSlot> open = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                if (open.isEmpty() || random.nextInt(3) > 0) {
                    WorkerSlot slot = index.open(0);
                    assertEquals(slot, slots.open(0));
                    assertTrue(slots.isOpen(slot));
                    open.add(slot);
                } else {
                    WorkerSlot slot = open.remove(random.nextInt(open.size()));
                    index.close(slot);
                    slots.close(slot);
                    assertFalse(slots.isOpen(slot));
                    assertThrows(IllegalStateException.class, () -> slots.close(slot));
                }
            }
        }
    }

    @Test
    void a_side_index_has_the_numbers_of_the_main_one_and_forgets_with_it() {
        try (PrefixIndex main = new ReferencePrefixIndex();
                PrefixIndex side = new ReferencePrefixIndex()) {
            // Incarnations may differ: this number was used before.
            side.close(side.openApproximate(0));
            SideIndex pair = new SideIndex(main, side);
            WorkerSlot a = pair.open(1);
            WorkerSlot b = pair.open(1);
            assertEquals(2, pair.decide(b, prompt(1, 2), 10));
            assertEquals(0, pair.match(prompt(1, 2)).depth(a, Tier.GPU));
            assertEquals(2, pair.match(prompt(1, 2)).depth(b, Tier.GPU));
            assertEquals(0, main.match(prompt(1, 2)).size(), "events say nothing yet");
            pair.close(b);
            assertEquals(0, pair.match(prompt(1, 2)).size());
            assertEquals(0, pair.decide(b, prompt(1, 2), 11), "the slot is closed");
            WorkerSlot again = pair.open(1);
            assertEquals(b.index(), again.index());
            assertNotEquals(b, again);
            assertEquals(0, pair.match(prompt(1, 2)).size());
            assertEquals(2, main.stats().slots());
            assertEquals(2, side.stats().slots());
        }
    }

    @Test
    void slots_that_cannot_be_opened_in_both_are_opened_in_none() {
        try (PrefixIndex main = new ReferencePrefixIndex();
                PrefixIndex side = new ReferencePrefixIndex()) {
            side.open(0);
            SideIndex pair = new SideIndex(main, side);
            assertThrows(IllegalStateException.class, () -> pair.open(0));
            assertEquals(0, main.stats().slots());
            assertEquals(1, side.stats().slots());
        }
    }
}
