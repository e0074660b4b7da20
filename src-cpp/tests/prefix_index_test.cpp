/// What the index promises, one promise a test. Slots, tiers, spaces and ghosts: fleet_test.cpp; random
/// histories: differential_test.cpp.
#include "fleet.hpp"

#include "base/hashing.hpp"

#include <algorithm>
#include <numeric>

namespace kvindex::tests {
namespace {

const locals prompt{11, 12, 13, 14};

names from(engine_hash first, std::size_t count) {
    names out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
}

TEST(prefix_index, an_empty_index_and_an_empty_prompt_have_no_hits) {
    fleet f;
    std::vector<hit> hits(4);
    EXPECT_EQ(f.index.match(0, prompt, hits).hits, 0u);
    f.store(f.open(), {1, 2}, {11, 12});
    EXPECT_EQ(f.index.match(0, {}, hits).hits, 0u);
}

TEST(prefix_index, depths_are_cumulative_over_tiers) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3, 4}, prompt, tier::disk);
    f.store(s, {1, 2}, {11, 12}, tier::host);
    f.store(s, {1}, {11}, tier::gpu);
    EXPECT_EQ(f.depth(s, prompt), (depths{1, 2, 4, 4}));
}

TEST(prefix_index, a_faster_tier_in_the_middle_counts_for_the_slower_ones_only_when_reached) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3, 4}, prompt, tier::gpu);
    f.remove(s, {2});
    f.store_behind(1, s, {2}, {12}, tier::host);
    EXPECT_EQ(f.depth(s, prompt), (depths{1, 4, 4, 4}));
}

TEST(prefix_index, a_block_stays_visible_while_it_moves_between_tiers) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2}, {11, 12});
    f.store(s, {1, 2}, {11, 12}, tier::host);
    f.remove(s, {2, 1});
    EXPECT_EQ(f.depth(s, prompt), (depths{0, 2, 2, 2}));
    EXPECT_EQ(f.index.stats().residencies, 2u);
}

TEST(prefix_index, a_hole_hides_what_lies_behind_it_until_it_is_filled) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3, 4}, prompt);
    f.remove(s, {2});
    EXPECT_EQ(f.gpu_depth(s, prompt), 1u);
    EXPECT_EQ(f.index.stats().residencies, 3u);
    f.store_behind(1, s, {2}, {12});
    EXPECT_EQ(f.gpu_depth(s, prompt), 4u);
}

TEST(prefix_index, storing_twice_is_storing_once) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3}, {11, 12, 13});
    const statistics before = f.index.stats();
    EXPECT_EQ(f.store(s, {1, 2, 3}, {11, 12, 13}).applied, 1u);
    EXPECT_EQ(f.index.stats().residencies, before.residencies);
    EXPECT_EQ(f.index.stats().blocks, before.blocks);
    EXPECT_EQ(f.index.stats().moves, 0u);
    EXPECT_EQ(f.remove(s, {3, 2, 1}).unknown_removed, 0u);
    EXPECT_EQ(f.index.stats().residencies, 0u);
}

TEST(prefix_index, what_is_not_there_cannot_be_removed_and_is_counted) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2}, {11, 12});
    EXPECT_EQ(f.remove(s, {9, 1, 8, 2, 1}).unknown_removed, 3u);
    f.store(s, {1}, {11});
    EXPECT_EQ(f.remove(s, {1}, tier::host).unknown_removed, 1u);
    EXPECT_EQ(f.gpu_depth(s, prompt), 1u);
}

TEST(prefix_index, workers_share_content_whatever_they_call_it) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    f.store(a, {1, 2, 3}, {11, 12, 13});
    f.store(b, {900, 901}, {11, 12});
    EXPECT_EQ(f.index.stats().blocks, 3u);
    EXPECT_EQ(f.index.stats().residencies, 5u);
    EXPECT_EQ(f.index.stats().runs, 1u);
    EXPECT_EQ(f.gpu_depth(a, prompt), 3u);
    EXPECT_EQ(f.gpu_depth(b, prompt), 2u);
}

TEST(prefix_index, one_hash_may_stand_for_different_content_on_different_workers) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    f.store(a, {1}, {11});
    f.store(b, {1}, {99});
    f.remove(a, {1});
    EXPECT_EQ(f.gpu_depth(a, prompt), 0u);
    EXPECT_EQ(f.gpu_depth(b, {99}), 1u);
}

TEST(prefix_index, a_hash_stored_at_another_place_moves_there) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3}, {11, 12, 13});
    f.store(s, {1, 2, 3}, {11, 12, 13}, tier::host);
    f.store(s, {7, 2}, {70, 71});
    EXPECT_EQ(f.depth(s, prompt), (depths{1, 1, 1, 1}));
    EXPECT_EQ(f.depth(s, {70, 71}), (depths{2, 2, 2, 2}));
    EXPECT_EQ(f.index.stats().moves, 1u);
    // What lay behind it stays: a refill under another name makes it count again.
    f.store_behind(1, s, {8}, {12});
    EXPECT_EQ(f.gpu_depth(s, prompt), 3u);
}

TEST(prefix_index, a_block_with_two_names_stays_while_either_stays) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2}, {11, 12});
    f.store(s, {5, 6}, {11, 12}, tier::host);
    EXPECT_EQ(f.index.stats().residencies, 2u);
    f.remove(s, {1, 2});
    EXPECT_EQ(f.depth(s, prompt), (depths{0, 2, 2, 2}));
    f.remove(s, {5}, tier::host);
    EXPECT_EQ(f.depth(s, prompt), (depths{0, 0, 0, 0}));
    EXPECT_EQ(f.index.stats().residencies, 1u);
}

TEST(prefix_index, children_that_come_before_their_parents_are_attached) {
    fleet f;
    const slot_id s = f.open();
    EXPECT_EQ(f.store_behind(3, s, {4}, {14}).orphans, 1u);
    EXPECT_EQ(f.store_behind(1, s, {2, 3}, {12, 13}).orphans, 1u);
    EXPECT_EQ(f.index.stats().orphans, 3u);
    EXPECT_EQ(f.gpu_depth(s, prompt), 0u);
    f.store(s, {1}, {11});
    EXPECT_EQ(f.index.stats().orphans, 0u);
    EXPECT_EQ(f.gpu_depth(s, prompt), 4u);
}

TEST(prefix_index, a_buffer_may_hold_the_child_before_the_parent) {
    fleet f;
    const slot_id s = f.open();
    const names n = from(1, 4);
    const std::array<event, 3> events{
        stored_event{s, tier::gpu, true, 2, {n.data() + 2, 2}, {prompt.data() + 2, 2}},
        stored_event{s, tier::gpu, true, 1, {n.data() + 1, 1}, {prompt.data() + 1, 1}},
        stored_event{s, tier::gpu, false, 0, {n.data(), 1}, {prompt.data(), 1}}};
    const applied_counts counts = f.index.apply(events);
    EXPECT_EQ(counts.orphans, 2u);
    EXPECT_EQ(counts.applied, 1u);
    EXPECT_EQ(f.gpu_depth(s, prompt), 4u);
    EXPECT_EQ(f.index.first_broken_invariant(), "");
}

TEST(prefix_index, a_removed_orphan_is_not_attached_but_those_behind_it_are) {
    fleet f;
    const slot_id s = f.open();
    f.store_behind(1, s, {2, 3, 4}, {12, 13, 14});
    EXPECT_EQ(f.remove(s, {3}).unknown_removed, 0u);
    EXPECT_EQ(f.index.stats().orphans, 2u);
    f.store(s, {1}, {11});
    EXPECT_EQ(f.gpu_depth(s, prompt), 2u);
    f.store_behind(2, s, {3}, {13});
    EXPECT_EQ(f.gpu_depth(s, prompt), 4u);
}

TEST(prefix_index, clearing_a_slot_forgets_its_orphans_too) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    f.store_behind(1, a, {2}, {12});
    f.store_behind(1, b, {2}, {12});
    f.store(a, {5}, {50});
    EXPECT_EQ(f.clear(a).applied, 1u);
    EXPECT_EQ(f.index.stats().orphans, 1u);
    f.store(a, {1}, {11});
    f.store(b, {1}, {11});
    EXPECT_EQ(f.gpu_depth(a, prompt), 1u);
    EXPECT_EQ(f.gpu_depth(b, prompt), 2u);
}

TEST(prefix_index, past_the_limit_the_oldest_orphans_are_given_up) {
    fleet f(with_orphan_limit(4));
    const slot_id s = f.open();
    f.store_behind(100, s, {1, 2}, {21, 22});
    f.store_behind(200, s, {3, 4}, {31, 32});
    f.store_behind(300, s, {5}, {41});
    EXPECT_EQ(f.index.stats().orphans, 3u);
    EXPECT_EQ(f.index.stats().orphans_given_up, 2u);
    f.store(s, {100}, {20});
    f.store(s, {200}, {30});
    f.store(s, {300}, {40});
    EXPECT_EQ(f.gpu_depth(s, {20, 21, 22}), 1u);
    EXPECT_EQ(f.gpu_depth(s, {30, 31, 32}), 3u);
    EXPECT_EQ(f.gpu_depth(s, {40, 41}), 2u);
}

TEST(prefix_index, an_event_longer_than_the_orphan_limit_is_not_kept) {
    fleet f(with_orphan_limit(3));
    const slot_id s = f.open();
    EXPECT_EQ(f.store_behind(100, s, from(1, 4), {21, 22, 23, 24}).orphans, 1u);
    EXPECT_EQ(f.index.stats().orphans, 0u);
    EXPECT_EQ(f.index.stats().orphans_given_up, 4u);
}

TEST(prefix_index, slots_are_given_out_lowest_first_and_start_empty) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    const slot_id c = f.open();
    EXPECT_EQ(number_of(c), 2u);
    f.store(b, {1, 2}, {11, 12});
    EXPECT_TRUE(f.index.close_slot(b));
    EXPECT_FALSE(f.index.close_slot(b));
    EXPECT_EQ(f.store(b, {1}, {11}).ignored, 1u);
    EXPECT_EQ(f.remove(b, {1}).ignored, 1u);
    EXPECT_EQ(f.clear(b).ignored, 1u);
    const slot_id again = f.open();
    EXPECT_EQ(number_of(again), number_of(b));
    EXPECT_EQ(incarnation_of(again), incarnation_of(b) + 1);
    EXPECT_EQ(f.gpu_depth(again, prompt), 0u);
    EXPECT_EQ(f.remove(again, {1}).unknown_removed, 1u);
    f.store(a, {1}, {11});
    EXPECT_EQ(f.gpu_depth(a, prompt), 1u);
}

TEST(prefix_index, every_slot_may_hold_the_same_prefix) {
    fleet f;
    const names n = from(1, 4);
    for (std::uint32_t i = 0; i < max_slots; i++) {
        const slot_id s = f.open(i % 3);
        const std::size_t count = 1 + i % 4;
        const event e = stored_event{s, tier::gpu, false, 0, {n.data(), count}, {prompt.data(), count}};
        f.index.apply({&e, 1});
    }
    EXPECT_EQ(f.index.open_slot(1, 0), std::nullopt);
    EXPECT_EQ(f.index.slot_bound(), max_slots);
    EXPECT_EQ(f.index.first_broken_invariant(), "");
    std::vector<hit> hits(max_slots);
    const match_result result = f.index.match(0, prompt, hits);
    ASSERT_EQ(result.hits, max_slots);
    for (std::uint32_t i = 0; i < max_slots; i++) {
        ASSERT_EQ(hits[i].slot, i);
        ASSERT_EQ(hits[i].depth, (depths{1 + i % 4, 1 + i % 4, 1 + i % 4, 1 + i % 4}));
    }
    EXPECT_FALSE(f.index.match(0, prompt, std::span(hits).first(max_slots - 1)).fits);
    EXPECT_EQ(f.index.stats().blocks, 4u * (max_slots / 1024)); // once for each 1,024 slots
}

TEST(prefix_index, a_chain_that_nobody_holds_gives_its_memory_back) {
    fleet f;
    const slot_id s = f.open();
    std::uint64_t after_one = 0;
    for (std::uint64_t round = 0; round < 12; round++) {
        locals l(5000);
        std::iota(l.begin(), l.end(), 1'000'000 * (round + 1));
        names n = from(1 + 10'000 * round, l.size());
        f.store(s, n, l);
        f.store_behind(n[2500], s, {n[0] + 9000}, {5}); // a child run in the middle
        std::reverse(n.begin(), n.end());
        f.remove(s, n);
        EXPECT_EQ(f.index.stats().residencies, 1u);
        EXPECT_EQ(f.index.stats().blocks, 2502u) << "what leads to the child stays";
        f.remove(s, {n.back() + 9000});
        EXPECT_EQ(f.index.stats().runs, 0u);
        EXPECT_EQ(f.index.stats().blocks, 0u);
        EXPECT_EQ(f.index.stats().ghosts, 0u);
        after_one = round == 1 ? f.index.stats().bytes : after_one;
    }
    EXPECT_LT(f.index.stats().bytes, after_one + 1000) << "the memory of one round serves the next";
}

TEST(prefix_index, one_block_events_of_one_conversation_make_one_run) {
    fleet f;
    const slot_id s = f.open();
    locals l;
    for (engine_hash i = 1; i <= 300; i++) {
        l.push_back(i * 7);
        if (i == 1) {
            f.store(s, {i}, {l.back()});
        } else {
            f.store_behind(i - 1, s, {i}, {l.back()});
        }
    }
    EXPECT_EQ(f.index.stats().runs, 1u);
    EXPECT_EQ(f.gpu_depth(s, l), 300u);
}

TEST(prefix_index, prompts_that_part_share_what_they_have_in_common) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    f.store(a, {1, 2, 3, 4}, prompt);
    f.store(b, {1, 2, 5}, {11, 12, 99});
    EXPECT_EQ(f.index.stats().blocks, 5u);
    EXPECT_EQ(f.index.stats().runs, 2u);
    EXPECT_EQ(f.gpu_depth(b, prompt), 2u);
    EXPECT_EQ(f.gpu_depth(a, {11, 12, 99}), 2u);
    EXPECT_EQ(f.gpu_depth(b, {11, 12, 99}), 3u);
}

TEST(prefix_index, a_match_from_tokens_is_the_match_of_their_hashes) {
    fleet f;
    const slot_id s = f.open();
    constexpr std::uint32_t block = 16;
    std::vector<std::uint32_t> tokens(block * 1000);
    std::iota(tokens.begin(), tokens.end(), 5u);
    for (const std::uint32_t held : {1u, 63u, 64u, 65u, 200u, 1000u}) {
        locals l(held);
        hash_blocks(tokens.data(), block, 1337, l);
        f.store(s, from(1, held), l);
        std::vector<hit> hits(1);
        const match_result result = f.index.match_tokens(0, tokens.data(), 1000, block, 1337, hits);
        ASSERT_EQ(result.hits, 1u);
        EXPECT_EQ(hits[0].depth[0], held);
        f.clear(s);
    }
}

} // namespace
} // namespace kvindex::tests
