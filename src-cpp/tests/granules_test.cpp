/// The arena of granules against a list of what was given out.
#include "storage/granules.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kvindex::storage {
namespace {

TEST(granules, a_piece_has_what_was_asked_for_and_at_most_a_quarter_more) {
    for (std::uint32_t n = 1; n < 70'000; n++) {
        const std::uint32_t r = granule_arena::rounded(n);
        ASSERT_GE(r, n);
        ASSERT_LE(r * 4, n * 5);
        ASSERT_EQ(granule_arena::rounded(r), r) << "what is rounded is a size of its own";
        ASSERT_LE(granule_arena::rounded(n - 1 + (n == 1)), r);
    }
}

TEST(granules, pieces_never_overlap) {
    granule_arena arena(1u << 20);
    std::map<std::uint32_t, std::uint32_t> given; // first granule -> granules
    std::mt19937_64 random(3);
    std::uint64_t in_use = 0;
    for (std::uint32_t step = 0; step < 50'000; step++) {
        if (given.empty() || random() % 2 == 0) {
            const auto n = static_cast<std::uint32_t>(1 + random() % (random() % 8 == 0 ? 600 : 20));
            const std::uint32_t at = arena.take(n);
            const std::uint32_t end = at + granule_arena::rounded(n);
            ASSERT_NE(at, 0u);
            const auto next = given.lower_bound(at);
            ASSERT_TRUE(next == given.end() || end <= next->first) << "step " << step;
            ASSERT_TRUE(next == given.begin() ||
                        std::prev(next)->first + granule_arena::rounded(std::prev(next)->second) <= at)
                << "step " << step;
            given[at] = n;
            in_use += granule_arena::rounded(n);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(arena.words(at)) % 64, 0u);
        } else {
            auto it = given.lower_bound(static_cast<std::uint32_t>(random() % (given.rbegin()->first + 1)));
            arena.give_back(it->first, it->second);
            in_use -= granule_arena::rounded(it->second);
            given.erase(it);
        }
        ASSERT_EQ(arena.bytes_in_use(), in_use * sizeof(granule));
        ASSERT_GE(arena.bytes(), arena.bytes_in_use());
    }
}

TEST(granules, what_is_given_back_is_given_out_again) {
    granule_arena arena(1000);
    const std::uint32_t first = arena.take(30);
    const std::uint32_t second = arena.take(30);
    arena.give_back(first, 30);
    arena.give_back(second, 30);
    const std::uint64_t before = arena.bytes();
    EXPECT_EQ(arena.take(30), second);
    EXPECT_EQ(arena.take(30), first);
    EXPECT_EQ(arena.bytes(), before);
}

TEST(granules, a_full_region_says_so_and_stays_as_it_was) {
    granule_arena arena(100);
    const std::uint32_t at = arena.take(80);
    const std::uint64_t in_use = arena.bytes_in_use();
    EXPECT_FALSE(arena.can_take(60));
    EXPECT_THROW(arena.take(60), std::bad_alloc);
    EXPECT_EQ(arena.bytes_in_use(), in_use);
    EXPECT_NE(arena.take(4), 0u);
    arena.give_back(at, 80);
    EXPECT_EQ(arena.take(80), at);
}

} // namespace
} // namespace kvindex::storage
