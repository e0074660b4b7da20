package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceMark.SlotMemory;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RestoredSlotsTest {
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot first = index.open(0);
    private final WorkerSlot second = index.open(0);
    private final WorkerSlot unmarked = index.open(0);
    private final SourceMark mark = mark(first, List.of());
    private final RestoredSlots slots =
            new RestoredSlots(
                    index,
                    List.of(
                            new Label(first, 7, 0),
                            new Label(second, 7, 1),
                            new Label(unmarked, 8, 0)),
                    List.of(
                            mark(
                                    first,
                                    List.of(
                                            new SlotMemory(
                                                    second, SideBlocks.Memory.NONE, List.of())))));
    private int cleared;

    private static SourceMark mark(WorkerSlot slot, List<SlotMemory> memories) {
        return new SourceMark(0, slot, 3, 4, true, memories);
    }

    @AfterEach
    void close() {
        index.close();
    }

    @Test
    void a_rank_that_was_known_gets_its_slot_once_and_a_new_process_another() {
        assertEquals(first, slots.open(0, 7, 0));
        assertEquals(second, slots.open(0, 7, 1));
        WorkerSlot fresh = slots.open(0, 7, 0);
        assertNotEquals(first, fresh);
        assertNotEquals(slots.open(0, 99, 0), fresh);
    }

    @Test
    void its_source_goes_on_from_the_mark_once() {
        WorkerSlot slot = slots.open(0, 7, 0);
        SourceMark found = slots.join(slot, () -> cleared++);
        assertEquals(mark.next(), found == null ? -1 : found.next());
        assertNull(slots.join(slot, () -> cleared++));
        assertEquals(0, cleared);
    }

    @Test
    void what_no_source_can_join_is_cleared() {
        WorkerSlot slot = slots.open(0, 7, 1);
        assertNull(slots.join(slot, () -> cleared++));
        assertEquals(1, cleared);
        assertNull(slots.join(slots.open(0, 50, 0), () -> cleared++));
        assertEquals(1, cleared, "a new slot has nothing to clear");
    }

    @Test
    void a_slot_without_a_mark_is_not_offered() {
        assertEquals(2, index.stats().slots());
        assertNotEquals(unmarked, slots.open(0, 8, 0));
    }

    @Test
    void what_nobody_claims_is_given_back() {
        slots.open(0, 7, 0);
        assertEquals(List.of(new Label(second, 7, 1)), slots.unclaimed());
        assertEquals(1, slots.pending().size());
        assertEquals(1, slots.expire());
        assertEquals(List.of(), slots.unclaimed());
        assertEquals(0, slots.expire());
        assertEquals(1, index.stats().slots());
        slots.close(first);
        assertEquals(List.of(), slots.pending());
    }
}
