package io.warmpath.routing.rates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.rates.WorkerRates.Shows;
import io.warmpath.routing.rates.WorkerRates.Work;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The arithmetic; that 1 means what it says is the lab's to show ({@code PressureCurveTest}). */
class FleetPressureTest {
    /** A step takes 10 ms and 0.5 ms for each answer in it. */
    private static final LatencyPriors P = new LatencyPriors(10, 0.5, 0, 1, 0, 1e5, 1e5, 1, 100);

    private static final int BLOCK = 10;
    private static final int PROMPT = 400;
    private static final double MINUTE = 60_000;

    /** 600 ms of prefill, an answer of 100 tokens: 50 ms of growth. */
    private static final Work WORK = new Work(PROMPT, PROMPT, 600, 0, 10, 0, 0, 100, 1, 1);

    private long now = 7 * ArrivingWork.WINDOW_NANOS;
    private final WorkerRates rates = new WorkerRates(P, () -> now);
    private final LoadTracker loads = new LoadTracker(() -> now, LoadOptions.DEFAULT, 3);

    private void pass(double seconds) {
        now += (long) (seconds * 1e9);
    }

    /** Ranks with room for 1,000 tokens each, of workers of their own; 0 blocks: not known. */
    private static List<Candidate> ranks(int count, int blocks) {
        List<Candidate> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(i));
            Worker worker =
                    Worker.builder(i, "w" + i, URI.create("http://w" + i))
                            .models(Set.of("m"))
                            .blockSize(BLOCK)
                            .ranks(List.of(rank))
                            .capacity(new Capacity(0, blocks))
                            .build();
            all.add(new Candidate(worker, 0, rank.slot()));
        }
        return all;
    }

    private FleetPressure pressure(int ranks, int blocks) {
        return FleetPressure.of(ranks(ranks, blocks), rates, P, loads);
    }

    private Sent send() {
        return rates.sent(new WorkerSlot(0), WORK, Shows.FIRST_TOKEN);
    }

    /** One whose prompt is computed: it waits for nothing. */
    private void come() {
        rates.sent(new WorkerSlot(0), WORK, Shows.END).prefilled();
    }

    @Test
    void a_request_takes_its_room_for_as_many_steps_as_its_answer_is_long() {
        come();
        FleetPressure p = pressure(1, 100);
        assertEquals(600 / MINUTE, p.prefill(), 1e-9);
        assertEquals(50 / MINUTE, p.decode(), 1e-9);
        // 500 tokens of 1,000 for 100 steps are 50 full steps; one of them computes the prompt.
        assertEquals(490 / MINUTE, p.steps(), 1e-9);
        assertEquals(0, p.waiting());
        assertEquals(1140 / MINUTE, p.value(), 1e-9);
        assertEquals(1140 / MINUTE / 2, pressure(2, 100).value(), 1e-9, "two ranks");
    }

    @Test
    void without_a_known_room_steps_are_not_among_it() {
        come();
        assertEquals(650 / MINUTE, pressure(1, 0).value(), 1e-9);
    }

    @Test
    void a_prefix_that_several_share_takes_room_once() {
        long[] chain = new long[PROMPT / BLOCK];
        for (int i = 0; i < chain.length; i++) {
            chain[i] = i + 1L;
        }
        PromptBlocks same = new PromptBlocks(BLOCK, PROMPT, chain, true);
        for (int i = 0; i < 2; i++) {
            loads.book(new WorkerSlot(0), PROMPT, same, 0);
            come();
        }
        // 40 blocks for both: half a prompt and an answer each, 300 tokens of 1,000 for 100 steps.
        assertEquals((2 * 300 - 2 * 10) / MINUTE, pressure(1, 100).steps(), 1e-9);
    }

    @Test
    void what_waits_for_its_first_token_counts_until_it_has_it() {
        List<Sent> queue = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
            queue.add(send());
        }
        pass(121);
        FleetPressure p = pressure(1, 100);
        assertEquals(0, p.prefill() + p.decode() + p.steps(), 1e-9, "nothing comes any more");
        assertEquals(120 * 1140 / MINUTE, p.waiting(), 1e-9);
        queue.subList(1, 31).forEach(Sent::firstToken);
        queue.get(31).ended(-1);
        assertEquals(89 * 1140 / MINUTE, pressure(1, 100).waiting(), 1e-9);
    }

    @Test
    void who_has_waited_longer_than_its_work_takes_had_more_before_it_than_was_thought() {
        send();
        pass(40);
        assertEquals(40_000 / MINUTE, pressure(1, 100).waiting(), 1e-9);
        pass(400);
        assertEquals(1, pressure(1, 100).waiting(), 1e-9, "a minute at most");
    }

    @Test
    void what_comes_evenly_is_always_the_same() {
        for (int second = 0; second < 300; second++) {
            come();
            pass(1);
            if (second > 120) {
                assertEquals(0.6, pressure(1, 0).prefill(), 0.011, "after " + second);
            }
        }
    }

    @Test
    void a_fleet_half_as_fast_as_its_priors_has_twice_the_pressure() {
        for (int i = 0; i < 500; i++) {
            Sent s = send();
            pass(1.22); // (600 + 10) ms twice
            s.firstToken();
            s.ended(-1);
        }
        pass(200);
        come();
        assertEquals(1200 / MINUTE, pressure(1, 0).prefill(), 12 / MINUTE);
    }

    @Test
    void what_other_gateways_send_counts_once_and_not_when_it_was_prefilled_before() {
        rates.sentByPeer(new WorkerSlot(0), 600, PROMPT, 0, false).firstToken();
        rates.sentByPeer(new WorkerSlot(0), 600, PROMPT, 0, true);
        assertEquals(650 / MINUTE, pressure(1, 0).value(), 1e-9);
    }

    @Test
    void of_a_request_that_another_gateway_has_split_each_worker_has_its_half() {
        Sent prefill = rates.sentByPeer(new WorkerSlot(0), 600, PROMPT, 1, false);
        Sent decode = rates.sentByPeer(new WorkerSlot(1), 0, PROMPT, 0, false);
        FleetPressure computes = pressure(1, 0);
        assertEquals(600 / MINUTE, computes.prefill(), 1e-9);
        assertEquals(0.5 / MINUTE, computes.decode(), 1e-9, "one token");
        pass(40);
        FleetPressure answers = FleetPressure.of(ranks(2, 0).subList(1, 2), rates, P, loads);
        assertEquals(50 / MINUTE, answers.value(), 1e-9, "it waits for the other worker");
        prefill.ended(-1);
        decode.ended(-1);
        assertEquals(100, rates.outputTokens(), "nothing is learnt of answers' lengths");
    }

    @Test
    void there_is_none_without_ranks() {
        assertThrows(IllegalArgumentException.class, () -> pressure(0, 100));
    }
}
