package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.session.PrefillBudget.Options;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PrefillBudgetTest {
    private static final long SECOND = 1_000_000_000;

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - SECOND / 2); // will overflow
    private final PrefillBudget budget = new PrefillBudget(new Options(2, 1000, 500), now::get);

    @Test
    void so_many_run_at_once_on_each_worker() {
        assertTrue(budget.take(1, 10));
        assertTrue(budget.take(1, 10));
        assertFalse(budget.take(1, 10));
        assertTrue(budget.take(2, 10), "another worker");
        budget.done(1);
        assertTrue(budget.take(1, 10));
    }

    @Test
    void so_many_tokens_pass_in_a_second() {
        assertTrue(budget.take(1, 900));
        budget.done(1);
        assertFalse(budget.take(1, 200));
        now.addAndGet(SECOND / 10);
        assertTrue(budget.take(1, 200));
        budget.done(1);
        assertFalse(budget.take(1, 1));
    }

    @Test
    void what_is_saved_up_is_one_second() {
        now.addAndGet(100 * SECOND);
        assertTrue(budget.take(1, 1000));
        budget.done(1);
        assertFalse(budget.take(1, 1));
    }

    @Test
    void a_long_prompt_passes_a_full_account_and_leaves_a_debt() {
        assertTrue(budget.take(1, 5000));
        budget.done(1);
        now.addAndGet(4 * SECOND);
        assertFalse(budget.take(1, 1), "4,000 of them are paid");
        now.addAndGet(SECOND / 100);
        assertTrue(budget.take(1, 1));
    }

    @Test
    void a_worker_with_a_backlog_is_busy() {
        assertFalse(budget.isBusy(500));
        assertTrue(budget.isBusy(501));
    }

    @Test
    void none_is_allowed_when_it_is_off() {
        PrefillBudget off = PrefillBudget.off();
        assertFalse(off.on());
        assertFalse(off.take(1, 1));
    }

    @Test
    void giving_back_what_was_not_taken_is_a_bug() {
        assertThrows(IllegalStateException.class, () -> budget.done(1));
    }
}
