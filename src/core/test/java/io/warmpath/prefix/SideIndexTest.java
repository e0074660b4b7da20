package io.warmpath.prefix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Slots that the main index has from a file get their twins. */
class SideIndexTest {
    private static final int[] PROMPT = {1, 2, 3, 4};

    @Test
    void slots_from_a_file_take_decisions_and_new_ones_go_on_in_pairs() {
        try (ReferencePrefixIndex main = new ReferencePrefixIndex();
                ReferencePrefixIndex side = new ReferencePrefixIndex()) {
            WorkerSlot zero = main.open(0);
            WorkerSlot one = main.open(0);
            WorkerSlot two = main.open(0);
            main.close(one); // the file has 0 and 2
            SideIndex both = new SideIndex(main, side);
            both.adopt(List.of(two, zero));
            assertEquals(2, side.stats().slots());
            PrefixQuery prompt = new PrefixQuery(PROMPT, PROMPT.length, 1, PrefixSpace.NONE);
            assertEquals(4, both.decide(two, prompt, 0));
            assertEquals(4, both.match(prompt).depth(two, Tier.GPU));
            assertEquals(0, both.match(prompt).depth(zero, Tier.GPU));
            assertEquals(1, both.open(0).index(), "the hole is filled in both");
            assertEquals(3, both.open(0).index());
            both.close(two);
            assertEquals(0, both.decide(two, prompt, 0));
        }
    }
}
