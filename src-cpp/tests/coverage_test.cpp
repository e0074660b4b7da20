/// Interval coverage against a plain array of tier masks.
#include "index/coverage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace kvindex::index {
namespace {

constexpr std::uint32_t length = 40;
constexpr std::uint32_t slots = 3;

struct literal {
    std::array<std::array<tier_mask, length>, slots> tiers{};

    void change(std::uint32_t slot, std::uint32_t begin, std::uint32_t end, tier_mask add, tier_mask drop) {
        for (std::uint32_t i = begin; i < end; i++) {
            tiers[slot][i] = static_cast<tier_mask>((tiers[slot][i] | add) & ~drop);
        }
    }
};

void expect_same(const run& r, const coverage& c, const literal& expected, std::uint64_t step) {
    std::uint64_t blocks = 0;
    std::uint64_t residencies = 0;
    for (std::uint32_t i = 0; i < length; i++) {
        std::uint16_t holders = 0;
        for (std::uint32_t slot = 0; slot < slots; slot++) {
            const tier_mask tiers = expected.tiers[slot][i];
            ASSERT_EQ(tiers_at(r, slot_id{slot}, i), tiers)
                << "slot " << slot << " block " << i << " step " << step;
            ASSERT_EQ(holds_any(r, slot_id{slot}, i, i + 1), tiers != 0);
            holders = static_cast<std::uint16_t>(holders + (tiers != 0 ? 1 : 0));
        }
        ASSERT_EQ(r.holders[i], holders);
        blocks += holders != 0 ? 1u : 0u;
        residencies += holders;
    }
    ASSERT_EQ(c.blocks(), blocks);
    ASSERT_EQ(c.residencies(), residencies);
    for (std::size_t i = 1; i < r.segments.size(); i++) {
        const segment& a = r.segments[i - 1];
        const segment& b = r.segments[i];
        ASSERT_TRUE(a.slot < b.slot || (a.slot == b.slot && a.end <= b.begin));
        ASSERT_FALSE(a.slot == b.slot && a.end == b.begin && a.tiers == b.tiers) << "not joined";
    }
}

TEST(coverage, any_changes_give_what_a_plain_array_gives) {
    memory_account account;
    coverage c(account);
    run r(account);
    r.locals.resize(length);
    r.holders.resize(length);
    literal expected;
    std::mt19937_64 random(11);
    for (std::uint64_t step = 0; step < 60'000; step++) {
        const auto slot = static_cast<std::uint32_t>(random() % slots);
        const auto begin = static_cast<std::uint32_t>(random() % length);
        const auto end = begin + 1 + static_cast<std::uint32_t>(random() % (length - begin));
        auto add = static_cast<tier_mask>(1u << random() % tier_count);
        tier_mask drop = 0;
        if (random() % 2 == 0) {
            std::swap(add, drop);
        }
        if (random() % 500 == 0) {
            c.forget(r, slot_id{slot});
            expected.tiers[slot] = {};
        } else {
            c.reserve(r, slot_id{slot}, begin, end);
            account.fail_at(1); // change() must not allocate
            c.change(r, slot_id{slot}, begin, end, add, drop);
            account.fail_at(0);
            expected.change(slot, begin, end, add, drop);
        }
        expect_same(r, c, expected, step);
        if (HasFatalFailure()) {
            return;
        }
    }
}

TEST(coverage, one_slot_in_one_tier_is_one_interval) {
    memory_account account;
    coverage c(account);
    run r(account);
    r.locals.resize(length);
    r.holders.resize(length);
    for (std::uint32_t i = 0; i < length; i++) {
        c.reserve(r, slot_id{0}, i, i + 1);
        c.change(r, slot_id{0}, i, i + 1, 1, 0);
    }
    ASSERT_EQ(r.segments.size(), 1u);
    EXPECT_EQ(r.segments[0], (segment{0, 1, 0, length}));
}

} // namespace
} // namespace kvindex::index
