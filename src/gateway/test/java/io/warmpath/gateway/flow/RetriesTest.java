package io.warmpath.gateway.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetriesTest {
    private long now = 5;

    private Retries retries(double share, int perSecond) {
        return new Retries(new Retries.Options(2, share, perSecond, 95, 0.1), () -> now);
    }

    private int taken(Retries retries, int most) {
        int n = 0;
        while (n < most && retries.mayRetry()) {
            n++;
        }
        return n;
    }

    @Test
    void retries_are_a_share_of_the_requests_of_the_last_ten_seconds() {
        Retries retries = retries(0.2, 0);
        assertFalse(retries.mayRetry());
        for (int second = 0; second < 10; second++) {
            for (int i = 0; i < 100; i++) {
                retries.request();
            }
            now += Duration.ofSeconds(1).toNanos();
        }
        now -= Duration.ofSeconds(1).toNanos();
        assertEquals(200, taken(retries, 1000));
        now += Duration.ofSeconds(5).toNanos();
        assertFalse(retries.mayRetry(), "half of the requests are forgotten, the retries are not");
        now += Duration.ofSeconds(20).toNanos();
        assertFalse(retries.mayRetry());
        for (int i = 0; i < 10; i++) {
            retries.request();
        }
        assertEquals(2, taken(retries, 1000));
    }

    @Test
    void a_quiet_gateway_may_retry_too() {
        Retries retries = retries(0, 3);
        assertEquals(30, taken(retries, 1000));
        now += Duration.ofSeconds(10).toNanos();
        assertEquals(30, taken(retries, 1000));
    }

    @Test
    void a_worker_that_has_begun_costs_budget_and_counts() {
        Retries retries = retries(0, 0);
        RetryState tries = new RetryState(2);
        assertEquals(Retries.Verdict.ELSEWHERE, retries.failed(tries, 1, false, false));
        assertEquals(Retries.Verdict.NO_BUDGET, retries.failed(tries, 2, true, false));
        assertEquals(List.of(1L, 2L), tries.failed());
        assertEquals(Retries.Verdict.NO_OTHER, retries.failed(tries, 3, true, false));
    }

    @Test
    void whoever_is_bound_to_its_worker_uses_no_budget() {
        Retries retries = new Retries(new Retries.Options(3, 0, 1, 0, 0), () -> now);
        for (int i = 0; i < 20; i++) {
            assertEquals(
                    Retries.Verdict.NO_OTHER, retries.failed(new RetryState(3), 1, true, true));
        }
        assertEquals(10, taken(retries, 100));
    }

    @Test
    void the_time_until_a_hedge_is_the_percentile_of_what_was_seen_lately() {
        Retries retries = retries(0.2, 0);
        for (int i = 1; i < 100; i++) {
            retries.firstToken("m", Duration.ofMillis(i).toNanos());
        }
        assertEquals(-1, retries.hedgeNanos("m"), "too few are known");
        retries.firstToken("m", Duration.ofMillis(100).toNanos());
        long at = retries.hedgeNanos("m");
        assertTrue(at >= 95_000_000 && at < 95_000_000 * 1.1, () -> at + " ns");
        assertEquals(-1, retries.hedgeNanos("other"));
        for (int i = 0; i < 60_000; i++) {
            retries.firstToken("m", 1_000_000);
        }
        assertTrue(retries.hedgeNanos("m") < 1_200_000, "what was is forgotten");
    }

    @Test
    void what_is_sent_once_is_not_sent_again_even_where_nobody_has_begun() {
        Retries once = Retries.none(() -> now);
        assertFalse(once.again());
        assertEquals(Retries.Verdict.NO_OTHER, once.failed(new RetryState(1), 1, false, false));
        assertTrue(retries(0, 0).again());
    }
}
