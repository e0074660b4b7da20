package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Whom a request may still be sent to. */
class RetryStateTest {
    private final RetryState tries = new RetryState(2);

    @Test
    void a_worker_that_was_not_reached_has_not_begun() {
        assertTrue(tries.attempt());
        tries.failed(1);
        assertFalse(tries.attempt());
        tries.failed(2);
        assertTrue(tries.mayAskAnother());
        assertEquals(List.of(1L, 2L), tries.failed());
    }

    @Test
    void as_many_workers_as_may_begin_with_it() {
        assertTrue(tries.mayHedge());
        tries.hasBegun(1);
        tries.hasBegun(1);
        assertTrue(tries.mayAskAnother());
        assertFalse(tries.mayHedge(), "one has it, two more would be three");
        tries.hasBegun(2);
        assertFalse(tries.mayAskAnother());
        assertFalse(tries.secondRound());
    }

    @Test
    void attempts_end_somewhere() {
        for (int i = 0; i < 8; i++) {
            assertTrue(tries.mayAskAnother(), () -> "after " + tries.attempts());
            tries.attempt();
        }
        assertTrue(tries.areMany());
        assertFalse(tries.mayAskAnother());
    }

    @Test
    void there_is_one_second_round_and_its_first_attempt_is_not_the_first() {
        tries.attempt();
        tries.failed(1);
        assertTrue(tries.secondRound());
        assertEquals(List.of(), tries.failed());
        assertFalse(tries.attempt());
        assertFalse(tries.secondRound());
    }

    @Test
    void what_nobody_has_begun_may_start_over_whenever_it_has_waited_for_room() {
        tries.attempt();
        for (int i = 0; i < 20; i++) {
            tries.failed(1);
            assertTrue(tries.startOver());
            assertEquals(List.of(), tries.failed());
            assertFalse(tries.attempt(), "not its first");
            assertTrue(tries.mayAskAnother());
        }
        tries.hasBegun(1);
        assertFalse(tries.startOver());
    }
}
