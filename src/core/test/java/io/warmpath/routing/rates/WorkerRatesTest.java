package io.warmpath.routing.rates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Fleets;
import io.warmpath.routing.rates.WorkerRates.Shows;
import io.warmpath.routing.rates.WorkerRates.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What is learnt from answers, and from which ones. */
class WorkerRatesTest {
    private static final LatencyPriors P = LatencyPriors.DEFAULT;
    private static final WorkerSlot SLOT = new WorkerSlot(70);

    private long now = 5_000_000_000_000L;
    private final WorkerRates rates = new WorkerRates(P, () -> now);

    private void pass(double millis) {
        now += (long) (millis * 1e6);
    }

    private static Work prefill(double millis) {
        return new Work(1000, 1000, millis, 0, 0, 0, 0, 256, 1, 1);
    }

    private void answer(Work work, double firstTokenMillis) {
        answer(SLOT, work, firstTokenMillis);
    }

    private void answer(WorkerSlot slot, Work work, double firstTokenMillis) {
        Sent s = rates.sent(slot, work, Shows.FIRST_TOKEN);
        pass(firstTokenMillis);
        s.firstToken();
        s.ended(-1);
    }

    /** Beside a fleet that is as its priors say. */
    private double prefillFactor() {
        return state().prefillFactor(FleetRates.UNSEEN);
    }

    private double decodeFactor() {
        return state().decodeFactor(FleetRates.UNSEEN);
    }

    private double loadMillis(int host, int pool) {
        return state().loadMillis(P, FleetRates.UNSEEN, host, pool);
    }

    private RateState state() {
        return rates.state(SLOT);
    }

    @Test
    void a_prompt_that_was_computed_for_another_worker_says_nothing_of_answers() {
        Work prompt = new Work(1000, 1000, 50, 0, 0, 0, 0, 0, 1, 1);
        for (int i = 0; i < 100; i++) {
            rates.sent(SLOT, prompt, Shows.FIRST_TOKEN).ended(1);
        }
        assertEquals(P.outputTokens(), rates.outputTokens());
        rates.sent(SLOT, prefill(50), Shows.FIRST_TOKEN).ended(1);
        assertTrue(rates.outputTokens() < P.outputTokens(), "the control: an answer of one token");
    }

    @Test
    void a_worker_half_as_fast_is_learnt_slowly_and_one_odd_answer_changes_little() {
        answer(prefill(500), 5_000);
        assertTrue(prefillFactor() < 1.1, "one answer ten times too late");
        for (int i = 0; i < 1000; i++) {
            answer(prefill(1000), 2000);
        }
        // 49 s of samples are kept at most, against 50 s of prior.
        assertEquals(1.5 - 0.03, prefillFactor(), 0.02);
    }

    /** The one that was tried must not look better than the others for it. */
    @Test
    void a_rank_that_was_not_tried_is_taken_for_what_its_fleet_has_shown() {
        List<Candidate> fleet = List.of(candidate(70), candidate(71));
        for (int i = 0; i < 200; i++) {
            answer(prefill(300), 100);
            pass(1000);
            FleetRates together = rates.fleet(fleet, now);
            double untried = rates.state(new WorkerSlot(71)).prefillFactor(together);
            assertEquals(untried, state().prefillFactor(together), "after " + i);
        }
        assertEquals(0.355, rates.fleet(fleet, now).prefillFactor(), 0.02);
    }

    @Test
    void a_rank_unlike_its_fleet_is_known_by_its_own_answers() {
        List<Candidate> fleet = List.of(candidate(70), candidate(71), candidate(72));
        for (int i = 0; i < 200; i++) {
            answer(new WorkerSlot(70), prefill(300), 100);
            answer(new WorkerSlot(71), prefill(300), 300);
            pass(1000);
        }
        FleetRates together = rates.fleet(fleet, now);
        double fast = rates.state(new WorkerSlot(70)).prefillFactor(together);
        double slow = rates.state(new WorkerSlot(71)).prefillFactor(together);
        double untried = rates.state(new WorkerSlot(72)).prefillFactor(together);
        assertEquals(together.prefillFactor(), untried);
        assertTrue(fast < 0.97 * untried, fast + " and " + untried);
        assertTrue(slow > 1.03 * untried, slow + " and " + untried);
    }

    private static Candidate candidate(int slot) {
        return Fleets.ranks(slot, 16, slot).getFirst();
    }

    @Test
    void answers_that_waited_for_others_teach_nothing() {
        for (int i = 0; i < 50; i++) {
            Sent first = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
            Sent second = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
            pass(100);
            first.firstToken();
            pass(900);
            second.firstToken();
            first.ended(-1);
            second.ended(-1);
        }
        assertEquals(1, prefillFactor(), 1e-9);
    }

    @Test
    void an_answer_behind_an_overdue_one_teaches_nothing() {
        Sent stuck = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
        pass(10_000);
        assertEquals(0, state().waitMillis(now), "by prediction it is long done");
        answer(prefill(100), 30_000);
        assertEquals(1, prefillFactor());
        stuck.ended(-1);
    }

    /** An answer of 100 tokens in one piece, on a worker so many times as slow as its priors. */
    private void inOnePiece(double prefillSlower, double decodeSlower, int tokens) {
        double step = P.stepMillis(1, 1000 + 128);
        Work work = new Work(1000, 1000, 100, 0, step, 0, 0, 256, 1, 1);
        Sent s = rates.sent(SLOT, work, Shows.END);
        pass(prefillSlower * 100 + decodeSlower * step * tokens);
        s.firstToken();
        s.ended(tokens);
    }

    @Test
    void answers_in_one_piece_teach_both_speeds_at_once() {
        for (int i = 0; i < 2000; i++) {
            inOnePiece(3, 3, 100);
        }
        FleetRates together = rates.fleet(List.of(candidate(70)), now);
        assertEquals(3, state().prefillFactor(together), 0.35);
        assertEquals(3, state().decodeFactor(together), 0.35);
    }

    @Test
    void what_streams_have_taught_says_how_much_of_an_answer_in_one_piece_was_prefill() {
        double step = P.stepMillis(1, 1000 + 128);
        for (int i = 0; i < 500; i++) {
            FleetRates now = rates.fleet(List.of(candidate(70)), this.now);
            double p = state().prefillFactor(now);
            double d = state().decodeFactor(now);
            Work work = new Work(1000, 1000, p * 100, 0, p * step, 0, 0, 256, p, d);
            Sent streamed = rates.sent(SLOT, work, Shows.FIRST_TOKEN);
            pass(0.25 * (100 + step));
            streamed.firstToken();
            pass(2 * step * 99);
            streamed.ended(100);
            Sent whole = rates.sent(SLOT, work, Shows.END);
            pass(0.25 * (100 + step) + 2 * step * 99);
            whole.ended(100);
        }
        FleetRates together = rates.fleet(List.of(candidate(70)), now);
        // Both at once would be taken for 1.8 and 1.8.
        assertEquals(0.32, state().prefillFactor(together), 0.06);
        assertEquals(2, state().decodeFactor(together), 0.2);
    }

    @Test
    void answers_in_one_piece_that_waited_for_others_teach_nothing() {
        for (int i = 0; i < 50; i++) {
            Sent first = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
            Sent whole = rates.sent(SLOT, prefill(100), Shows.END);
            pass(5000);
            whole.ended(100);
            first.ended(-1);
        }
        assertEquals(1, prefillFactor());
        assertEquals(1, decodeFactor());
    }

    @Test
    void the_part_of_a_worker_that_only_decodes_teaches_nothing_of_prefill() {
        for (int i = 0; i < 50; i++) {
            Sent s = rates.sent(SLOT, prefill(100), Shows.NOTHING);
            pass(5000);
            s.ended(100);
        }
        assertEquals(1, prefillFactor());
        assertEquals(1, decodeFactor());
    }

    @Test
    void a_prompt_whose_first_token_is_not_seen_is_computed_by_the_learnt_time() {
        Sent streamed = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
        assertEquals(Sent.NOT_KNOWN, streamed.prefillNanos());
        streamed.ended(1);
        Sent a = rates.sent(SLOT, prefill(100), Shows.END);
        Sent b = rates.sent(SLOT, prefill(50), Shows.END);
        assertEquals(100_000_000, a.prefillNanos());
        assertEquals(150_000_000, b.prefillNanos());
        pass(120);
        assertEquals(0, a.prefillNanos());
        assertEquals(30_000_000, b.prefillNanos());
        pass(30);
        assertEquals(0, b.prefillNanos());
        assertEquals(0, state().waitMillis(now), "one rule for the cost and the queue");
    }

    @Test
    void what_a_worker_does_shows_that_prompts_before_are_computed() {
        Sent a = rates.sent(SLOT, prefill(100), Shows.END);
        Sent b = rates.sent(SLOT, prefill(100), Shows.END);
        Sent c = rates.sent(SLOT, prefill(100), Shows.END);
        Sent d = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
        pass(10);
        b.prefilled();
        assertEquals(0, a.prefillNanos());
        assertEquals(0, b.prefillNanos());
        assertEquals(100_000_000, c.prefillNanos(), "its turn begins now");
        d.firstToken();
        assertEquals(0, c.prefillNanos());
        Sent e = rates.sent(SLOT, prefill(100), Shows.END);
        Sent f = rates.sent(SLOT, prefill(100), Shows.END);
        e.ended(-1);
        assertEquals(100_000_000, f.prefillNanos(), "it left, and takes no time");
        f.ended(7);
        assertEquals(0, f.prefillNanos());
        assertEquals(0, state().waitMillis(now));
    }

    @Test
    void an_answer_without_a_first_token_teaches_nothing_and_leaves_nothing() {
        Sent s = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
        pass(5000);
        s.ended(-1);
        assertEquals(1, prefillFactor());
        assertEquals(0, state().pending());
        assertEquals(0, state().waitMillis(now));
    }

    @Test
    void loading_rates_are_learnt_from_what_is_left_of_the_time() {
        // 15,000 tokens at 75,000 a second instead of 150,000: 200 ms on top of the computation.
        Work host = new Work(16_000, 1000, 100, 100, 0, 15_000, 0, 256, 1, 1);
        for (int i = 0; i < 2000; i++) {
            answer(host, 300);
        }
        assertTrue(loadMillis(15_000, 0) > 136, "host " + loadMillis(15_000, 0));
        assertEquals(200, loadMillis(0, 15_000), 1e-9);
        assertEquals(1, prefillFactor(), "loading is not taken for slow computing");
        Work pool = new Work(16_000, 1000, 100, 100, 0, 0, 15_000, 256, 1, 1);
        for (int i = 0; i < 2000; i++) {
            answer(pool, 200);
        }
        assertTrue(loadMillis(0, 15_000) < 150, "pool " + loadMillis(0, 15_000));
    }

    /** An answer of 256 tokens, at half the speed; meanwhile others' prompts take their time. */
    private void decodeSlowly(int prompts, double promptMillis) {
        double step = P.stepMillis(1, 1000 + 128);
        Sent s = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
        pass(107.5);
        s.firstToken();
        for (int i = 0; i < prompts; i++) {
            Sent other = rates.sent(SLOT, prefill(promptMillis), Shows.FIRST_TOKEN);
            pass(promptMillis);
            other.firstToken();
            other.ended(-1);
        }
        pass(2 * 255 * step);
        s.ended(256);
    }

    @Test
    void decoding_is_learnt_beside_the_prompts_of_others() {
        for (int i = 0; i < 1000; i++) {
            decodeSlowly(i % 10, 100);
        }
        assertEquals(1.66 - 0.03, decodeFactor(), 0.05);
    }

    @Test
    void an_answer_whose_time_others_prompts_took_teaches_nothing_of_decoding() {
        decodeSlowly(1, 5_000);
        assertEquals(1, decodeFactor());
        decodeSlowly(1, 3_000);
        assertTrue(decodeFactor() > 1, "the control");
    }

    @Test
    void a_short_answer_teaches_nothing_of_decoding() {
        for (int i = 0; i < 100; i++) {
            Sent s = rates.sent(SLOT, prefill(100), Shows.FIRST_TOKEN);
            pass(107.5);
            s.firstToken();
            pass(10_000);
            s.ended(15);
        }
        assertEquals(1, decodeFactor());
    }

    @Test
    void factors_stay_within_bounds() {
        for (int i = 0; i < 100; i++) {
            answer(prefill(1), 10_000_000);
        }
        assertEquals(50, prefillFactor());
        for (int i = 0; i < 3000; i++) {
            answer(prefill(1_000_000), 1);
        }
        FleetRates fast = new FleetRates(0, 0, 0.02, 1, 1, 1, 0);
        assertEquals(0.02, state().prefillFactor(fast));
    }

    @Test
    void prefill_that_is_not_seen_ends_by_the_clock() {
        Sent a = rates.sent(SLOT, prefill(100), Shows.END);
        Sent b = rates.sent(SLOT, prefill(50), Shows.END);
        assertEquals(150, state().waitMillis(now), 1e-6);
        pass(120);
        assertEquals(30, state().waitMillis(now), 1e-6);
        pass(120);
        assertEquals(0, state().waitMillis(now));
        a.ended(-1);
        b.ended(-1);
    }

    @Test
    void an_answer_that_is_over_has_been_computed_whatever_the_clock_says() {
        Sent a = rates.sent(SLOT, prefill(100), Shows.END);
        Sent b = rates.sent(SLOT, prefill(50), Shows.END);
        Sent c = rates.sent(SLOT, prefill(30), Shows.END);
        pass(20);
        b.ended(5);
        assertEquals(30, state().waitMillis(now), 1e-6, "that of c: a came before b");
        a.ended(5);
        c.ended(5);
        assertEquals(0, state().waitMillis(now));
        rates.sent(SLOT, prefill(40), Shows.END);
        assertEquals(40, state().waitMillis(now), 1e-6);
    }

    /** Whatever the order of events, nothing is left when all have ended. */
    @Test
    void nothing_is_left_when_all_requests_have_ended() {
        long seed = 42;
        SplittableRandom random = new SplittableRandom(seed);
        List<Sent> open = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            pass(random.nextDouble() * 50);
            int what = random.nextInt(3);
            if (what == 0 || open.isEmpty()) {
                open.add(
                        rates.sent(
                                SLOT,
                                prefill(random.nextDouble() * 300),
                                random.nextBoolean() ? Shows.FIRST_TOKEN : Shows.END));
            } else if (what == 1) {
                open.get(random.nextInt(open.size())).firstToken();
            } else {
                open.remove(random.nextInt(open.size())).ended(random.nextInt(-1, 400));
            }
            assertTrue(state().waitMillis(now) >= 0, "seed " + seed + ", step " + i);
        }
        open.forEach(s -> s.ended(-1));
        assertEquals(0, state().requests(), "seed " + seed);
        assertEquals(0, state().promptTokens());
        assertEquals(0, state().pending());
        assertEquals(0, state().pendingMillis());
    }
}
