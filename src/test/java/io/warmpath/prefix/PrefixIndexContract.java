package io.warmpath.prefix;

import static io.warmpath.prefix.Tier.DISK;
import static io.warmpath.prefix.Tier.EXTERNAL;
import static io.warmpath.prefix.Tier.GPU;
import static io.warmpath.prefix.Tier.HOST;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link PrefixIndex} promises. Blocks have 4 tokens here; a block is named by one
 * number, a prompt by the numbers of its blocks, and an engine hash is 1000 * worker + number
 * unless said otherwise.
 */
public abstract class PrefixIndexContract {
    protected static final int B = 4;

    private static final PrefixSpace NONE = PrefixSpace.NONE;

    private PrefixIndex index;

    protected abstract PrefixIndex create();

    /** All workers in one: hashes of different workers that are equal meet. */
    protected int domain(long worker) {
        return 0;
    }

    @BeforeEach
    final void createIndex() {
        index = create();
    }

    @AfterEach
    final void closeIndex() {
        index.close();
    }

    // ---- words for the tests

    /** Token ids of these blocks one after the other. */
    protected static int[] prompt(int... blocks) {
        int[] tokens = new int[blocks.length * B];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = blocks[i / B] * 10 + i % B;
        }
        return tokens;
    }

    protected static long[] hashes(long worker, int... blocks) {
        return Arrays.stream(blocks).mapToLong(b -> 1000 * worker + b).toArray();
    }

    /** A slot for this worker, in the domain that this kind of test gives it. */
    private WorkerSlot open(long worker) {
        return index.open(domain(worker));
    }

    private static PrefixEvent root(WorkerSlot slot, Tier tier, long worker, int... blocks) {
        return new PrefixEvent.Stored(
                slot, tier, false, 0, hashes(worker, blocks), prompt(blocks), B, NONE);
    }

    private static PrefixEvent after(
            WorkerSlot slot, Tier tier, long worker, int parent, int... blocks) {
        return new PrefixEvent.Stored(
                slot,
                tier,
                true,
                hashes(worker, parent)[0],
                hashes(worker, blocks),
                prompt(blocks),
                B,
                NONE);
    }

    private static PrefixEvent removed(WorkerSlot slot, Tier tier, long worker, int... blocks) {
        return new PrefixEvent.Removed(slot, tier, hashes(worker, blocks));
    }

    private ApplyResult apply(PrefixEvent... events) {
        return index.apply(List.of(events));
    }

    private PrefixMatch ask(int... blocks) {
        int[] tokens = prompt(blocks);
        return index.match(new PrefixQuery(tokens, tokens.length, B, NONE));
    }

    private static int[] depths(PrefixMatch match, WorkerSlot slot) {
        return Arrays.stream(Tier.values()).mapToInt(t -> match.depth(slot, t)).toArray();
    }

    private static void assertDepths(
            PrefixMatch match, WorkerSlot slot, int gpu, int host, int disk, int external) {
        assertArrayEquals(new int[] {gpu, host, disk, external}, depths(match, slot));
    }

    /** Depth in every tier, for what lies in GPU memory only. */
    private static void assertDepth(PrefixMatch match, WorkerSlot slot, int depth) {
        assertDepths(match, slot, depth, depth, depth, depth);
    }

    private void assertBlocks(WorkerSlot slot, long gpu, long host, long disk, long external) {
        SlotBlocks blocks = index.slotBlocks();
        assertEquals(
                List.of(gpu, host, disk, external),
                Arrays.stream(Tier.values()).map(t -> blocks.in(slot, t)).toList());
    }

    // ---- the basics

    @Test
    void an_empty_index_matches_nobody() {
        PrefixMatch match = ask(1, 2, 3);
        assertEquals(0, match.size());
        assertEquals(3, match.blocks());
        assertEquals(B, match.blockSize());
        assertDepth(match, new WorkerSlot(0), 0);
        assertSizes(0, 0, 0, 0);
        assertBlocks(new WorkerSlot(0), 0, 0, 0, 0);
    }

    @Test
    void blocks_are_counted_per_slot_and_tier() {
        WorkerSlot a = open(1);
        WorkerSlot b = open(2);
        apply(root(a, GPU, 1, 1, 2, 3, 4), root(a, HOST, 1, 1, 2), root(b, DISK, 2, 1, 2, 3));
        assertBlocks(a, 4, 2, 0, 0);
        assertBlocks(b, 0, 0, 3, 0);
        // Again changes nothing; behind a hole a block counts too; what waits for its parent does
        // not.
        apply(root(a, GPU, 1, 1, 2), removed(a, GPU, 1, 2), after(b, EXTERNAL, 2, 8, 9));
        assertBlocks(a, 3, 2, 0, 0);
        assertBlocks(b, 0, 0, 3, 0);
        apply(after(b, EXTERNAL, 2, 3, 8));
        assertBlocks(b, 0, 0, 3, 2);
        apply(new PrefixEvent.Cleared(a, HOST));
        assertBlocks(a, 3, 0, 0, 0);
        apply(new PrefixEvent.Cleared(a, null));
        assertBlocks(a, 0, 0, 0, 0);
        index.close(b);
        assertBlocks(b, 0, 0, 0, 0);
    }

    @Test
    void two_names_for_one_block_count_once() {
        WorkerSlot a = open(1);
        apply(
                root(a, GPU, 1, 1),
                new PrefixEvent.Stored(
                        a, GPU, false, 0, new long[] {77, 78}, prompt(1, 2), B, NONE));
        assertBlocks(a, 2, 0, 0, 0);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {77}));
        assertBlocks(a, 2, 0, 0, 0);
        apply(removed(a, GPU, 1, 1));
        assertBlocks(a, 1, 0, 0, 0);
    }

    @Test
    void an_open_slot_without_blocks_is_not_in_the_answer() {
        WorkerSlot a = open(7);
        assertEquals(0, ask(1).size());
        assertDepth(ask(1), a, 0);
    }

    @Test
    void the_longest_common_prefix_is_found() {
        WorkerSlot a = open(7);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(root(a, GPU, 7, 1, 2, 3, 4)));
        assertDepth(ask(1, 2, 3, 4), a, 4);
        assertDepth(ask(1, 2, 3, 4, 5), a, 4);
        assertDepth(ask(1, 2), a, 2);
        assertDepth(ask(1, 2, 9, 4), a, 2);
        assertDepth(ask(2, 3, 4), a, 0);
        assertEquals(0, ask(9, 2, 3).size());
    }

    @Test
    void one_token_of_difference_ends_the_match() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2, 3));
        for (int i = 0; i < 3 * B; i++) {
            int[] tokens = prompt(1, 2, 3);
            tokens[i] ^= 1 << 31;
            PrefixMatch match = index.match(new PrefixQuery(tokens, tokens.length, B, NONE));
            assertDepth(match, a, i / B);
        }
    }

    @Test
    void only_complete_blocks_count() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2, 3));
        int[] tokens = prompt(1, 2, 3);
        for (int length = 0; length <= tokens.length; length++) {
            PrefixMatch match = index.match(new PrefixQuery(tokens, length, B, NONE));
            assertEquals(length / B, match.blocks());
            assertDepth(match, a, length / B);
        }
    }

    @Test
    void several_prompts_are_answered_in_their_order() {
        WorkerSlot a = open(1);
        WorkerSlot b = open(2);
        apply(root(a, GPU, 1, 1, 2, 3), root(b, HOST, 2, 1, 2));
        List<PrefixQuery> queries = new ArrayList<>();
        int[][] prompts = {{1, 2, 3}, {}, {9}, {1}, {1, 2, 4, 5}};
        for (int i = 0; i < 40; i++) { // more than go down at once
            int[] tokens = prompt(prompts[i % prompts.length]);
            queries.add(new PrefixQuery(tokens, tokens.length, B, NONE));
        }
        List<PrefixMatch> answers = index.matchAll(queries);
        assertEquals(queries.size(), answers.size());
        for (int i = 0; i < queries.size(); i++) {
            PrefixMatch one = index.match(queries.get(i));
            PrefixMatch same = answers.get(i);
            assertEquals(one.size(), same.size(), "query " + i);
            assertEquals(one.blocks(), same.blocks());
            assertEquals(one.blockSize(), same.blockSize());
            for (Tier tier : Tier.values()) {
                assertEquals(one.depth(a, tier), same.depth(a, tier), "query " + i);
                assertEquals(one.depth(b, tier), same.depth(b, tier), "query " + i);
            }
        }
        assertDepth(answers.getFirst(), a, 3);
        assertEquals(0, answers.get(1).size());
        assertEquals(List.of(), index.matchAll(List.of()));
    }

    @Test
    void an_empty_prompt_matches_nobody() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1));
        PrefixMatch match = index.match(new PrefixQuery(new int[0], 0, B, NONE));
        assertEquals(0, match.size());
        assertEquals(0, match.blocks());
    }

    @Test
    void every_u32_is_a_token() {
        WorkerSlot a = open(7);
        int[] extreme = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, -2, 1, 0, 0};
        apply(
                new PrefixEvent.Stored(
                        a, GPU, false, 0, new long[] {Long.MIN_VALUE, -1}, extreme, B, NONE));
        assertDepth(index.match(new PrefixQuery(extreme, 8, B, NONE)), a, 2);
    }

    @Test
    void hash_zero_and_minus_one_are_names_like_any_other() {
        WorkerSlot a = open(7);
        apply(
                stored(a, false, 0, new long[] {0}, 1),
                stored(a, true, 0, new long[] {-1}, 2),
                stored(a, true, -1, new long[] {Long.MIN_VALUE}, 3));
        assertDepth(ask(1, 2, 3), a, 3);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {-1}));
        assertDepth(ask(1, 2, 3), a, 1);
    }

    @Test
    void a_prompt_may_repeat_a_block() {
        WorkerSlot a = open(7);
        apply(
                new PrefixEvent.Stored(
                        a, GPU, false, 0, new long[] {1, 2, 3}, prompt(5, 5, 5), B, NONE));
        assertDepth(ask(5, 5, 5, 5), a, 3);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {2}));
        assertDepth(ask(5, 5, 5, 5), a, 1);
    }

    private static PrefixEvent stored(
            WorkerSlot slot, boolean hasParent, long parent, long[] hashes, int... blocks) {
        return new PrefixEvent.Stored(
                slot, GPU, hasParent, parent, hashes, prompt(blocks), B, NONE);
    }

    @Test
    void chains_grow_by_one_block_and_by_many() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1), after(a, GPU, 7, 1, 2), after(a, GPU, 7, 2, 3, 4, 5));
        apply(after(a, GPU, 7, 5, 6));
        assertDepth(ask(1, 2, 3, 4, 5, 6), a, 6);
    }

    @Test
    void a_chain_may_branch_anywhere() {
        WorkerSlot a = open(7);
        apply(
                root(a, GPU, 7, 1, 2, 3, 4),
                after(a, GPU, 7, 2, 20, 21),
                after(a, GPU, 7, 20, 22),
                root(a, GPU, 7, 9));
        assertDepth(ask(1, 2, 3, 4), a, 4);
        assertDepth(ask(1, 2, 20, 21), a, 4);
        assertDepth(ask(1, 2, 20, 22), a, 4);
        assertDepth(ask(9, 2), a, 1);
    }

    @Test
    void workers_are_told_apart_and_come_in_ascending_order() {
        WorkerSlot a = open(1);
        WorkerSlot b = open(2);
        WorkerSlot c = open(3);
        apply(root(c, GPU, 3, 1, 2, 3), root(a, GPU, 1, 1), root(b, GPU, 2, 8));
        PrefixMatch match = ask(1, 2, 3);
        assertEquals(2, match.size());
        assertEquals(a.index(), match.slotAt(0));
        assertEquals(c.index(), match.slotAt(1));
        assertDepth(match, a, 1);
        assertDepth(match, b, 0);
        assertDepth(match, c, 3);
    }

    @Test
    void ranks_of_one_worker_are_slots_of_their_own() {
        WorkerSlot rank0 = open(1);
        WorkerSlot rank1 = open(1);
        assertNotEquals(rank0, rank1);
        apply(root(rank0, GPU, 1, 1, 2), root(rank1, GPU, 1, 1));
        assertDepth(ask(1, 2), rank0, 2);
        assertDepth(ask(1, 2), rank1, 1);
        apply(new PrefixEvent.Cleared(rank0));
        assertDepth(ask(1, 2), rank0, 0);
        assertDepth(ask(1, 2), rank1, 1);
    }

    @Test
    void workers_with_different_engine_hashes_share_content() {
        WorkerSlot a = open(1);
        WorkerSlot b = open(2);
        WorkerSlot c = open(3);
        apply(
                root(a, GPU, 1, 1, 2, 3),
                root(b, GPU, 2, 1, 2),
                after(b, GPU, 2, 2, 3, 4),
                root(c, GPU, 3, 1),
                after(c, GPU, 3, 1, 2));
        PrefixMatch match = ask(1, 2, 3, 4);
        assertDepth(match, a, 3);
        assertDepth(match, b, 4);
        assertDepth(match, c, 2);
        assertEquals(4, blocks());
        assertEquals(9, index.stats().residencies());
    }

    @Test
    void one_engine_hash_means_different_content_on_different_workers() {
        WorkerSlot a = open(1);
        WorkerSlot b = open(2);
        apply(stored(a, false, 0, new long[] {5, 6}, 1, 2));
        apply(stored(b, false, 0, new long[] {5, 6}, 3, 4));
        assertDepth(ask(1, 2), a, 2);
        assertDepth(ask(1, 2), b, 0);
        assertDepth(ask(3, 4), b, 2);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {6}));
        assertDepth(ask(1, 2), a, 1);
        assertDepth(ask(3, 4), b, 2);
    }

    // ---- tiers

    @Test
    void depths_are_cumulative_over_the_tiers() {
        WorkerSlot a = open(7);
        apply(
                root(a, GPU, 7, 1, 2),
                after(a, HOST, 7, 2, 3),
                after(a, DISK, 7, 3, 4, 5),
                after(a, EXTERNAL, 7, 5, 6));
        assertDepths(ask(1, 2, 3, 4, 5, 6), a, 2, 3, 5, 6);
        assertDepths(ask(1, 2, 3, 4), a, 2, 3, 4, 4);
    }

    @Test
    void a_faster_tier_behind_a_slower_one_counts_for_the_slower_depth_only() {
        WorkerSlot a = open(7);
        apply(root(a, HOST, 7, 1), after(a, GPU, 7, 1, 2), after(a, EXTERNAL, 7, 2, 3));
        assertDepths(ask(1, 2, 3), a, 0, 2, 2, 3);
    }

    @Test
    void a_block_moves_through_the_tiers_without_ever_being_gone() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2));
        apply(root(a, HOST, 7, 1, 2)); // copied to the host
        assertDepths(ask(1, 2), a, 2, 2, 2, 2);
        apply(removed(a, GPU, 7, 2));
        assertDepths(ask(1, 2), a, 1, 2, 2, 2);
        apply(removed(a, GPU, 7, 1));
        assertDepths(ask(1, 2), a, 0, 2, 2, 2);
        apply(root(a, GPU, 7, 1, 2)); // loaded back
        assertDepths(ask(1, 2), a, 2, 2, 2, 2);
        apply(removed(a, HOST, 7, 1, 2));
        assertDepths(ask(1, 2), a, 2, 2, 2, 2);
        apply(removed(a, GPU, 7, 1, 2));
        assertEquals(0, ask(1, 2).size());
        assertSizes(1, 0, 0, 0);
    }

    @Test
    void a_child_may_hang_on_a_parent_of_another_tier() {
        WorkerSlot a = open(7);
        apply(root(a, HOST, 7, 1), after(a, GPU, 7, 1, 2));
        assertDepths(ask(1, 2), a, 0, 2, 2, 2);
    }

    @Test
    void removing_from_a_tier_that_does_not_hold_it_is_counted_and_changes_nothing() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2));
        assertEquals(2, apply(removed(a, HOST, 7, 1, 2)).unknownRemoved());
        assertDepth(ask(1, 2), a, 2);
    }

    // ---- removal, holes, repetition

    @Test
    void a_removed_block_is_never_returned() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2, 3));
        assertEquals(0, apply(removed(a, GPU, 7, 3)).unknownRemoved());
        assertDepth(ask(1, 2, 3), a, 2);
        apply(removed(a, GPU, 7, 2, 1));
        assertEquals(0, ask(1, 2, 3).size());
    }

    @Test
    void unknown_removals_are_counted_and_harmless() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1));
        assertEquals(3, apply(removed(a, GPU, 7, 50, 51, 52)).unknownRemoved());
        assertEquals(1, apply(removed(a, GPU, 7, 1, 1)).unknownRemoved());
        assertEquals(0, ask(1).size());
    }

    @Test
    void a_hole_cuts_the_prefix_and_its_refill_heals_it() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(root(a, GPU, 7, 1, 2, 3, 4, 5), root(b, GPU, 8, 1, 2, 3, 4, 5));
        apply(removed(a, GPU, 7, 3));
        assertDepth(ask(1, 2, 3, 4, 5), a, 2);
        assertDepth(ask(1, 2, 3, 4, 5), b, 5);
        apply(after(a, GPU, 7, 2, 3));
        assertDepth(ask(1, 2, 3, 4, 5), a, 5);
    }

    @Test
    void a_hole_at_the_root_hides_all_until_it_is_filled() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2, 3));
        apply(removed(a, GPU, 7, 1));
        assertEquals(0, ask(1, 2, 3).size());
        assertEquals(2, index.stats().residencies());
        apply(root(a, GPU, 7, 1));
        assertDepth(ask(1, 2, 3), a, 3);
    }

    @Test
    void a_hole_may_be_filled_in_another_tier() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2, 3));
        apply(removed(a, GPU, 7, 2));
        apply(after(a, DISK, 7, 1, 2));
        assertDepths(ask(1, 2, 3), a, 1, 1, 3, 3);
    }

    @Test
    void head_first_and_tail_first_eviction_end_the_same() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(root(a, GPU, 7, 1, 2, 3, 4), root(b, GPU, 8, 1, 2, 3, 4));
        apply(removed(a, GPU, 7, 1, 2, 3, 4));
        apply(removed(b, GPU, 8, 4, 3, 2, 1));
        assertEquals(0, ask(1, 2, 3, 4).size());
        assertSizes(2, 0, 0, 0);
    }

    @Test
    void repeating_an_event_changes_nothing() {
        WorkerSlot a = open(7);
        PrefixEvent store = root(a, GPU, 7, 1, 2, 3);
        apply(store, store);
        apply(store, after(a, GPU, 7, 1, 2, 3));
        assertDepth(ask(1, 2, 3), a, 3);
        assertEquals(3, index.stats().residencies());
        apply(removed(a, GPU, 7, 2));
        assertDepth(ask(1, 2, 3), a, 1);
        assertEquals(1, apply(removed(a, GPU, 7, 2)).unknownRemoved());
    }

    @Test
    void a_slot_may_have_two_hashes_for_one_content() {
        WorkerSlot a = open(7);
        apply(stored(a, false, 0, new long[] {1, 2}, 1, 2));
        apply(stored(a, false, 0, new long[] {101, 102}, 1, 2));
        assertEquals(2, index.stats().residencies());
        apply(new PrefixEvent.Removed(a, GPU, new long[] {1, 2}));
        assertDepth(ask(1, 2), a, 2);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {102}));
        assertDepth(ask(1, 2), a, 1);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {101}));
        assertEquals(0, ask(1, 2).size());
        assertSizes(1, 0, 0, 0);
    }

    @Test
    void twins_in_different_tiers_are_both_counted() {
        WorkerSlot a = open(7);
        apply(stored(a, false, 0, new long[] {1}, 1));
        apply(new PrefixEvent.Stored(a, HOST, false, 0, new long[] {101}, prompt(1), B, NONE));
        assertDepths(ask(1), a, 1, 1, 1, 1);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {1}));
        assertDepths(ask(1), a, 0, 1, 1, 1);
        assertEquals(1, apply(new PrefixEvent.Removed(a, GPU, new long[] {101})).unknownRemoved());
        assertDepths(ask(1), a, 0, 1, 1, 1);
    }

    @Test
    void a_hash_stored_elsewhere_moves_there() {
        WorkerSlot a = open(7);
        apply(stored(a, false, 0, new long[] {1, 2, 3}, 1, 2, 3));
        apply(stored(a, true, 1, new long[] {2}, 20)); // hash 2 now names another block
        assertDepth(ask(1, 2, 3), a, 1);
        assertDepth(ask(1, 20), a, 2);
        assertDepth(ask(1, 20, 3), a, 2);
        // What hung on the old place stays there, and counts again when that is stored.
        apply(stored(a, true, 1, new long[] {22}, 2));
        assertDepth(ask(1, 2, 3), a, 3);
        apply(new PrefixEvent.Removed(a, GPU, new long[] {2}));
        assertDepth(ask(1, 20), a, 1);
        assertDepth(ask(1, 2, 3), a, 3);
    }

    @Test
    void a_hash_that_moves_leaves_all_its_tiers_behind() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1), root(a, HOST, 7, 1));
        apply(new PrefixEvent.Stored(a, DISK, false, 0, hashes(7, 1), prompt(2), B, NONE));
        assertEquals(0, ask(1).size());
        assertDepths(ask(2), a, 0, 0, 1, 1);
    }

    // ---- clear and slots

    @Test
    void clearing_forgets_every_tier_of_this_slot_only() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(root(a, GPU, 7, 1, 2), root(a, HOST, 7, 1, 2, 3), root(b, GPU, 8, 1, 2));
        apply(new PrefixEvent.Cleared(a));
        assertDepth(ask(1, 2, 3), a, 0);
        assertDepth(ask(1, 2, 3), b, 2);
        assertEquals(2, apply(removed(a, GPU, 7, 1, 2)).unknownRemoved());
        apply(after(a, GPU, 7, 3, 4)); // its parent was forgotten
        assertDepth(ask(1, 2, 3, 4), a, 0);
        apply(root(a, GPU, 7, 1));
        assertDepth(ask(1, 2, 3), a, 1);
    }

    @Test
    void clearing_one_tier_leaves_the_others() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(root(a, GPU, 7, 1, 2), root(a, HOST, 7, 1, 2, 3), after(a, DISK, 7, 3, 4));
        apply(root(b, HOST, 8, 1, 2));
        apply(new PrefixEvent.Cleared(a, HOST));
        assertDepths(ask(1, 2, 3, 4), a, 2, 2, 2, 2);
        assertDepths(ask(1, 2, 3, 4), b, 0, 2, 2, 2);
        assertEquals(3, apply(removed(a, HOST, 7, 1, 2, 3)).unknownRemoved());
        assertEquals(1, apply(after(a, GPU, 7, 3, 5)).orphans(), "block 3 is gone");
        apply(after(a, HOST, 7, 2, 3)); // block 4 kept its place behind the hole
        assertDepths(ask(1, 2, 3, 4), a, 2, 3, 4, 4);
        assertDepths(ask(1, 2, 3, 5), a, 2, 4, 4, 4);
        apply(new PrefixEvent.Cleared(a, GPU), new PrefixEvent.Cleared(a, HOST));
        assertDepths(ask(1, 2, 3, 4), a, 0, 0, 0, 0);
        assertEquals(3, index.stats().residencies(), "block 4 on the disk, and what b holds");
    }

    @Test
    void clearing_one_tier_forgets_what_waits_in_it() {
        WorkerSlot a = open(7);
        apply(after(a, HOST, 7, 1, 2), after(a, GPU, 7, 1, 2, 3));
        apply(new PrefixEvent.Cleared(a, HOST));
        assertEquals(2, index.stats().orphans());
        apply(root(a, DISK, 7, 1));
        assertDepths(ask(1, 2, 3), a, 0, 0, 3, 3);
        apply(removed(a, GPU, 7, 2));
        assertDepths(ask(1, 2, 3), a, 0, 0, 1, 1);
    }

    @Test
    void clear_and_store_in_one_batch_keep_their_order() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2), new PrefixEvent.Cleared(a), root(a, GPU, 7, 5));
        assertDepth(ask(1, 2), a, 0);
        assertDepth(ask(5), a, 1);
    }

    @Test
    void a_closed_slot_is_never_returned_and_its_events_are_ignored() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2));
        index.close(a);
        assertEquals(0, ask(1, 2).size());
        assertEquals(
                new ApplyResult(0, 0, 0, 3),
                apply(root(a, GPU, 7, 1), removed(a, GPU, 7, 1), new PrefixEvent.Cleared(a)));
        assertEquals(0, ask(1, 2).size());
        assertSizes(0, 0, 0, 0);
    }

    @Test
    void a_slot_that_was_never_open_is_ignored() {
        WorkerSlot nobody = new WorkerSlot(999);
        WorkerSlot beyond = new WorkerSlot(Integer.MAX_VALUE);
        assertEquals(
                new ApplyResult(0, 0, 0, 2),
                apply(root(nobody, GPU, 7, 1), root(beyond, GPU, 7, 1)));
    }

    @Test
    void a_reused_slot_starts_empty() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2), after(a, GPU, 7, 50, 51));
        index.close(a);
        WorkerSlot next = open(7);
        assertEquals(a.index(), next.index(), "the lowest free number is given out");
        assertNotEquals(a, next, "it says whose it is");
        assertEquals(0, ask(1, 2).size());
        apply(after(next, GPU, 7, 2, 3)); // the old incarnation's hashes are unknown
        assertEquals(0, ask(1, 2, 3).size());
        apply(root(next, GPU, 7, 50));
        assertDepth(ask(50, 51), next, 1);
    }

    @Test
    void closing_a_slot_that_is_not_open_is_refused() {
        WorkerSlot a = open(7);
        index.close(a);
        assertThrows(IllegalStateException.class, () -> index.close(a));
        assertThrows(IllegalStateException.class, () -> index.close(new WorkerSlot(77)));
    }

    @Test
    void slots_end_at_the_limit_and_a_closed_one_makes_room() {
        for (int i = 0; i < PrefixIndex.MAX_SLOTS; i++) {
            assertEquals(new WorkerSlot(i), open(i));
        }
        IllegalStateException full = assertThrows(IllegalStateException.class, () -> open(1));
        assertEquals("all 16384 slots of the index are taken; remove a worker", full.getMessage());
        index.close(new WorkerSlot(1234));
        WorkerSlot next = open(1);
        assertEquals(1234, next.index());
        assertEquals(1, next.incarnation());
        assertThrows(IllegalStateException.class, () -> open(1));
    }

    @Test
    void every_one_of_16384_slots_may_hold_a_prompt() {
        List<PrefixEvent> stores = new ArrayList<>();
        for (int i = 0; i < PrefixIndex.MAX_SLOTS; i++) {
            WorkerSlot slot = open(i);
            stores.add(stored(slot, false, 0, new long[] {1}, i % 3));
        }
        assertEquals(PrefixIndex.MAX_SLOTS, index.apply(stores).applied());
        for (int block = 0; block < 3; block++) {
            PrefixMatch match = ask(block);
            assertEquals((PrefixIndex.MAX_SLOTS + 2 - block) / 3, match.size());
            for (int i = 0; i < match.size(); i++) {
                assertEquals(block + 3 * i, match.slotAt(i));
            }
        }
        WorkerSlot last = new WorkerSlot(PrefixIndex.MAX_SLOTS - 1);
        assertDepth(ask(last.index() % 3), last, 1);
        apply(new PrefixEvent.Removed(last, GPU, new long[] {1}));
        assertDepth(ask(last.index() % 3), last, 0);
    }

    @Test
    void an_event_of_an_older_incarnation_changes_nothing() {
        WorkerSlot old = open(7);
        apply(root(old, GPU, 7, 1));
        index.close(old);
        WorkerSlot next = open(7);
        apply(root(next, GPU, 7, 1, 2), after(next, GPU, 7, 50, 51));
        assertEquals(
                new ApplyResult(0, 0, 0, 5),
                apply(
                        root(old, GPU, 7, 1, 2, 3),
                        after(old, GPU, 7, 2, 3),
                        removed(old, GPU, 7, 1, 2),
                        new PrefixEvent.Cleared(old, GPU),
                        new PrefixEvent.Cleared(old)));
        assertDepth(ask(1, 2, 3), next, 2);
        assertSizes(1, 2, 2, 1);
        // Between those of the present owner, too: each is looked at alone.
        assertEquals(
                new ApplyResult(2, 0, 0, 1),
                apply(
                        after(next, GPU, 7, 2, 3),
                        new PrefixEvent.Cleared(old),
                        after(next, GPU, 7, 3, 4)));
        assertDepth(ask(1, 2, 3, 4), next, 4);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(removed(next, GPU, 7, 4)));
        assertDepth(ask(1, 2, 3, 4), next, 3);
        assertEquals(new ApplyResult(1, 0, 0, 0), apply(new PrefixEvent.Cleared(next)));
        assertSizes(1, 0, 0, 0);
    }

    @Test
    void an_older_incarnation_cannot_close_the_slot_of_its_successor() {
        WorkerSlot old = open(7);
        index.close(old);
        WorkerSlot next = open(7);
        apply(root(next, GPU, 7, 1));
        assertThrows(IllegalStateException.class, () -> index.close(old));
        WorkerSlot future = WorkerSlot.of(next.index(), next.incarnation() + 1);
        assertThrows(IllegalStateException.class, () -> index.close(future));
        assertDepth(ask(1), next, 1);
        index.close(next);
        assertSizes(0, 0, 0, 0);
    }

    @Test
    void a_number_is_used_again_and_again_and_every_owner_is_another() {
        Set<WorkerSlot> owners = new HashSet<>();
        List<PrefixEvent> late = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            WorkerSlot slot = open(7);
            assertEquals(0, slot.index());
            assertEquals(i, slot.incarnation());
            assertEquals(true, owners.add(slot));
            apply(root(slot, GPU, 7, 1, 2));
            late.add(root(slot, GPU, 7, 9));
            index.close(slot);
        }
        open(7);
        assertEquals(new ApplyResult(0, 0, 0, 1000), index.apply(late));
        assertSizes(1, 0, 0, 0);
    }

    @Test
    void every_slot_may_hold_the_same_prefix() {
        List<PrefixEvent> stores = new ArrayList<>();
        for (int i = 0; i < 1500; i++) {
            stores.add(root(open(i), i % 2 == 0 ? GPU : HOST, i, 1, 2));
        }
        index.apply(stores);
        PrefixMatch match = ask(1, 2, 3);
        assertEquals(1500, match.size());
        for (int i = 0; i < 1500; i++) {
            assertEquals(i, match.slotAt(i));
            assertDepths(match, new WorkerSlot(i), i % 2 == 0 ? 2 : 0, 2, 2, 2);
        }
    }

    // ---- children before their parents

    @Test
    void an_orphan_counts_when_its_parent_comes() {
        WorkerSlot a = open(7);
        assertEquals(new ApplyResult(0, 1, 0, 0), apply(after(a, GPU, 7, 2, 3, 4)));
        assertEquals(0, ask(1, 2, 3, 4).size());
        assertEquals(2, index.stats().orphans());
        apply(root(a, GPU, 7, 1, 2));
        assertDepth(ask(1, 2, 3, 4), a, 4);
        assertEquals(0, index.stats().orphans());
    }

    @Test
    void a_child_may_stand_before_its_parent_in_one_batch() {
        WorkerSlot a = open(7);
        apply(after(a, GPU, 7, 2, 3), after(a, GPU, 7, 1, 2), root(a, GPU, 7, 1));
        assertDepth(ask(1, 2, 3), a, 3);
    }

    @Test
    void orphans_wait_for_the_parent_of_their_own_slot() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(stored(a, true, 5, new long[] {6}, 2));
        apply(stored(b, false, 0, new long[] {5}, 1));
        assertDepth(ask(1, 2), a, 0);
        assertDepth(ask(1, 2), b, 1);
        apply(stored(a, false, 0, new long[] {5}, 1));
        assertDepth(ask(1, 2), a, 2);
        assertDepth(ask(1, 2), b, 1);
    }

    @Test
    void several_orphans_may_wait_for_one_parent() {
        WorkerSlot a = open(7);
        apply(after(a, GPU, 7, 1, 20), after(a, HOST, 7, 1, 30, 31), after(a, GPU, 7, 31, 32));
        apply(root(a, GPU, 7, 1));
        assertDepth(ask(1, 20), a, 2);
        assertDepths(ask(1, 30, 31, 32), a, 1, 4, 4, 4);
    }

    @Test
    void a_block_removed_while_it_waits_does_not_come_back() {
        WorkerSlot a = open(7);
        apply(after(a, GPU, 7, 1, 2, 3, 4));
        assertEquals(0, apply(removed(a, GPU, 7, 3)).unknownRemoved());
        assertEquals(1, apply(removed(a, HOST, 7, 2)).unknownRemoved());
        apply(root(a, GPU, 7, 1));
        assertDepth(ask(1, 2, 3, 4), a, 2);
        apply(after(a, GPU, 7, 2, 3)); // block 4 kept its place behind the hole
        assertDepth(ask(1, 2, 3, 4), a, 4);
    }

    /** Once counted as unknown when it was the last one waiting and others were removed with it. */
    @Test
    void a_waiting_block_that_another_worker_holds_is_not_unknown() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(after(a, GPU, 7, 1, 2));
        apply(root(b, GPU, 7, 1, 2, 3)); // the same hashes as a's
        assertEquals(1, apply(removed(a, GPU, 7, 2, 3)).unknownRemoved());
        apply(root(a, GPU, 7, 1));
        assertDepth(ask(1, 2, 3), a, 1);
        assertDepth(ask(1, 2, 3), b, 3);
    }

    @Test
    void clearing_forgets_the_orphans_too() {
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(after(a, GPU, 7, 1, 2), after(b, GPU, 8, 1, 2));
        apply(new PrefixEvent.Cleared(a));
        assertEquals(1, index.stats().orphans());
        apply(root(a, GPU, 7, 1), root(b, GPU, 8, 1));
        assertDepth(ask(1, 2), a, 1);
        assertDepth(ask(1, 2), b, 2);
    }

    @Test
    void a_parent_that_is_gone_makes_an_orphan_until_it_returns() {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2), removed(a, GPU, 7, 2));
        assertEquals(1, apply(after(a, GPU, 7, 2, 3)).orphans());
        assertDepth(ask(1, 2, 3), a, 1);
        apply(after(a, GPU, 7, 1, 2));
        assertDepth(ask(1, 2, 3), a, 3);
    }

    @Test
    void a_block_that_is_its_own_ancestor_harms_nobody() {
        WorkerSlot a = open(7);
        apply(after(a, GPU, 7, 5, 5), after(a, GPU, 7, 6, 7), after(a, GPU, 7, 7, 6));
        assertEquals(0, ask(5).size());
        apply(root(a, GPU, 7, 1, 2));
        assertDepth(ask(1, 2), a, 2);
    }

    // ---- spaces and block sizes

    private static PrefixEvent inSpace(WorkerSlot slot, PrefixSpace space, long hash, int block) {
        return new PrefixEvent.Stored(
                slot, GPU, false, 0, new long[] {hash}, prompt(block), B, space);
    }

    private int depthIn(PrefixSpace space, WorkerSlot slot, int block) {
        return index.match(new PrefixQuery(prompt(block), B, B, space)).depth(slot, GPU);
    }

    @Test
    void equal_tokens_in_different_spaces_are_different_blocks() {
        PrefixSpace[] spaces = {
            NONE,
            new PrefixSpace("adapter", ""),
            new PrefixSpace("", "adapter"),
            new PrefixSpace("adapter", "tenant"),
            new PrefixSpace("adapter", "tenant2"),
            new PrefixSpace("", "ümläut-🔑"),
        };
        WorkerSlot[] slots = new WorkerSlot[spaces.length];
        for (int i = 0; i < spaces.length; i++) {
            slots[i] = open(i);
            apply(inSpace(slots[i], spaces[i], 1, 1));
        }
        for (int i = 0; i < spaces.length; i++) {
            for (int k = 0; k < spaces.length; k++) {
                assertEquals(i == k ? 1 : 0, depthIn(spaces[k], slots[i], 1), i + " in " + k);
            }
        }
    }

    @Test
    void one_slot_may_hold_one_prompt_in_several_spaces() {
        PrefixSpace tenant = new PrefixSpace("", "tenant");
        WorkerSlot a = open(7);
        apply(inSpace(a, NONE, 1, 1), inSpace(a, tenant, 2, 1));
        assertEquals(1, depthIn(NONE, a, 1));
        assertEquals(1, depthIn(tenant, a, 1));
        apply(new PrefixEvent.Removed(a, GPU, new long[] {1}));
        assertEquals(0, depthIn(NONE, a, 1));
        assertEquals(1, depthIn(tenant, a, 1));
    }

    @Test
    void two_block_sizes_live_side_by_side() {
        int[] tokens = prompt(1, 2, 3, 4);
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        apply(root(a, GPU, 7, 1, 2, 3));
        apply(new PrefixEvent.Stored(b, GPU, false, 0, new long[] {1, 2}, tokens, 2 * B, NONE));
        PrefixMatch small = index.match(new PrefixQuery(tokens, tokens.length, B, NONE));
        assertDepth(small, a, 3);
        assertDepth(small, b, 0);
        PrefixMatch large = index.match(new PrefixQuery(tokens, tokens.length, 2 * B, NONE));
        assertEquals(2, large.blocks());
        assertDepth(large, a, 0);
        assertDepth(large, b, 2);
    }

    @Test
    void blocks_of_one_token_and_of_thousands_work() {
        int[] tokens = new int[3 * 4096];
        Arrays.setAll(tokens, i -> i * 7);
        WorkerSlot a = open(7);
        WorkerSlot b = open(8);
        long[] three = {1, 2, 3};
        apply(new PrefixEvent.Stored(a, GPU, false, 0, three, tokens, 4096, NONE));
        apply(new PrefixEvent.Stored(b, GPU, false, 0, three, Arrays.copyOf(tokens, 3), 1, NONE));
        assertDepth(index.match(new PrefixQuery(tokens, tokens.length, 4096, NONE)), a, 3);
        assertDepth(index.match(new PrefixQuery(tokens, tokens.length, 1, NONE)), b, 3);
    }

    @Test
    void long_prompts_match_to_their_end() {
        int[] blocks = new int[20_000];
        Arrays.setAll(blocks, i -> i);
        WorkerSlot a = open(0);
        apply(root(a, GPU, 0, blocks));
        assertDepth(ask(blocks), a, 20_000);
        apply(removed(a, GPU, 0, 12_345));
        assertDepth(ask(blocks), a, 12_345);
    }

    // ---- input, life

    @Test
    void an_event_may_be_empty_handed() {
        WorkerSlot a = open(7);
        assertEquals(ApplyResult.NONE, index.apply(List.of()));
        assertEquals(ApplyResult.NONE, apply(new PrefixEvent.Removed(a, GPU, new long[0])));
    }

    @Test
    void malformed_values_cannot_be_built() {
        WorkerSlot a = new WorkerSlot(0);
        long[] one = {1};
        assertThrows(IllegalArgumentException.class, () -> index.open(-1));
        assertThrows(IllegalArgumentException.class, () -> index.open(PrefixIndex.MAX_DOMAINS));
        assertThrows(
                IllegalArgumentException.class,
                () -> new PrefixEvent.Stored(a, GPU, false, 0, one, new int[3], B, NONE));
        assertThrows(
                IllegalArgumentException.class,
                () -> new PrefixEvent.Stored(a, GPU, false, 0, one, new int[0], 0, NONE));
        assertThrows(
                IllegalArgumentException.class,
                () -> new PrefixEvent.Stored(a, GPU, false, 0, new long[0], new int[0], B, NONE));
        assertThrows(IllegalArgumentException.class, () -> new PrefixQuery(new int[3], 4, B, NONE));
        assertThrows(
                IllegalArgumentException.class, () -> new PrefixQuery(new int[3], -1, B, NONE));
        assertThrows(IllegalArgumentException.class, () -> new PrefixQuery(new int[3], 3, 0, NONE));
    }

    @Test
    void blocks_beyond_the_limit_are_refused_and_their_neighbours_applied() {
        int tooLarge = PrefixIndex.MAX_BLOCK_SIZE + 1;
        int[] tokens = new int[tooLarge];
        WorkerSlot a = open(7);
        assertEquals(
                new ApplyResult(2, 0, 0, 1),
                apply(
                        root(a, GPU, 7, 1),
                        new PrefixEvent.Stored(
                                a, GPU, false, 0, new long[] {1}, tokens, tooLarge, NONE),
                        after(a, GPU, 7, 1, 2)));
        assertDepth(ask(1, 2), a, 2);
        assertThrows(
                IllegalArgumentException.class,
                () -> index.match(new PrefixQuery(tokens, tooLarge, tooLarge, NONE)));
    }

    @Test
    void a_closed_index_refuses_every_call() {
        WorkerSlot a = open(7);
        index.close();
        assertThrows(IllegalStateException.class, () -> open(8));
        assertThrows(IllegalStateException.class, () -> index.close(a));
        assertThrows(IllegalStateException.class, () -> ask(1));
        assertThrows(IllegalStateException.class, () -> apply(root(a, GPU, 7, 1)));
        assertThrows(IllegalStateException.class, () -> index.stats());
        index.close(); // again: harmless
    }

    @Test
    void closing_beside_running_queries_ends_them_cleanly() throws InterruptedException {
        WorkerSlot a = open(7);
        apply(root(a, GPU, 7, 1, 2, 3));
        int readers = 4;
        CountDownLatch running = new CountDownLatch(readers);
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        AtomicBoolean closing = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            boolean virtual = i % 2 == 1;
            Runnable read =
                    () -> {
                        try {
                            assertDepth(ask(1, 2, 3), a, 3);
                            running.countDown();
                            while (true) {
                                assertDepth(ask(1, 2, 3), a, 3);
                            }
                        } catch (IllegalStateException e) {
                            if (!closing.get()) {
                                wrong.compareAndSet(null, e);
                            }
                        } catch (Throwable t) {
                            wrong.compareAndSet(null, t);
                        }
                    };
            threads.add(
                    virtual ? Thread.startVirtualThread(read) : Thread.ofPlatform().start(read));
        }
        boolean started = running.await(20, TimeUnit.SECONDS);
        closing.set(true);
        index.close();
        for (Thread t : threads) {
            t.join();
        }
        assertEquals(null, wrong.get());
        assertEquals(true, started);
    }

    @Test
    void queries_beside_writes_see_a_prefix_that_was_there() throws InterruptedException {
        WorkerSlot steady = open(1);
        WorkerSlot moving = open(2);
        apply(root(steady, GPU, 1, 1, 2, 3, 4), root(moving, GPU, 2, 1, 2));
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        Thread reader =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    try {
                                        while (!done.get()) {
                                            PrefixMatch m = ask(1, 2, 3, 4);
                                            assertDepth(m, steady, 4);
                                            int d = m.depth(moving, GPU);
                                            if (d < 2 || d > 4) {
                                                throw new AssertionError("depth " + d);
                                            }
                                        }
                                    } catch (Throwable t) {
                                        wrong.set(t);
                                    }
                                });
        for (int i = 0; i < 2000 && wrong.get() == null; i++) {
            apply(after(moving, GPU, 2, 2, 3, 4));
            apply(removed(moving, GPU, 2, 4, 3));
        }
        done.set(true);
        reader.join();
        assertEquals(null, wrong.get());
    }

    /** What an index may keep for nobody is its own affair. */
    private long blocks() {
        return index.stats().blocks() - index.stats().ghosts();
    }

    private void assertSizes(int slots, long blocks, long residencies, long orphans) {
        IndexStats s = index.stats();
        assertEquals(
                List.of((long) slots, blocks, residencies, orphans),
                List.of((long) s.slots(), blocks(), s.residencies(), s.orphans()),
                "slots, blocks, residencies, orphans");
    }
}
