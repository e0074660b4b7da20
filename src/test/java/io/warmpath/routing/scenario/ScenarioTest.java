package io.warmpath.routing.scenario;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Complaints about other routers, one test each: what our rule makes of the workload, and that the
 * naive rule fails it. {@link ScenarioTable} prints all numbers; those of rules that do not do well
 * are in src/perf/RESULTS.md too.
 */
class ScenarioTest {
    private static final long SEED = 1;

    /** Everything was answered, and nothing is left booked, cached blocks apart. */
    private static Outcome clean(Outcome outcome) {
        assertTrue(outcome.idle(), () -> "not idle at the end: " + outcome);
        assertEquals(0, outcome.unanswered(), outcome::toString);
        return outcome;
    }

    private static void assertAtMost(double limit, double value, Object outcome) {
        assertTrue(value <= limit, () -> value + " is above " + limit + ": " + outcome);
    }

    private static void assertAtLeast(double limit, double value, Object outcome) {
        assertTrue(value >= limit, () -> value + " is below " + limit + ": " + outcome);
    }

    /** Each worker's share is within these. */
    private static void assertShares(double least, double most, Outcome outcome) {
        for (int w = 0; w < outcome.workers(); w++) {
            assertAtLeast(least, outcome.share(w), outcome);
            assertAtMost(most, outcome.share(w), outcome);
        }
    }

    @Test
    void equal_seeds_give_equal_runs() {
        Outcome one = Scenarios.imbalance(Setting.LATENCY, SEED);
        Outcome other = Scenarios.imbalance(Setting.LATENCY, SEED);
        assertEquals(one.toString(), other.toString());
        assertArrayEquals(
                one.requests().stream().mapToInt(Lab.Request::worker).toArray(),
                other.requests().stream().mapToInt(Lab.Request::worker).toArray());
    }

    @Test
    void equal_scores_do_not_all_land_on_worker_0() {
        Outcome naive = clean(Scenarios.equalScores(Naive.FIRST_OF_EQUALS, SEED));
        assertEquals(1, naive.share(0), "the control: " + naive);
        Outcome ours = clean(Scenarios.equalScores(Setting.KV, SEED));
        double expected = ours.total() / 4.0;
        double chiSquare =
                Arrays.stream(ours.spread())
                        .mapToDouble(n -> (n - expected) * (n - expected) / expected)
                        .sum();
        assertAtMost(16.27, chiSquare, ours); // 3 degrees of freedom, once in a thousand
        assertShares(0.2, 0.3, clean(Scenarios.equalScores(Setting.LATENCY, SEED)));
    }

    /** The one that was tried first is known to be fast; the others are no worse. */
    @Test
    void an_idle_fleet_that_is_faster_than_its_priors_is_used_evenly() {
        Outcome naive = clean(Scenarios.fasterThanThought(Naive.FIRST_OF_EQUALS, SEED));
        assertEquals(1, naive.share(0), "the control: " + naive);
        for (long seed = SEED; seed < SEED + 3; seed++) {
            assertShares(0.2, 0.3, clean(Scenarios.fasterThanThought(Setting.LATENCY, seed)));
        }
    }

    @Test
    void an_idle_fleet_finds_its_fast_worker() {
        Outcome naive = clean(Scenarios.idleUnequal(Setting.ROUND_ROBIN, SEED));
        assertEquals(0.25, naive.share(0), "the control: " + naive);
        for (long seed = SEED; seed < SEED + 3; seed++) {
            Outcome ours = clean(Scenarios.idleUnequal(Setting.LATENCY, seed));
            assertAtLeast(0.8, ours.share(0), ours);
            assertAtMost(0.8 * naive.meanFirst(), ours.meanFirst(), ours);
        }
    }

    /** What comes of the equal scores: three caches stand empty. */
    @Test
    void an_idle_fleet_uses_all_of_its_caches() {
        Outcome naive = clean(Scenarios.idleDocuments(Naive.FIRST_OF_EQUALS, SEED));
        assertAtMost(0.65, naive.hitRate(), "the control: " + naive);
        for (Setting setting : new Setting[] {Setting.KV, Setting.LATENCY}) {
            Outcome ours = clean(Scenarios.idleDocuments(setting, SEED));
            assertAtLeast(0.85, ours.hitRate(), ours); // the first sight of a document is no hit
            assertAtMost(naive.meanFirst() / 2, ours.meanFirst(), ours);
        }
    }

    @Test
    void bursts_of_32k_prompts_with_one_token_to_answer_spread() {
        Outcome naive = clean(Scenarios.bursts(Naive.COUNTED_AT_FIRST_TOKEN, SEED));
        assertEquals(1, naive.share(0), "the control: " + naive);
        for (Setting setting :
                new Setting[] {
                    Setting.KV, Setting.KV_PREDICTED, Setting.KV_QUEUE, Setting.LATENCY
                }) {
            Outcome ours = clean(Scenarios.bursts(setting, SEED));
            assertShares(0.25, 0.25, ours);
            assertAtMost(naive.meanFirst() / 3, ours.meanFirst(), ours);
        }
    }

    @Test
    void a_shared_system_prompt_does_not_pin_everyone_to_one_worker() {
        Outcome naive = clean(Scenarios.systemPrompt(Naive.LONGEST_PREFIX, SEED));
        assertEquals(1, naive.share(0), "the control: " + naive);
        Outcome even = clean(Scenarios.systemPrompt(Setting.ROUND_ROBIN, SEED));
        for (Setting setting : new Setting[] {Setting.KV, Setting.KV_PREDICTED, Setting.LATENCY}) {
            Outcome ours = clean(Scenarios.systemPrompt(setting, SEED));
            assertShares(0.2, 0.3, ours);
            assertAtMost(naive.meanFirst() / 50, ours.meanFirst(), ours);
            // Where all prompts are alike, taking turns is hard to beat.
            assertAtMost(even.meanFirst() * 1.2, ours.meanFirst(), ours);
        }
    }

    @Test
    void a_new_worker_gets_traffic_at_once() {
        Outcome naive = clean(Scenarios.newWorker(Naive.LONGEST_PREFIX, SEED));
        assertEquals(0, naive.spread()[4], "the control: " + naive);
        for (Setting setting : new Setting[] {Setting.KV, Setting.KV_SCALE_8, Setting.LATENCY}) {
            Outcome ours = clean(Scenarios.newWorker(setting, SEED));
            assertAtMost(3, ours.before(4), ours);
            assertShares(0.15, 0.25, ours);
        }
    }

    /** The default sends it three requests of five until it has as many answers to decode. */
    @Test
    void a_new_worker_is_flooded_less_where_prefill_weighs_more() {
        double byDefault = ScenarioTable.first5(Scenarios.newWorker(Setting.KV, SEED)).meanFirst();
        double scaled =
                ScenarioTable.first5(Scenarios.newWorker(Setting.KV_SCALE_8, SEED)).meanFirst();
        double latency =
                ScenarioTable.first5(Scenarios.newWorker(Setting.LATENCY, SEED)).meanFirst();
        assertAtMost(byDefault / 2, scaled, "default " + byDefault);
        assertAtMost(byDefault / 2, latency, "default " + byDefault);
    }

    @Test
    void a_worker_that_is_four_times_as_fast_gets_most_of_the_traffic() {
        Outcome naive = clean(Scenarios.unequalWorkers(Setting.ROUND_ROBIN, SEED));
        assertEquals(0.5, naive.share(0), "the control: " + naive);
        for (Setting setting : new Setting[] {Setting.KV, Setting.LATENCY}) {
            Outcome ours = clean(Scenarios.unequalWorkers(setting, SEED));
            assertAtLeast(0.7, ours.share(0), ours);
            assertAtLeast(0.1, ours.share(1), ours);
            assertAtMost(naive.meanFirst() / 10, ours.meanFirst(), ours);
        }
    }

    /** The most that can be hit here is 82 of 100 tokens. */
    @Test
    void affinity_survives_imbalance() {
        Outcome naive = clean(Scenarios.imbalance(Naive.DROPS_AFFINITY, SEED));
        Outcome latency = clean(Scenarios.imbalance(Setting.LATENCY, SEED));
        Outcome scaled = clean(Scenarios.imbalance(Setting.KV_SCALE_8, SEED));
        Outcome agentic = clean(Scenarios.imbalance(Setting.AGENTIC, SEED));
        Outcome byDefault = clean(Scenarios.imbalance(Setting.KV, SEED));
        assertAtMost(0.6, naive.hitRate(), "the control: " + naive);
        assertAtLeast(0.78, latency.hitRate(), latency);
        assertAtMost(naive.meanFirst() / 2, latency.meanFirst(), latency);
        assertAtLeast(0.7, scaled.hitRate(), scaled);
        assertAtLeast(0.7, agentic.hitRate(), agentic);
        assertAtMost(naive.meanFirst() / 2, agentic.meanFirst(), agentic);
        // The default leaves its caches as often as the control, but for shorter queues.
        assertAtMost(naive.meanFirst() * 0.8, byDefault.meanFirst(), byDefault);
    }

    @Test
    void a_stuck_worker_stops_getting_new_requests() {
        Outcome naive = Scenarios.stuckWorker(Naive.SMALLEST_TREE, SEED);
        assertAtLeast(450, ScenarioTable.stuck(naive, 10_000), "the control: " + naive);
        Outcome ours = Scenarios.stuckWorker(Setting.KV, SEED);
        assertAtMost(6, ScenarioTable.stuck(ours, 0), ours);
        assertAtMost(2, ScenarioTable.stuck(ours, 10_000), ours);
        Outcome latency = Scenarios.stuckWorker(Setting.LATENCY, SEED);
        assertAtMost(3, ScenarioTable.stuck(latency, 0), latency);
        assertEquals(0, ScenarioTable.stuck(latency, 10_000), latency::toString);
    }

    /** Means of 16 seeds: one run of 400 requests is known to some 4 % only. */
    @Test
    void kv_mode_is_not_slower_than_round_robin_where_a_quarter_is_shared() {
        double even = meanFirst(Setting.ROUND_ROBIN, 16);
        assertEquals(627, even, 60, "as reported there");
        assertAtLeast(1.5 * even, meanFirst(Naive.LONGEST_PREFIX, 4), "the control");
        assertAtMost(even, meanFirst(Setting.KV, 16), "round-robin " + even);
        assertAtMost(even, meanFirst(Setting.LATENCY, 16), "round-robin " + even);
    }

    private static double meanFirst(Setting setting, int seeds) {
        return LongStream.rangeClosed(1, seeds)
                .mapToDouble(seed -> clean(Scenarios.quarterShared(setting, seed)).meanFirst())
                .average()
                .orElseThrow();
    }
}
