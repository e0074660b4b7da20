/// What the index promises about slots, tiers, domains, name spaces, rows and what is kept for nobody.
#include "fleet.hpp"

#include <numeric>

namespace kvindex::tests {
namespace {

const locals prompt{11, 12, 13, 14};

names from(engine_hash first, std::size_t count) {
    names out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
}

TEST(fleet, events_of_an_older_incarnation_change_nothing) {
    fleet f;
    const slot_id before = f.open();
    f.store(before, {1}, {11});
    f.index.close_slot(before);
    const slot_id now = f.open();
    f.store(now, {1, 2}, {11, 12});
    EXPECT_EQ(f.store(before, {3}, {99}).ignored, 1u);
    EXPECT_EQ(f.remove(before, {1}).ignored, 1u);
    EXPECT_EQ(f.clear(before).ignored, 1u);
    EXPECT_FALSE(f.index.close_slot(before));
    EXPECT_EQ(f.gpu_depth(now, prompt), 2u);
    EXPECT_EQ(f.gpu_depth(now, {99}), 0u);
}

TEST(fleet, clearing_a_tier_leaves_the_others) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3}, {11, 12, 13});
    f.store(s, {1, 2}, {11, 12}, tier::host);
    f.store_behind(70, s, {71}, {21}, tier::host);
    f.store_behind(80, s, {81}, {31}, tier::gpu);
    EXPECT_EQ(f.clear(s, mask_of(tier::gpu)).applied, 1u);
    EXPECT_EQ(f.depth(s, prompt), (depths{0, 2, 2, 2}));
    EXPECT_EQ(f.index.stats().residencies, 2u);
    EXPECT_EQ(f.index.stats().orphans, 1u) << "waiting blocks of that tier go too, those of others stay";
    EXPECT_EQ(f.remove(s, {3}).unknown_removed, 1u);
    f.clear(s, mask_of(tier::host));
    EXPECT_EQ(f.index.stats().residencies, 0u);
    EXPECT_EQ(f.index.stats().orphans, 0u);
    EXPECT_EQ(f.index.stats().blocks, 0u);
}

TEST(fleet, clearing_a_tier_gives_up_the_names_that_only_it_had) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    f.store(a, {1}, {11});
    f.store(b, {2}, {11});             // b's own name for the block
    f.store(b, {3}, {11}, tier::host); // and another one
    EXPECT_GT(f.index.stats().conflicts, 0u);
    f.clear(b, mask_of(tier::gpu));
    EXPECT_EQ(f.depth(b, prompt), (depths{0, 1, 1, 1}));
    EXPECT_EQ(f.store_behind(2, b, {4}, {12}).orphans, 1u) << "the name is gone";
    EXPECT_EQ(f.store_behind(3, b, {5}, {12}).applied, 1u);
}

TEST(fleet, name_spaces_never_see_each_other) {
    fleet f;
    const slot_id a = f.open(1, 0);
    const slot_id b = f.open(1, 65535);
    f.store(a, {1, 2}, {11, 12});
    f.store(b, {5}, {11});
    EXPECT_EQ(f.gpu_depth(a, prompt, 0), 2u);
    EXPECT_EQ(f.gpu_depth(b, prompt, 0), 0u);
    EXPECT_EQ(f.gpu_depth(b, prompt, 65535), 1u);
    EXPECT_EQ(f.gpu_depth(a, prompt, 65535), 0u);
    EXPECT_EQ(f.gpu_depth(a, prompt, 7), 0u);
    EXPECT_EQ(f.index.stats().blocks, 3u);
}

TEST(fleet, one_name_for_different_content_in_one_domain_is_a_conflict_and_exact) {
    fleet f;
    const slot_id a = f.open(1);
    const slot_id b = f.open(1);
    const slot_id other = f.open(2);
    f.store(a, {1}, {11});
    f.store(other, {1}, {77});
    EXPECT_EQ(f.index.stats().conflicts, 0u);
    f.store(b, {1}, {99});
    EXPECT_EQ(f.index.stats().conflicts, 1u);
    f.store_behind(1, a, {2}, {12});
    f.store_behind(1, b, {2}, {12});
    EXPECT_EQ(f.gpu_depth(a, prompt), 2u);
    EXPECT_EQ(f.gpu_depth(b, {99, 12}), 2u);
    EXPECT_EQ(f.gpu_depth(b, prompt), 0u);
    EXPECT_EQ(f.remove(b, {1}).unknown_removed, 0u);
    EXPECT_EQ(f.gpu_depth(a, prompt), 2u);
    EXPECT_EQ(f.gpu_depth(b, {99, 12}), 0u);
}

TEST(fleet, rows_say_what_hits_say) {
    fleet f;
    for (std::uint32_t i = 0; i < 70; i++) {
        const slot_id s = f.open();
        f.store(s, from(1, 1 + i % 4), {prompt.begin(), prompt.begin() + 1 + i % 4},
                i % 5 == 0 ? tier::host : tier::gpu);
    }
    ASSERT_EQ(f.index.slot_bound(), 128u);
    constexpr std::uint32_t stride = 192;
    constexpr std::uint32_t untouched = 0x5a5a5a5au;
    std::vector<std::uint32_t> rows(stride * tier_count, untouched);
    EXPECT_EQ(f.index.match_dense(0, prompt, tier_count, rows.data(), stride), 4u);
    std::vector<std::uint32_t> gpu(stride, untouched);
    f.index.match_dense(0, prompt, 1, gpu.data(), stride);
    for (std::uint32_t i = 0; i < stride; i++) {
        const bool there = i < 70;
        for (std::uint32_t t = 0; t < tier_count; t++) {
            const std::uint32_t held = there && (t != 0 || i % 5 != 0) ? 1 + i % 4 : 0;
            ASSERT_EQ(rows[t * stride + i], i < 128 ? held : untouched) << "tier " << t << " slot " << i;
        }
        ASSERT_EQ(gpu[i], rows[i]);
    }
}

TEST(fleet, what_nobody_holds_stays_known_for_a_while_oldest_first_to_go) {
    fleet f({.max_blocks = 1u << 18, .ghost_percent = 0, .ghost_floor = 10});
    const slot_id s = f.open();
    for (std::uint64_t i = 0; i < 4; i++) {
        f.store(s, from(100 * i, 4), {10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3});
    }
    EXPECT_EQ(f.index.stats().ghosts, 0u);
    for (std::uint64_t i = 0; i < 4; i++) {
        f.remove(s, {100 * i + 3, 100 * i + 2, 100 * i + 1, 100 * i});
    }
    EXPECT_EQ(f.index.stats().residencies, 0u);
    EXPECT_EQ(f.index.stats().ghosts, 8u);
    EXPECT_EQ(f.index.stats().blocks, 8u);
    EXPECT_EQ(f.gpu_depth(s, {30, 31}), 0u) << "known is not held";
    EXPECT_EQ(f.remove(s, {300}).unknown_removed, 1u);
    EXPECT_EQ(f.store_behind(303, s, {9}, {9}).orphans, 1u) << "a ghost is nobody's parent";
    f.store(s, from(300, 4), {30, 31, 32, 33}); // the youngest is still there, the oldest is not
    EXPECT_EQ(f.index.stats().blocks, 9u);
    f.store(s, from(0, 4), {0, 1, 2, 3});
    EXPECT_EQ(f.index.stats().blocks, 13u);
    EXPECT_EQ(f.index.stats().ghosts, 4u);
    EXPECT_EQ(f.gpu_depth(s, {30, 31, 32, 33, 9}), 5u);
}

TEST(fleet, a_prompt_longer_than_a_run_is_whole) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    locals l(20'000);
    std::iota(l.begin(), l.end(), 1u);
    f.store(a, from(1, l.size()), l);
    f.store(b, from(1, 8191), {l.begin(), l.begin() + 8191});
    EXPECT_EQ(f.gpu_depth(a, l), 20'000u);
    EXPECT_EQ(f.gpu_depth(b, l), 8191u);
    EXPECT_EQ(f.index.stats().runs, 3u);
    EXPECT_EQ(f.index.stats().blocks, 20'000u);
    f.store_behind(8191, b, {8192}, {l[8191]});
    EXPECT_EQ(f.gpu_depth(b, l), 8192u);
}

TEST(fleet, closing_the_last_slot_leaves_nothing_where_nothing_is_kept) {
    fleet f;
    const slot_id s = f.open();
    f.store(s, {1, 2, 3}, {11, 12, 13});
    f.store(s, {1, 4}, {11, 14});
    f.store_behind(9, s, {5}, {15});
    f.index.close_slot(s);
    const statistics left = f.index.stats();
    EXPECT_EQ(left.slots + left.blocks + left.ghosts + left.runs + left.residencies + left.orphans, 0u);
}

TEST(fleet, a_block_that_only_led_to_a_chain_goes_with_it) {
    fleet f;
    const slot_id a = f.open();
    const slot_id b = f.open();
    const locals six{11, 12, 13, 14, 15, 16};
    f.store(b, from(1, 6), six);
    f.store_behind(3, b, {30}, {99});
    f.store_behind(6, b, {60}, {98});
    f.store_behind(6, b, {61}, {97});
    f.store(a, from(1, 5), {11, 12, 13, 14, 15});
    f.remove(b, {6, 5, 4, 3, 2, 1});
    EXPECT_EQ(f.index.stats().blocks, 9u);
    f.remove(b, {60});
    EXPECT_EQ(f.index.stats().blocks, 8u);
    f.remove(b, {61});
    // The sixth led to nothing any more. That is looked into when the next block is given up, not before.
    EXPECT_LE(f.index.stats().blocks, 7u);
    f.store(b, {70}, {50});
    f.remove(b, {70});
    EXPECT_EQ(f.index.stats().blocks, 6u);
    f.remove(b, {30});
    EXPECT_EQ(f.index.stats().blocks, 5u);
}

} // namespace
} // namespace kvindex::tests
