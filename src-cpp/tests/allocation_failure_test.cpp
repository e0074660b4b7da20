/// Memory runs out at every place in turn. What include/kvindex/prefix_index.hpp and kvindex.h promise for
/// then: the index is whole, the start of the events is applied and the rest is not, the same events applied
/// again complete it.
#include "failing_memory.hpp"
#include "kvindex/prefix_index.hpp"
#include "walked_history.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace kvindex::tests {
namespace {

/// An index as it is before memory runs out. Few seeds keep blocks that nobody holds.
std::unique_ptr<prefix_index> begun(const walked_history& walked, std::uint64_t seed) {
    auto index = std::make_unique<prefix_index>(
        options{.orphan_limit = orphan_limit,
                .max_blocks = 1u << 16,
                .ghost_percent = 0,
                .ghost_floor = seed % 3 == 2 ? std::uint64_t{1} << 14 : std::uint64_t{0}});
    for (std::uint32_t s = 0; s < small_history::slots; s++) {
        index->open_slot(small_history::domain_of(s));
    }
    index->apply(walked.before());
    return index;
}

/// Calls body with n = 1, 2, ... until memory no longer runs out, once and from then on; answers how often it
/// did. `body` arms failing_memory and answers whether it tripped.
std::uint64_t each_failure(const std::function<bool(std::uint64_t, failing)>& body) {
    std::uint64_t failures = 0;
    for (const failing how : {failing::once, failing::from_then_on}) {
        for (std::uint64_t n = 1; body(n, how) && !::testing::Test::HasFailure(); n++) {
            failures++;
        }
    }
    return failures;
}

/// Whether f() threw std::bad_alloc when the n-th allocation failed. `tripped` may be true all the same when it
/// did not: some memory is only wanted.
template <typename F>
bool runs_out(std::uint64_t n, failing how, bool& tripped, F&& f) {
    const failing_memory armed_now(n, how);
    bool thrown = false;
    try {
        f();
    } catch (const std::bad_alloc&) {
        thrown = true;
    }
    tripped = failing_memory::tripped();
    return thrown;
}

class allocation_failure : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(allocation_failure, leaves_the_start_of_the_events_and_the_same_events_again_complete_it) {
    const std::uint64_t seed = GetParam();
    const walked_history walked(seed, false);
    const std::uint64_t points = failing_memory::points_tripped();
    const std::uint64_t failures = each_failure([&](std::uint64_t n, failing how) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", allocation " + std::to_string(n));
        const auto index = begun(walked, seed);
        bool tripped = false;
        if (runs_out(n, how, tripped, [&] { index->apply(walked.buffer()); })) {
            EXPECT_EQ(index->first_broken_invariant(), "");
            EXPECT_LT(walked.fits(answers_of(*index, walked.history()), index->stats().residencies), armed)
                << "the answers are of no moment of the buffer";
            index->apply(walked.buffer());
        }
        EXPECT_EQ(index->first_broken_invariant(), "");
        EXPECT_EQ(answers_of(*index, walked.history()), walked.at_the_end());
        EXPECT_EQ(index->stats().residencies, walked.held_at_the_end());
        return tripped;
    });
    EXPECT_GT(failures, 50u) << "seed " << seed << ": hardly anything was tried";
    EXPECT_GT(failing_memory::points_tripped(), points) << "no array was ever full";
}

TEST_P(allocation_failure, leaves_a_whole_index_also_when_names_move_all_the_time) {
    const std::uint64_t seed = GetParam();
    const walked_history walked(seed, true);
    each_failure([&](std::uint64_t n, failing how) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", allocation " + std::to_string(n));
        const auto index = begun(walked, seed);
        bool tripped = false;
        if (runs_out(n, how, tripped, [&] { index->apply(walked.buffer()); })) {
            EXPECT_EQ(index->first_broken_invariant(), "");
            EXPECT_LT(walked.fits(answers_of(*index, walked.history()), index->stats().residencies), armed)
                << "the answers are of no moment of the buffer";
            index->apply(walked.buffer());
        } else {
            EXPECT_EQ(answers_of(*index, walked.history()), walked.at_the_end());
        }
        EXPECT_EQ(index->first_broken_invariant(), "");
        for (std::uint32_t s = 0; s < small_history::slots; s++) {
            EXPECT_TRUE(index->close_slot(slot_id{s}));
        }
        EXPECT_EQ(index->stats().residencies, 0u);
        EXPECT_EQ(index->stats().orphans, 0u);
        EXPECT_EQ(index->first_broken_invariant(), "");
        return tripped;
    });
}

TEST_P(allocation_failure, closing_a_slot_needs_no_memory) {
    const std::uint64_t seed = GetParam();
    const walked_history walked(seed, seed % 2 == 0);
    for (std::uint32_t s = 0; s < small_history::slots; s++) {
        const auto index = begun(walked, seed);
        const answers before = answers_of(*index, walked.history());
        bool tripped = false;
        EXPECT_FALSE(runs_out(1, failing::from_then_on, tripped, [&] { index->close_slot(slot_id{s}); }));
        EXPECT_EQ(index->first_broken_invariant(), "") << "seed " << seed << ", slot " << s;
        answers expected = before;
        for (std::size_t at = s * tier_count; at < expected.size(); at += small_history::slots * tier_count) {
            std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), tier_count, 0u);
        }
        EXPECT_EQ(answers_of(*index, walked.history()), expected) << "seed " << seed << ", slot " << s;
    }
}

/// Control: an index that lost one block, or has one too many, is told from one in the middle of an event.
TEST_P(allocation_failure, control_one_block_more_or_less_is_seen) {
    const std::uint64_t seed = GetParam();
    const walked_history walked(seed, false);
    std::uint32_t seen = 0;
    std::uint32_t tried = 0;
    for (std::uint32_t s = 0; s < small_history::slots; s++) {
        for (const bool more : {false, true}) {
            const auto index = begun(walked, seed);
            const auto& prompt = walked.history().prompts()[s];
            const std::vector<engine_hash> names{1'000'003};
            const std::uint64_t before = index->stats().residencies;
            if (more) {
                const event e =
                    stored_event{slot_id{s}, tier::gpu, false, 0, names, std::span(prompt).first(1)};
                index->apply({&e, 1});
            } else {
                const event e = cleared_event{slot_id{s}, mask_of(tier::gpu)};
                index->apply({&e, 1});
            }
            if (index->stats().residencies == before) {
                continue; // it held, or lacked, the block before
            }
            tried++;
            seen += walked.fits(answers_of(*index, walked.history()), index->stats().residencies) == armed;
        }
    }
    EXPECT_GT(tried, 0u);
    EXPECT_GE(seen * 2, tried) << "seed " << seed << ": " << seen << " of " << tried;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t seeds = 2;
#else
constexpr std::uint64_t seeds = 6;
#endif
INSTANTIATE_TEST_SUITE_P(histories, allocation_failure, ::testing::Range<std::uint64_t>(1, 1 + seeds));

TEST(allocation_failures, an_index_is_made_whole_or_not_at_all) {
    std::uint64_t failures = each_failure([&](std::uint64_t n, failing how) {
        std::unique_ptr<prefix_index> index;
        bool tripped = false;
        runs_out(n, how, tripped,
                 [&] { index = std::make_unique<prefix_index>(options{.max_blocks = 1u << 16}); });
        EXPECT_EQ(index == nullptr, tripped);
        return tripped;
    });
    EXPECT_GT(failures, 20u);
}

TEST(allocation_failures, a_slot_is_opened_or_not_also_when_it_needs_a_further_core) {
    std::uint64_t failures = each_failure([&](std::uint64_t n, failing how) {
        prefix_index index(options{.max_blocks = 1u << 16});
        for (std::uint32_t s = 0; s < 1024; s++) {
            index.open_slot();
        }
        bool tripped = false;
        std::optional<slot_id> slot;
        const bool thrown = runs_out(n, how, tripped, [&] { slot = index.open_slot(); });
        EXPECT_EQ(thrown, !slot.has_value());
        EXPECT_EQ(index.stats().slots, thrown ? 1024u : 1025u);
        EXPECT_EQ(index.first_broken_invariant(), "");
        if (thrown) {
            slot = index.open_slot();
        }
        EXPECT_TRUE(slot.has_value() && number_of(*slot) == 1024);
        return tripped;
    });
    EXPECT_GT(failures, 20u);
}

TEST(allocation_failures, a_look_up_fails_or_answers_right) {
    const walked_history walked(1, false);
    const auto index = begun(walked, 1);
    const answers expected = answers_of(*index, walked.history());
    each_failure([&](std::uint64_t n, failing how) {
        bool tripped = false;
        answers is;
        if (!runs_out(n, how, tripped, [&] { is = answers_of(*index, walked.history()); })) {
            EXPECT_EQ(is, expected);
        }
        return tripped;
    });
    EXPECT_EQ(answers_of(*index, walked.history()), expected);
}

} // namespace
} // namespace kvindex::tests
