/// What gives way, and in which order, when an index reaches its byte budget.
#include "kvindex/prefix_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kvindex::tests {
namespace {

constexpr std::uint64_t budget = 4u << 20;
constexpr std::uint64_t slack = 256u << 10; // what 64 events may add before it is looked at
constexpr std::uint32_t prompt_blocks = 100;

class budgeted : public testing::Test {
protected:
    budgeted() : index({.max_blocks = 1u << 20, .ghost_percent = 100, .byte_budget = budget}) {
        slot = *index.open_slot();
    }

    /// Prompt n has blocks (names and content) of its own.
    std::vector<engine_hash> prompt(std::uint64_t n) const {
        std::vector<engine_hash> blocks(prompt_blocks);
        for (std::uint64_t i = 0; i < prompt_blocks; i++) {
            blocks[i] = (n + 1) * 1'000'000'007u + i;
        }
        return blocks;
    }

    void store(std::uint64_t n) {
        const auto blocks = prompt(n);
        const event e = stored_event{slot, tier::gpu, false, 0, blocks, blocks};
        index.apply({&e, 1});
    }

    void remove(std::uint64_t n) {
        const auto blocks = prompt(n);
        const event e = removed_event{slot, tier::gpu, blocks};
        index.apply({&e, 1});
    }

    std::uint32_t depth(std::uint64_t n) const {
        std::vector<hit> out(4);
        const match_result r = index.match(0, prompt(n), out);
        return r.hits == 0 ? 0 : out[0].depth[0];
    }

    prefix_index index;
    slot_id slot{};
};

TEST_F(budgeted, what_is_held_stays_and_new_blocks_are_refused_until_something_leaves) {
    std::uint64_t n = 0;
    while (index.stats().refused == 0) {
        ASSERT_LT(n, 10'000u) << "the budget was never reached";
        store(n++);
    }
    EXPECT_LE(index.stats().bytes_in_use, budget + slack);
    EXPECT_EQ(index.stats().refused, prompt_blocks);
    EXPECT_EQ(depth(n - 1), 0u); // refused, not half stored
    for (std::uint64_t k = 0; k + 1 < n; k++) {
        ASSERT_EQ(depth(k), prompt_blocks) << "prompt " << k << " was held";
    }
    // Blocks that are known may still be stored again.
    store(0);
    EXPECT_EQ(index.stats().refused, prompt_blocks);
    for (std::uint64_t k = 0; k < n / 2; k++) {
        remove(k);
    }
    store(n);
    EXPECT_EQ(depth(n), prompt_blocks);
    EXPECT_EQ(index.first_broken_invariant(), "");
}

TEST_F(budgeted, blocks_that_nobody_holds_go_first) {
    for (std::uint64_t n = 0; n < 3000; n++) { // several times the budget, one prompt held at a time
        store(n);
        remove(n);
    }
    const statistics s = index.stats();
    EXPECT_EQ(s.refused, 0u);
    EXPECT_LE(s.bytes_in_use, budget + slack);
    EXPECT_GT(s.ghosts, 0u);
    EXPECT_EQ(index.first_broken_invariant(), "");
}

TEST_F(budgeted, then_events_that_wait_for_a_parent) {
    for (std::uint64_t n = 0; n < 2000 && index.stats().orphans_given_up == 0; n++) {
        const auto blocks = prompt(n);
        const event waiting = stored_event{slot, tier::gpu, true, 42, blocks, blocks};
        index.apply({&waiting, 1});
    }
    EXPECT_GT(index.stats().orphans_given_up, 0u);
    EXPECT_EQ(index.stats().refused, 0u);
    store(5000);
    EXPECT_EQ(depth(5000), prompt_blocks);
}

} // namespace
} // namespace kvindex::tests
