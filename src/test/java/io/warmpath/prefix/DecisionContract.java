package io.warmpath.prefix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every {@link PrefixIndex} promises about slots that are filled by decisions. */
public abstract class DecisionContract {
    private static final int B = PrefixIndexContract.B;
    protected static final DecisionLimits LIMITS = new DecisionLimits(1000, 60);

    private PrefixIndex index;
    private WorkerSlot a;

    protected abstract PrefixIndex create(DecisionLimits limits);

    @BeforeEach
    final void createIndex() {
        index = create(LIMITS);
        a = index.openApproximate(0);
    }

    @AfterEach
    final void closeIndex() {
        index.close();
    }

    // ---- words for the tests

    private static PrefixQuery query(int... blocks) {
        int[] tokens = PrefixIndexContract.prompt(blocks);
        return new PrefixQuery(tokens, tokens.length, B, PrefixSpace.NONE);
    }

    private long decide(WorkerSlot slot, long nowMillis, int... blocks) {
        return index.decide(slot, query(blocks), nowMillis);
    }

    private void assertDepth(int depth, WorkerSlot slot, int... blocks) {
        PrefixMatch match = index.match(query(blocks));
        for (Tier tier : Tier.values()) {
            assertEquals(depth, match.depth(slot, tier), () -> "depth in " + tier);
        }
    }

    private static PrefixEvent stored(WorkerSlot slot, long firstHash, int... blocks) {
        long[] hashes = IntStream.range(0, blocks.length).mapToLong(i -> firstHash + i).toArray();
        return new PrefixEvent.Stored(
                slot,
                Tier.GPU,
                false,
                0,
                hashes,
                PrefixIndexContract.prompt(blocks),
                B,
                PrefixSpace.NONE);
    }

    private ApplyResult apply(PrefixEvent event) {
        return index.apply(List.of(event));
    }

    // ---- the promises

    @Test
    void a_slot_holds_what_was_decided_for_it() {
        WorkerSlot b = index.openApproximate(0);
        assertEquals(4, decide(a, 0, 1, 2, 3, 4));
        assertDepth(4, a, 1, 2, 3, 4, 5);
        assertDepth(2, a, 1, 2, 9);
        assertDepth(0, b, 1, 2, 3, 4);
        assertEquals(4, index.stats().residencies());
        assertEquals(4, index.slotBlocks().in(a, Tier.GPU));
        assertEquals(0, index.slotBlocks().in(a, Tier.HOST));
        assertEquals(0, index.slotBlocks().in(b, Tier.GPU));
        assertEquals(1, index.stats().decisions());
    }

    @Test
    void a_decision_lasts_until_it_is_exactly_its_time_to_live_old() {
        decide(a, 500, 1, 2, 3);
        assertEquals(0, index.expire(500 + LIMITS.ttlMillis() - 1));
        assertDepth(3, a, 1, 2, 3);
        assertEquals(1, index.expire(500 + LIMITS.ttlMillis()));
        assertDepth(0, a, 1, 2, 3);
        assertEquals(1, index.stats().decisionsEndedByTime());
        assertEquals(0, index.stats().decisions());
        assertEquals(0, index.stats().residencies());
        assertEquals(0, index.slotBlocks().in(a, Tier.GPU));
    }

    @Test
    void a_repeated_prompt_lasts_from_its_latest_decision() {
        decide(a, 0, 1, 2, 3);
        assertEquals(0, decide(a, 600, 1, 2, 3));
        assertEquals(0, index.expire(LIMITS.ttlMillis()));
        assertDepth(3, a, 1, 2, 3);
        assertEquals(1, index.expire(600 + LIMITS.ttlMillis()));
        assertDepth(0, a, 1, 2, 3);
    }

    @Test
    void what_two_decisions_share_lasts_as_long_as_the_later_one() {
        decide(a, 0, 1, 2, 3, 4);
        assertEquals(1, decide(a, 600, 1, 2, 9));
        assertEquals(2, index.stats().decisions());
        index.expire(LIMITS.ttlMillis());
        assertDepth(2, a, 1, 2, 3, 4);
        assertDepth(3, a, 1, 2, 9);
        index.expire(600 + LIMITS.ttlMillis());
        assertDepth(0, a, 1, 2, 9);
    }

    @Test
    void above_the_capacity_the_oldest_end_and_no_more_than_needed() {
        int[][] prompts = new int[7][];
        for (int p = 0; p < prompts.length; p++) {
            int first = 100 * (p + 1);
            prompts[p] = IntStream.range(first, first + 10).toArray();
        }
        for (int p = 0; p < 6; p++) {
            decide(a, p, prompts[p]);
        }
        assertEquals(LIMITS.capacity(), index.stats().residencies());
        decide(a, 6, prompts[0]); // the youngest again
        decide(a, 7, prompts[6]);
        assertDepth(10, a, prompts[0]);
        assertDepth(0, a, prompts[1]);
        assertDepth(10, a, prompts[2]);
        assertDepth(10, a, prompts[6]);
        assertEquals(1, index.stats().decisionsEndedByCapacity());
        assertEquals(0, index.stats().decisionsEndedByTime());
    }

    @Test
    void a_prompt_beyond_the_capacity_is_cut_to_it() {
        int[] all = IntStream.range(1, 2 + (int) LIMITS.capacity()).toArray();
        assertEquals(LIMITS.capacity(), decide(a, 0, all));
        assertDepth((int) LIMITS.capacity(), a, all);
    }

    @Test
    void events_that_store_or_remove_are_ignored() {
        decide(a, 0, 1, 2);
        assertEquals(new ApplyResult(0, 0, 0, 1), apply(stored(a, 7, 5, 6)));
        assertEquals(
                new ApplyResult(0, 0, 0, 1),
                apply(new PrefixEvent.Removed(a, Tier.GPU, new long[] {7})));
        assertDepth(2, a, 1, 2);
        assertDepth(0, a, 5, 6);
        assertEquals(0, index.stats().orphans());
    }

    @Test
    void clearing_the_slot_ends_its_decisions() {
        WorkerSlot b = index.openApproximate(0);
        decide(a, 0, 1, 2, 3);
        decide(b, 0, 1, 2, 3);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(new PrefixEvent.Cleared(a, Tier.HOST)));
        assertDepth(3, a, 1, 2, 3);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(new PrefixEvent.Cleared(a, Tier.GPU)));
        assertDepth(0, a, 1, 2, 3);
        assertDepth(3, b, 1, 2, 3);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(new PrefixEvent.Cleared(b, null)));
        assertDepth(0, b, 1, 2, 3);
        assertEquals(0, index.stats().decisions());
    }

    @Test
    void events_and_decisions_share_content_and_end_apart() {
        WorkerSlot told = index.open(0);
        decide(a, 0, 1, 2, 3);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(stored(told, 7, 1, 2)));
        assertEquals(3, index.stats().blocks());
        index.expire(LIMITS.ttlMillis());
        assertDepth(2, told, 1, 2, 3);
        decide(a, LIMITS.ttlMillis(), 1, 2, 3);
        apply(new PrefixEvent.Removed(told, Tier.GPU, new long[] {8}));
        assertDepth(1, told, 1, 2, 3);
        assertDepth(3, a, 1, 2, 3);
    }

    @Test
    void only_open_approximate_slots_take_decisions() {
        WorkerSlot told = index.open(0);
        assertThrows(IllegalStateException.class, () -> decide(told, 0, 1));
        decide(a, 0, 1);
        index.close(a);
        assertEquals(0, index.stats().decisions());
        assertThrows(IllegalStateException.class, () -> decide(a, 0, 1));
        WorkerSlot next = index.open(0);
        assertEquals(a.index(), next.index());
        assertThrows(IllegalStateException.class, () -> decide(next, 0, 1));
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(stored(next, 7, 1)));
    }

    @Test
    void a_clock_that_goes_back_counts_as_its_latest_time() {
        decide(a, 5000, 1);
        decide(a, 10, 2);
        assertEquals(0, index.expire(5000 + LIMITS.ttlMillis() - 1));
        assertEquals(2, index.expire(5000 + LIMITS.ttlMillis()));
    }

    @Test
    void a_prompt_of_no_complete_block_decides_nothing() {
        assertEquals(
                0, index.decide(a, new PrefixQuery(new int[] {1, 2}, 2, B, PrefixSpace.NONE), 0));
        assertEquals(0, index.stats().decisions());
    }

    @Test
    void random_decisions_are_those_of_the_literal_index() {
        for (long seed = 1; seed <= 20; seed++) {
            Random random = new Random(seed);
            try (PrefixIndex mine = create(LIMITS);
                    PrefixIndex literal = new ReferencePrefixIndex(100, LIMITS)) {
                WorkerSlot[] slots = new WorkerSlot[3];
                for (int i = 0; i < slots.length; i++) {
                    slots[i] = mine.openApproximate(0);
                    literal.openApproximate(0);
                }
                long now = 0;
                for (int step = 0; step < 300; step++) {
                    String where = "seed " + seed + ", step " + step;
                    now += random.nextInt(100);
                    WorkerSlot slot = slots[random.nextInt(slots.length)];
                    int[] blocks = random.ints(1 + random.nextInt(20), 0, 2).toArray();
                    PrefixQuery prompt = query(blocks);
                    switch (random.nextInt(8)) {
                        case 0 -> assertEquals(literal.expire(now), mine.expire(now), where);
                        case 1 -> {
                            List<PrefixEvent> cleared =
                                    List.of(new PrefixEvent.Cleared(slot, Tier.GPU));
                            assertEquals(literal.apply(cleared), mine.apply(cleared), where);
                        }
                        default ->
                                assertEquals(
                                        literal.decide(slot, prompt, now),
                                        mine.decide(slot, prompt, now),
                                        where);
                    }
                    PrefixMatch expected = literal.match(prompt);
                    PrefixMatch match = mine.match(prompt);
                    for (WorkerSlot s : slots) {
                        assertEquals(expected.depth(s, Tier.GPU), match.depth(s, Tier.GPU), where);
                    }
                    assertEquals(literal.stats().decisions(), mine.stats().decisions(), where);
                    assertEquals(literal.stats().residencies(), mine.stats().residencies(), where);
                }
            }
        }
    }
}
