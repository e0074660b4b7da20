/// The store of waiting events: no step is long, and want of memory changes nothing.
#include "index/orphan_store.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kvindex::index {
namespace {

const slot_id slot{3};

stored_event waiting(std::span<const engine_hash> names, engine_hash parent) {
    return {.slot = slot,
            .where = tier::gpu,
            .has_parent = true,
            .parent = parent,
            .names = names,
            .locals = names};
}

std::vector<engine_hash> names_from(engine_hash first, std::size_t count) {
    std::vector<engine_hash> names(count);
    for (std::size_t i = 0; i < count; i++) {
        names[i] = first + i;
    }
    return names;
}

TEST(orphan_store, an_event_that_finds_no_memory_leaves_nothing_behind) {
    memory_account account;
    orphan_store store(account, 1'000'000);
    const auto before = names_from(1, 20);
    store.park(waiting(before, 900));
    const auto names = names_from(10, 40); // the first eleven wait already
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1;; n++) {
        const std::uint64_t bytes = account.bytes();
        account.fail_at(n);
        try {
            store.park(waiting(names, 901));
            break;
        } catch (const std::bad_alloc&) {
            failures++;
            EXPECT_EQ(store.blocks(), before.size()) << "allocation " << n;
            EXPECT_LT(account.bytes(), bytes + (64u << 10)); // parts may keep the room that they got
            store.wake(slot, 901);
            EXPECT_EQ(store.first_ready(), nullptr);
            EXPECT_FALSE(store.strike(slot, tier::gpu, names.back()));
        }
    }
    account.fail_at(0);
    EXPECT_GT(failures, 10u) << "the failures never came";
    EXPECT_EQ(store.blocks(), before.size() + names.size());
    // Names of both events are struck in both.
    EXPECT_TRUE(store.strike(slot, tier::gpu, 15));
    EXPECT_EQ(store.blocks(), before.size() + names.size() - 2);
    store.wake(slot, 901);
    ASSERT_NE(store.first_ready(), nullptr);
    EXPECT_EQ(store.first_ready()->blocks.size(), names.size());
}

TEST(orphan_store, no_step_of_its_growth_allocates_much) {
    memory_account account;
    orphan_store store(account, 1'000'000);
    std::uint64_t longest = 0;
    for (engine_hash first = 1; first < 300'000; first += 16) {
        const auto names = names_from(first * 1000, 16);
        const std::uint64_t bytes = account.bytes();
        store.park(waiting(names, first));
        longest = std::max(longest, account.bytes() - std::min(bytes, account.bytes()));
    }
    EXPECT_EQ(store.blocks(), 300'000u);
    EXPECT_GT(account.bytes(), 20u << 20);
    EXPECT_LT(longest, account.bytes() / 64);
}

TEST(orphan_store, gives_its_memory_back) {
    memory_account account;
    {
        orphan_store store(account, 1'000'000);
        const std::uint64_t empty = account.bytes();
        for (engine_hash first = 1; first < 10'000; first += 16) {
            store.park(waiting(names_from(first * 1000, 16), first));
        }
        EXPECT_GT(account.bytes(), empty + 100'000);
        store.clear(slot, all_tiers);
        EXPECT_EQ(account.bytes(), empty);
        EXPECT_TRUE(store.empty());
    }
    EXPECT_EQ(account.bytes(), 0u);
}

} // namespace
} // namespace kvindex::index
