package io.warmpath.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class JournalTest {
    @Test
    void the_oldest_goes_when_there_are_too_many() {
        Journal<String> journal = new Journal<>(3, 100);
        for (String entry : List.of("a", "b", "c", "d", "e")) {
            assertTrue(journal.add(entry, 10));
        }
        assertEquals(List.of("e", "d", "c"), journal.latest(9));
        assertEquals(List.of("e"), journal.latest(1));
        assertEquals(new Journal.Held<>(3, 30, "c"), journal.held());
    }

    @Test
    void as_many_of_the_oldest_go_as_one_large_entry_needs() {
        Journal<String> journal = new Journal<>(10, 100);
        journal.add("a", 40);
        journal.add("b", 40);
        journal.add("c", 20);
        assertEquals(new Journal.Held<>(3, 100, "a"), journal.held());
        journal.add("d", 50);
        assertEquals(List.of("d", "c"), journal.latest(9));
        assertEquals(new Journal.Held<>(2, 70, "c"), journal.held());
    }

    @Test
    void what_would_not_fit_alone_is_refused_and_costs_nobody_a_place() {
        Journal<String> journal = new Journal<>(10, 100);
        journal.add("a", 100);
        assertFalse(journal.add("b", 101));
        assertEquals(List.of("a"), journal.latest(9));
        assertFalse(new Journal<String>(0, 100).add("a", 1));
        assertEquals(new Journal.Held<String>(0, 0, null), new Journal<>(5, 5).held());
        assertThrows(IllegalArgumentException.class, () -> new Journal<>(-1, 5));
    }
}
