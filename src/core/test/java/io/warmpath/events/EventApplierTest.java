package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineRanks;
import io.warmpath.prefix.Bigrams;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What reaches the index, what does not, and under which reason it is counted. */
class EventApplierTest {
    private static final int SIZE = 2;
    private static final int[] PROMPT = {10, 11, 12, 13, 14, 15, 16, 17};

    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot rank0 = index.open(0);
    private final WorkerSlot rank1 = index.open(0);
    private final EventCounters counters = new EventCounters();
    private final EventApplier applier = applier(0, List.of(rank0, rank1));

    @AfterEach
    void close() {
        index.close();
    }

    @Test
    void stored_blocks_are_found_until_removed() {
        apply(new Store(1, 2).event());
        assertEquals(2, depth(rank0, Tier.GPU));
        apply(removed("GPU", KvEvent.Scope.NONE, 2));
        assertEquals(1, depth(rank0, Tier.GPU));
        assertEquals(2, counters.storedBlocks());
        assertEquals(1, counters.removedBlocks());
    }

    @ParameterizedTest
    @CsvSource({
        ",GPU",
        "GPU,GPU",
        "gpu,GPU",
        "DEVICE,GPU",
        "CPU,HOST",
        "CPU_PINNED,HOST",
        "CPU_TIER1,HOST",
        "CPU_TIER2,DISK",
        "DISK,DISK",
        "NVME,DISK",
        "STORAGE,DISK",
        "FS,DISK",
        "EXTERNAL,EXTERNAL",
        "NETWORK,EXTERNAL",
        "REMOTE,EXTERNAL",
        "SHARED,EXTERNAL",
        "OBJ,EXTERNAL"
    })
    void each_medium_is_a_tier_for_stores_and_removals(@Nullable String medium, Tier tier) {
        Store store = new Store(1, 2);
        store.medium = medium;
        apply(store.event());
        assertEquals(2, depth(rank0, tier));
        for (Tier faster : Tier.values()) {
            if (faster.number() < tier.number()) {
                assertEquals(0, depth(rank0, faster));
            }
        }
        apply(removed(medium, KvEvent.Scope.NONE, 1, 2));
        assertEquals(0, depth(rank0, Tier.EXTERNAL));
    }

    @Test
    void the_rank_in_the_payload_wins_over_that_of_the_socket() {
        applier.apply(batch(1, new Store(1, 2).event()));
        assertEquals(0, depth(rank0, Tier.GPU));
        assertEquals(2, depth(rank1, Tier.GPU));
        applier.apply(batch(KvBatch.NO_RANK, new Store(1, 2).event()));
        assertEquals(2, depth(rank0, Tier.GPU));
    }

    @Test
    void a_rank_that_the_worker_does_not_have_is_dropped() {
        applier.apply(batch(2, new Store(1, 2).event(), new KvEvent.Cleared()));
        assertEquals(2, counters.dropped(DropReason.UNKNOWN_RANK));
        assertEquals(0, depth(rank0, Tier.GPU) + depth(rank1, Tier.GPU));
    }

    @Test
    void a_worker_with_one_rank_takes_events_of_any_rank() {
        applier(0, List.of(rank0)).apply(batch(7, new Store(1, 2).event()));
        assertEquals(2, depth(rank0, Tier.GPU));
    }

    /** A vLLM with the ranks 2 and 3 of a group: no number is the worker's own of the same name. */
    @ParameterizedTest
    @CsvSource({"2,0", "3,1"})
    void a_rank_is_the_one_that_the_engine_numbers_so(int number, int rank) {
        applier(1 - rank, new EngineRanks(2, 2, false)).apply(batch(number, new Store(1).event()));
        assertEquals(rank == 0 ? 1 : 0, depth(rank0, Tier.GPU));
        assertEquals(rank, depth(rank1, Tier.GPU));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "4", "2147483647", "-2147483648"})
    void a_number_that_is_none_of_the_engines_is_dropped(int number) {
        applier(1, new EngineRanks(2, 2, false)).apply(batch(number, new Store(1).event()));
        EngineRanks alone = new EngineRanks(1, 3, false);
        source(0, List.of(rank0), alone).apply(batch(number, new Store(1).event()));
        assertEquals(2, counters.dropped(DropReason.UNKNOWN_RANK));
        assertEquals(0, depth(rank0, Tier.GPU) + depth(rank1, Tier.GPU));
    }

    @ParameterizedTest
    @CsvSource({"0,0,2,0", "0,1,3,1", "0,1,9,1", "0,0,1,1", "2,1,2,0", "2,0,3,1", "2,1,0,1"})
    void where_no_engine_has_named_its_sockets_the_socket_decides_of_other_numbers(
            int first, int socket, int number, int rank) {
        applier(socket, new EngineRanks(2, first, true)).apply(batch(number, new Store(1).event()));
        assertEquals(1 - rank, depth(rank0, Tier.GPU));
        assertEquals(rank, depth(rank1, Tier.GPU));
        assertEquals(0, counters.dropped(DropReason.UNKNOWN_RANK));
    }

    @Test
    void a_clear_empties_its_rank_only() {
        applier.apply(batch(0, new Store(1).event()));
        applier.apply(batch(1, new Store(1).event()));
        applier.apply(batch(0, new KvEvent.Cleared()));
        assertEquals(0, depth(rank0, Tier.EXTERNAL));
        assertEquals(1, depth(rank1, Tier.GPU));
    }

    @Test
    void forgetting_empties_every_rank_the_source_has_fed() {
        applier.apply(batch(0, new Store(1).event()));
        applier.apply(batch(1, new Store(1).event()));
        applier.forget(false);
        assertEquals(0, depth(rank0, Tier.EXTERNAL) + depth(rank1, Tier.EXTERNAL));
    }

    @Test
    void blocks_of_another_size_are_dropped() {
        Store store = new Store(1, 2);
        store.blockSize = 4;
        apply(store.event());
        dropped(DropReason.BLOCK_SIZE);
    }

    @Test
    void a_last_page_that_is_shorter_is_dropped_as_such() {
        Store store = new Store(1);
        store.blockSize = 1;
        apply(store.event());
        dropped(DropReason.SHORT_PAGE);
    }

    @Test
    void token_ids_that_do_not_fit_the_hashes_are_dropped() {
        Store store = new Store(1, 2);
        store.tokens = new int[] {10, 11, 12};
        apply(store.event());
        dropped(DropReason.TOKEN_COUNT);
    }

    @Test
    void a_store_without_token_ids_is_dropped() {
        Store store = new Store(1);
        store.tokens = new int[0];
        apply(store.event());
        dropped(DropReason.NO_TOKENS);
    }

    @Test
    void empty_lists_are_dropped() {
        apply(new Store().event());
        apply(removed("GPU", KvEvent.Scope.NONE));
        assertEquals(2, counters.dropped(DropReason.EMPTY));
    }

    @Test
    void a_block_that_is_its_own_parent_is_dropped() {
        Store store = new Store(1);
        store.parent = 1L;
        apply(store.event());
        Store longer = new Store(1, 2);
        longer.parent = 2L;
        apply(longer.event());
        assertEquals(2, counters.dropped(DropReason.SELF_PARENT));
        assertEquals(0, depth(rank0, Tier.EXTERNAL));
    }

    @Test
    void the_same_hash_twice_in_one_event_is_dropped() {
        apply(new Store(1, 1).event());
        dropped(DropReason.DUPLICATE_HASH);
    }

    @Test
    void pages_of_pairs_of_tokens_are_found_by_their_pairs() {
        Store store = new Store(1, 2);
        store.bigram = true;
        store.tokens = Arrays.copyOf(PROMPT, 5);
        apply(store.event());
        assertEquals(2, pages(PROMPT, PROMPT.length));
        assertEquals(2, pages(PROMPT, 6));
        assertEquals(1, pages(PROMPT, 5), "its last token is computed");
        int[] other = PROMPT.clone();
        other[4]++;
        assertEquals(1, pages(other, other.length), "the last token of the second page differs");
        assertEquals(0, depth(rank0, Tier.GPU), "no block of tokens is there");
        apply(removed("GPU", KvEvent.Scope.NONE, 2));
        assertEquals(1, pages(PROMPT, PROMPT.length));
        assertEquals(2, counters.storedBlocks());
    }

    @Test
    void pairs_that_do_not_fit_the_hashes_are_dropped() {
        Store store = new Store(1, 2);
        store.bigram = true;
        apply(store.event()); // four tokens, three pairs
        dropped(DropReason.TOKEN_COUNT);
    }

    private int pages(int[] prompt, int length) {
        return index.match(Bigrams.lookUp(prompt, length, SIZE, PrefixSpace.NONE))
                .depth(rank0, Tier.GPU);
    }

    @Test
    void an_adapter_known_by_number_only_is_dropped() {
        Store store = new Store(1);
        store.unnamedLora = true;
        apply(store.event());
        dropped(DropReason.UNNAMED_LORA);
    }

    @Test
    void unknown_media_are_dropped() {
        Store store = new Store(1);
        store.medium = "HBF";
        apply(store.event(), removed("HBF", KvEvent.Scope.NONE, 1));
        assertEquals(2, counters.dropped(DropReason.UNKNOWN_MEDIUM));
    }

    @Test
    void blocks_of_another_worker_are_dropped_in_both_directions() {
        KvEvent.Scope remote = new KvEvent.Scope(KvEvent.Scope.NO_GROUP, null, 0, "REMOTE");
        apply(new Store(1).event());
        Store store = new Store(2);
        store.scope = remote;
        apply(store.event(), removed("GPU", remote, 1));
        assertEquals(2, counters.dropped(DropReason.REMOTE));
        assertEquals(1, depth(rank0, Tier.GPU));
    }

    @Test
    void blocks_before_an_image_count_and_those_after_it_do_not() {
        Store store = new Store(1, 2, 3);
        store.plainBlocks = 2;
        apply(store.event());
        assertEquals(2, depth(rank0, Tier.GPU));
        assertEquals(1, counters.dropped(DropReason.MULTIMODAL));
        Store image = new Store(4);
        image.plainBlocks = 0;
        apply(image.event());
        assertEquals(2, counters.dropped(DropReason.MULTIMODAL));
    }

    /** Hybrid models: both groups use the same hash, the removal names only the group's number. */
    @Test
    void a_removal_from_a_side_group_leaves_the_main_group_alone() {
        apply(new Store(1).event());
        Store window = new Store(1);
        window.scope = new KvEvent.Scope(1, "sliding_window", 0, null);
        apply(window.event());
        assertEquals(1, counters.dropped(DropReason.SPEC_KIND));
        apply(removed("GPU", new KvEvent.Scope(1, null, 0, null), 1));
        assertEquals(2, counters.dropped(DropReason.SPEC_KIND));
        assertEquals(1, depth(rank0, Tier.GPU));
        apply(removed("GPU", new KvEvent.Scope(0, null, 0, null), 1));
        assertEquals(0, depth(rank0, Tier.GPU));
    }

    @ParameterizedTest
    @CsvSource({
        "full_attention,1",
        "mla_attention,1",
        "sink_full_attention,1",
        "sliding_window_mla,0",
        "mamba,1",
        "chunked_local_attention,0",
        "something_new,0"
    })
    void only_groups_that_decide_the_prefix_count(String kind, int depth) {
        Store store = new Store(1);
        store.scope = new KvEvent.Scope(0, kind, 0, null);
        apply(store.event());
        assertEquals(depth, depth(rank0, Tier.GPU));
    }

    /** vLLM names the salt in the first block of a prompt only. */
    @Test
    void a_later_block_inherits_the_space_of_its_parent() {
        Store first = new Store(1, 2);
        first.salt = "s";
        Store second = new Store(3);
        second.parent = 2L;
        second.tokens = new int[] {14, 15};
        apply(first.event(), second.event());
        assertEquals(3, depth(rank0, Tier.GPU, new PrefixSpace("", "s")));
        assertEquals(0, depth(rank0, Tier.GPU));
    }

    @Test
    void a_space_is_forgotten_with_its_last_tier_and_not_before() {
        Store first = new Store(1);
        first.salt = "s";
        apply(first.event());
        first.medium = "CPU";
        apply(first.event());
        apply(removed("GPU", KvEvent.Scope.NONE, 1));
        Store second = new Store(2);
        second.parent = 1L;
        second.tokens = new int[] {12, 13};
        apply(second.event());
        assertEquals(2, depth(rank0, Tier.HOST, new PrefixSpace("", "s")));
        apply(removed("CPU", KvEvent.Scope.NONE, 1), removed("GPU", KvEvent.Scope.NONE, 2));
        apply(new Store(1).event());
        assertEquals(1, depth(rank0, Tier.GPU), "the number came back in the common space");
    }

    @Test
    void adapter_and_salt_separate_equal_tokens() {
        Store store = new Store(1);
        store.lora = "sql";
        store.salt = "s";
        apply(store.event());
        assertEquals(1, depth(rank0, Tier.GPU, new PrefixSpace("sql", "s")));
        assertEquals(0, depth(rank0, Tier.GPU, new PrefixSpace("sql", "")));
        assertEquals(0, depth(rank0, Tier.GPU, new PrefixSpace("", "s")));
    }

    /** llm-d's simulator has no other way to say "no parent". */
    @Test
    void parent_zero_is_the_start_of_a_prompt() {
        Store store = new Store(1);
        store.parent = 0L;
        apply(store.event());
        assertEquals(1, depth(rank0, Tier.GPU));
        assertEquals(0, counters.orphans());
    }

    @Test
    void a_child_before_its_parent_counts_once_the_parent_came() {
        Store child = new Store(2);
        child.parent = 1L;
        child.tokens = new int[] {12, 13};
        apply(child.event());
        assertEquals(0, depth(rank0, Tier.GPU));
        assertEquals(1, counters.orphans());
        apply(new Store(1).event());
        assertEquals(2, depth(rank0, Tier.GPU));
    }

    @Test
    void unknown_events_are_counted_and_the_others_applied() {
        apply(new KvEvent.Unknown("BlockMoved"), new Store(1).event());
        assertEquals(1, counters.unknownTags());
        assertEquals(1, depth(rank0, Tier.GPU));
    }

    @Test
    void what_carries_a_tag_is_heard_until_that_is_enough() {
        TaggedBlocks tagged = new TaggedBlocks();
        EventApplier applier = applier(0, List.of(rank0), tagged);
        List<String> heard = new ArrayList<>();
        tagged.listen(
                "mine",
                (parent, last, tokens, blockSize) -> {
                    heard.add(parent + " " + last + " " + tokens.length + " " + blockSize);
                    return heard.size() == 2;
                });
        for (String tag : new String[] {"other", null, "mine", "mine", "mine"}) {
            Store store = new Store(1, 2);
            store.parent = 7L;
            store.tag = tag;
            applier.apply(batch(0, store.event()));
        }
        assertEquals(List.of("7 2 4 2", "7 2 4 2"), heard);
        assertEquals(10, counters.storedBlocks());
    }

    @Test
    void copies_in_host_memory_and_pairs_of_tokens_are_not_what_a_request_has_computed() {
        TaggedBlocks tagged = new TaggedBlocks();
        EventApplier applier = applier(0, List.of(rank0), tagged);
        List<int[]> heard = new ArrayList<>();
        tagged.listen("mine", (parent, last, tokens, blockSize) -> !heard.add(tokens));
        Store copy = new Store(1);
        copy.tag = "mine";
        copy.medium = "CPU";
        Store pairs = new Store(2);
        pairs.tag = "mine";
        pairs.bigram = true;
        pairs.tokens = Arrays.copyOf(PROMPT, 3);
        applier.apply(batch(0, copy.event(), pairs.event()));
        assertEquals(2, counters.storedBlocks());
        assertEquals(0, heard.size());
    }

    @Test
    void the_longest_waiting_listeners_make_room() {
        TaggedBlocks tagged = new TaggedBlocks();
        EventApplier applier = applier(0, List.of(rank0), tagged);
        List<String> heard = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String tag = "t" + i;
            tagged.listen(tag, (parent, last, tokens, blockSize) -> heard.add(tag));
        }
        for (int i = 0; i < 300; i++) {
            Store store = new Store(1);
            store.tag = "t" + i;
            applier.apply(batch(0, store.event()));
        }
        assertEquals(256, heard.size());
        assertEquals("t44", heard.getFirst());
    }

    @Test
    void a_clear_of_one_rank_of_several_makes_no_view_whole() {
        applier.apply(batch(0, new Store(1).event()));
        assertFalse(applier.apply(batch(0, new Store(1).event())));
        assertTrue(applier.apply(batch(0, new KvEvent.Cleared())), "no other was heard of");
        applier.apply(batch(1, new Store(1).event()));
        assertFalse(applier.apply(batch(0, new KvEvent.Cleared())));
        assertFalse(applier.apply(batch(1, new KvEvent.Cleared())));
    }

    @Test
    void a_source_without_a_slot_is_refused() {
        assertThrows(IllegalArgumentException.class, () -> applier(0, List.of()));
    }

    private EventApplier applier(int rank, List<WorkerSlot> slots) {
        return applier(rank, slots, TaggedBlocks.NOBODY);
    }

    private EventApplier applier(int rank, EngineRanks ranks) {
        return source(rank, List.of(rank0, rank1), ranks);
    }

    private EventApplier source(int rank, List<WorkerSlot> slots, EngineRanks ranks) {
        return applier(rank, slots, ranks, TaggedBlocks.NOBODY);
    }

    private EventApplier applier(int rank, List<WorkerSlot> slots, TaggedBlocks tagged) {
        return applier(rank, slots, EngineRanks.of(slots.size()), tagged);
    }

    private EventApplier applier(
            int rank, List<WorkerSlot> slots, EngineRanks ranks, TaggedBlocks tagged) {
        return new EventApplier(
                new EventSource(
                        "w", rank, slots, ranks, "inproc://x", false, null, "", SIZE, 0, tagged),
                index,
                counters,
                new SourceTally());
    }

    private void apply(KvEvent... events) {
        applier.apply(batch(0, events));
    }

    private static KvBatch batch(int rank, KvEvent... events) {
        return new KvBatch(1.5, rank, List.of(events), 0, 0);
    }

    private static KvEvent removed(@Nullable String medium, KvEvent.Scope scope, long... hashes) {
        return new KvEvent.Removed(hashes, medium, scope);
    }

    private void dropped(DropReason reason) {
        assertEquals(1, counters.dropped(reason));
        assertEquals(0, depth(rank0, Tier.EXTERNAL));
        assertEquals(0, counters.storedEvents());
    }

    private int depth(WorkerSlot slot, Tier tier) {
        return depth(slot, tier, PrefixSpace.NONE);
    }

    private int depth(WorkerSlot slot, Tier tier, PrefixSpace space) {
        return index.match(new PrefixQuery(PROMPT, PROMPT.length, SIZE, space)).depth(slot, tier);
    }

    /** A stored event with everything ordinary unless said otherwise. */
    private static final class Store {
        private final long[] hashes;
        private int[] tokens;
        private @Nullable Long parent;
        private int blockSize = SIZE;
        private @Nullable String medium = "GPU";
        private @Nullable String lora;
        private @Nullable String salt;
        private @Nullable String tag;
        private boolean bigram;
        private boolean unnamedLora;
        private int plainBlocks;
        private KvEvent.Scope scope = KvEvent.Scope.NONE;

        Store(long... hashes) {
            this.hashes = hashes;
            this.tokens = Arrays.copyOf(PROMPT, hashes.length * SIZE);
            this.plainBlocks = hashes.length;
        }

        KvEvent.Stored event() {
            return new KvEvent.Stored(
                    hashes,
                    parent != null,
                    parent == null ? 0 : parent,
                    tokens,
                    bigram,
                    blockSize,
                    medium,
                    lora,
                    unnamedLora,
                    salt,
                    plainBlocks,
                    tag,
                    scope);
        }
    }
}
