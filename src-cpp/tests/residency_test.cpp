/// What a slot holds of a run, against a plain array of tier masks.
#include "index/residency.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kvindex::index {
namespace {

constexpr std::uint32_t length = 40;
using literal = std::array<tier_mask, length>;

/// The only right form: ascending, nothing empty, neighbours that say the same joined.
residency expected_of(const literal& tiers) {
    residency out;
    for (std::uint32_t i = 0; i < length; i++) {
        if (tiers[i] == 0) {
            continue;
        }
        if (!out.empty() && out.back().end == i && out.back().tiers == tiers[i]) {
            out.back().end = i + 1;
        } else {
            out.push_back({i, i + 1, tiers[i]});
        }
    }
    return out;
}

std::uint32_t depth_of(const literal& tiers, std::uint32_t t) {
    std::uint32_t depth = 0;
    while (depth < length && (tiers[depth] & ((2u << t) - 1u)) != 0) {
        depth++;
    }
    return depth;
}

TEST(residency, any_changes_give_what_a_plain_array_gives) {
    std::mt19937_64 random(11);
    for (std::uint32_t round = 0; round < 200; round++) {
        residency r;
        literal expected{};
        for (std::uint32_t step = 0; step < 300; step++) {
            const auto begin = static_cast<std::uint32_t>(random() % length);
            const auto end = begin + 1 + static_cast<std::uint32_t>(random() % (length - begin));
            const auto bit = static_cast<tier_mask>(1u << random() % (round % 3 == 0 ? 1 : tier_count));
            const bool add = random() % 2 == 0;
            std::uint32_t touched = 0;
            std::int32_t held = 0;
            for (std::uint32_t i = begin; i < end; i++) {
                const tier_mask before = expected[i];
                expected[i] = static_cast<tier_mask>(add ? before | bit : before & ~bit);
                touched += expected[i] != before ? 1u : 0u;
                held += (expected[i] != 0 ? 1 : 0) - (before != 0 ? 1 : 0);
            }
            const residency_change done = change(r, begin, end, bit, add);
            ASSERT_EQ(done.touched, touched) << "round " << round << " step " << step;
            ASSERT_EQ(done.held, held) << "round " << round << " step " << step;
            ASSERT_EQ(r, expected_of(expected)) << "round " << round << " step " << step;
            const auto ends = ends_of(r);
            for (std::uint32_t t = 0; t < tier_count; t++) {
                ASSERT_EQ(ends[t], depth_of(expected, t));
            }
            for (std::uint32_t i = 0; i < length; i++) {
                ASSERT_EQ(tiers_at(r, i), expected[i]);
            }
            ASSERT_EQ(tiers_at(r, length), 0);
        }
    }
}

TEST(residency, only_a_prefix_in_gpu_memory_is_simple) {
    const tier_mask gpu = mask_of(tier::gpu);
    EXPECT_TRUE(is_simple({}));
    EXPECT_TRUE(is_simple({{0, 5, gpu}}));
    EXPECT_FALSE(is_simple({{1, 5, gpu}}));
    EXPECT_FALSE(is_simple({{0, 5, mask_of(tier::host)}}));
    EXPECT_FALSE(is_simple({{0, 5, static_cast<tier_mask>(gpu | mask_of(tier::host))}}));
    EXPECT_FALSE(is_simple({{0, 5, gpu}, {6, 7, gpu}}));
}

} // namespace
} // namespace kvindex::index
