/// Memory runs out while a table grows, or a snapshot is saved or loaded: nothing is lost, and it works again
/// afterwards.
#include "failing_memory.hpp"
#include "kvindex/prefix_index.hpp"
#include "scratch_file.hpp"
#include "storage/child_table.hpp"
#include "storage/name_map.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <random>

namespace kvindex::tests {
namespace {

/// f() with its n-th allocation failing; whether it did.
template <typename F>
bool fails_at(std::uint64_t n, F&& f) {
    const failing_memory armed(n, failing::once);
    try {
        f();
    } catch (const std::bad_alloc&) {
        return true;
    }
    return false;
}

/// f() with the first allocation failing, then the second, ... until it works. After each failure `whole` is
/// asked. Answers how often it failed.
template <typename F, typename Whole>
std::uint64_t until_it_works(F&& f, Whole&& whole) {
    std::uint64_t n = 1;
    for (; fails_at(n, f); n++) {
        whole();
    }
    return n - 1;
}

/// The same for what keeps some of its progress when it fails, so that the n-th allocation is another each
/// time: n at random.
template <typename F, typename Whole>
std::uint64_t until_it_works_by_chance(std::mt19937_64& random, F&& f, Whole&& whole) {
    std::uint64_t failures = 0;
    while (fails_at(1 + random() % 5, f)) {
        whole();
        failures++;
    }
    return failures;
}

class allocation_growth : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(allocation_growth, a_name_map_that_cannot_grow_keeps_what_it_has) {
    constexpr std::uint32_t most = 170'000; // its first segment splits on the way
    storage::region<storage::name_line> lines(most / storage::names_per_line + 2);
    storage::granule_arena arena(1u << 18, 2);
    storage::name_map map(arena, lines.data());
    const auto number_of_name = [](std::uint32_t i) {
        return (1 + i / storage::names_per_line) * 8 + 1 + i % storage::names_per_line;
    };
    std::mt19937_64 random(GetParam());
    std::uint64_t failures = 0;
    for (std::uint32_t i = 0; i < most; i++) {
        const std::uint32_t number = number_of_name(i);
        const std::uint64_t name = mix(i + 1);
        lines[number >> 3].names[(number & 7) - 1] = name;
        failures += until_it_works_by_chance(
            random, [&] { map.insert(name, number); },
            [&] {
                ASSERT_EQ(map.size(), i);
                for (std::uint32_t k = 0; k < i; k++) {
                    ASSERT_EQ(map.find(mix(k + 1)), number_of_name(k)) << i;
                }
                ASSERT_EQ(map.find(name), 0u);
            });
        if (HasFailure()) {
            return;
        }
    }
    EXPECT_GT(failures, 0u) << "seed " << GetParam();
}

TEST_P(allocation_growth, a_child_table_that_cannot_grow_keeps_what_it_has) {
    constexpr std::uint32_t most = 60'000; // several segments, and a directory that doubles
    storage::region<storage::run_head> heads(most + 2);
    storage::granule_arena arena(1u << 18);
    storage::reclaimer reclaim;
    storage::child_table table(arena, reclaim, heads.data());
    // The same table with memory enough, to compare what both take.
    storage::granule_arena plain_arena(1u << 18);
    storage::reclaimer plain_reclaim;
    storage::child_table plain(plain_arena, plain_reclaim, heads.data());
    std::mt19937_64 random(GetParam());
    std::uint64_t failures = 0;
    for (std::uint32_t run = 1; run <= most; run++) {
        heads[run].first.store(run * 3, std::memory_order_relaxed);
        heads[run].parent.store(run / 2, std::memory_order_relaxed);
        heads[run].parent_at.store(5, std::memory_order_relaxed);
        failures += until_it_works_by_chance(
            random,
            [&] {
                table.insert({run / 2, 5}, run * 3, run);
            },
            [&] {
                ASSERT_EQ(table.size(), run - 1);
                for (std::uint32_t k = 1; k < run; k++) {
                    ASSERT_EQ(table.find({k / 2, 5}, k * 3), k);
                }
                ASSERT_EQ(table.find({run / 2, 5}, run * 3), 0u);
            });
        if (HasFailure()) {
            return;
        }
        plain.insert({run / 2, 5}, run * 3, run);
    }
    EXPECT_GT(failures, 5u) << "seed " << GetParam();
    reclaim.collect([](std::uint32_t) {});
    plain_reclaim.collect([](std::uint32_t) {});
    EXPECT_EQ(arena.bytes_in_use(), plain_arena.bytes_in_use())
        << "a failure left memory that nobody gives back";
}

INSTANTIATE_TEST_SUITE_P(seeds, allocation_growth, ::testing::Range<std::uint64_t>(1, 9));

TEST(allocation_of_granules, an_arena_keeps_count_of_what_it_could_not_give) {
    storage::granule_arena arena(1u << 12);
    std::uint64_t pieces = 0;
    for (std::uint32_t i = 0; i < 100; i++) {
        std::uint32_t at = 0;
        until_it_works([&] { at = arena.take(3); },
                       [&] { EXPECT_EQ(arena.bytes_in_use(), pieces * 3 * sizeof(storage::granule)); });
        pieces++;
        if (i % 3 == 0) {
            const failing_memory armed(1, failing::from_then_on);
            arena.give_back(at, 3);
            pieces--;
        }
    }
    EXPECT_EQ(arena.bytes_in_use(), pieces * 3 * sizeof(storage::granule));
}

class snapshot_without_memory : public ::testing::Test {
protected:
    snapshot_without_memory() {
        for (std::uint32_t s = 0; s < 6; s++) {
            slots.push_back(*index.open_slot(s % 2));
            store(s, 2 + s);
        }
    }

    void store(std::uint32_t s, std::uint32_t blocks) {
        const event e =
            stored_event{slots[s], tier{static_cast<std::uint8_t>(s % 3)}, false,
                         0,        std::span(names).first(blocks),         std::span(locals).first(blocks)};
        index.apply({&e, 1});
    }

    std::uint32_t depth(const prefix_index& of, std::uint32_t s) const {
        std::vector<hit> hits(16);
        const match_result result = of.match(0, locals, hits);
        return s < result.hits ? hits[s].depth[tier_count - 1] : 0;
    }

    std::vector<engine_hash> names{1, 2, 3, 4, 5, 6, 7, 8, 9};
    std::vector<local_hash> locals{11, 12, 13, 14, 15, 16, 17, 18, 19};
    prefix_index index{options{.max_blocks = 1u << 16}};
    std::vector<slot_id> slots;
    scratch_file file;
};

TEST_F(snapshot_without_memory, a_load_that_fails_leaves_an_index_that_can_load) {
    ASSERT_EQ(index.save(file.path(), {}, {}).status, snapshot_status::ok);
    std::optional<prefix_index> made;
    made.emplace(options{.max_blocks = 1u << 16});
    const std::uint64_t failures =
        until_it_works([&] { ASSERT_EQ(made->load(file.path()).status, snapshot_status::ok); },
                       [&] {
                           EXPECT_EQ(made->stats().slots, 0u);
                           EXPECT_EQ(made->stats().blocks, 0u);
                           EXPECT_EQ(made->first_broken_invariant(), "");
                       });
    EXPECT_GT(failures, 50u);
    EXPECT_EQ(made->first_broken_invariant(), "");
    EXPECT_EQ(made->stats().residencies, index.stats().residencies);
    for (std::uint32_t s = 0; s < 6; s++) {
        EXPECT_EQ(depth(*made, s), 2 + s);
    }
}

TEST_F(snapshot_without_memory, a_save_that_fails_leaves_the_older_file) {
    ASSERT_EQ(index.save(file.path(), {}, {}).status, snapshot_status::ok);
    const bytes older = file.read();
    store(0, 9);
    const std::uint64_t failures =
        until_it_works([&] { ASSERT_EQ(index.save(file.path(), {}, {}).status, snapshot_status::ok); },
                       [&] {
                           EXPECT_EQ(file.read(), older);
                           EXPECT_FALSE(std::filesystem::exists(file.path() + ".part"));
                           EXPECT_EQ(index.first_broken_invariant(), "");
                       });
    EXPECT_GT(failures, 5u);
    EXPECT_NE(file.read(), older);
    EXPECT_EQ(depth(index, 0), 9u);
}

} // namespace
} // namespace kvindex::tests
