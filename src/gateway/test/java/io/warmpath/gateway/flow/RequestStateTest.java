package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The table of a request's states. */
class RequestStateTest {
    private static Set<RequestState> after(RequestState state) {
        Set<RequestState> next = EnumSet.noneOf(RequestState.class);
        for (RequestState s : RequestState.values()) {
            if (state.mayBecome(s)) {
                next.add(s);
            }
        }
        return next;
    }

    @Test
    void every_state_is_reached_and_every_one_may_end() {
        Set<RequestState> seen = EnumSet.of(RequestState.ARRIVED);
        Deque<RequestState> open = new ArrayDeque<>(seen);
        while (!open.isEmpty()) {
            for (RequestState next : after(open.remove())) {
                if (seen.add(next)) {
                    open.add(next);
                }
            }
        }
        assertEquals(EnumSet.allOf(RequestState.class), seen);
        for (RequestState state : EnumSet.complementOf(EnumSet.of(RequestState.OVER))) {
            assertTrue(state.mayBecome(RequestState.OVER), () -> state + " never ends");
        }
    }

    @Test
    void nothing_follows_the_end() {
        assertEquals(Set.of(), after(RequestState.OVER));
    }

    @Test
    void a_client_that_has_a_part_of_an_answer_gets_no_other_one() {
        for (RequestState begun : EnumSet.of(RequestState.ANSWERING, RequestState.MOVING)) {
            for (RequestState before :
                    EnumSet.of(RequestState.QUEUED, RequestState.ASKED, RequestState.PAUSED)) {
                assertFalse(begun.mayBecome(before), () -> begun + " to " + before);
            }
        }
    }

    @Test
    void only_a_request_that_was_let_in_is_sent() {
        for (RequestState state : RequestState.values()) {
            boolean letIn = state == RequestState.QUEUED || state == RequestState.ASKED;
            assertEquals(letIn, state.mayBecome(RequestState.ASKED), state.name());
        }
    }
}
