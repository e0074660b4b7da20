/// Memory runs out at every place in turn: the tracker is whole, what failed changed nothing, and the same call
/// again succeeds.
#include "failing_memory.hpp"
#include "literal_tracker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <random>

namespace kvindex::tests {
namespace {

/// Calls f with its n-th allocation failing, n = 1, 2, ... until it succeeds; `after_each` looks at what is
/// left.
std::uint64_t until_it_succeeds(const std::function<void()>& f, const std::function<void()>& after_each) {
    for (std::uint64_t n = 1;; n++) {
        try {
            const failing_memory armed(n, failing::once);
            f();
            return n - 1;
        } catch (const std::bad_alloc&) {
            after_each();
        }
    }
}

TEST(tracker_allocation, a_call_that_finds_no_memory_changes_nothing_and_may_be_made_again) {
    const tracker::tracker_options o{.block_size = 300, .how = tracker::hashing::position, .max_blocks = 50};
    tracker::block_tracker ours(o);
    literal_tracker literal(o);
    std::mt19937_64 random(7);
    std::uint64_t failures = 0;
    for (std::uint32_t step = 0; step < 300; step++) {
        const auto number = static_cast<std::uint32_t>(random() % 40);
        const slot_id backend{number};
        literal_tracker::prompt p;
        for (std::uint64_t n = random() % 12; n != 0; n--) {
            p.insert(p.end(), o.block_size, static_cast<std::uint32_t>(random() % 3));
        }
        const auto blocks = static_cast<std::uint32_t>(p.size() / o.block_size);
        std::optional<std::uint64_t> fresh;
        std::vector<tracker::tracker_hit> hits(40);
        const std::uint64_t before = ours.stats().blocks;
        const auto unchanged = [&] {
            EXPECT_STREQ(ours.first_broken_invariant(), "");
            EXPECT_EQ(ours.stats().blocks, before);
            EXPECT_EQ(ours.stats().backends, literal.backends());
        };
        switch (random() % 4) {
        case 0:
            failures += until_it_succeeds([&] { ours.join(backend); }, unchanged);
            literal.join(number);
            break;
        case 1:
            failures += until_it_succeeds([&] { hits.resize(ours.find(p.data(), blocks, 0, hits).hits); },
                                          [&] { unchanged(); });
            ASSERT_EQ(hits.size(), literal.find(p).size());
            break;
        default:
            failures +=
                until_it_succeeds([&] { fresh = ours.record(backend, p.data(), blocks, 0); }, unchanged);
            ASSERT_EQ(fresh, literal.record(number, p)) << "step " << step;
        }
        ASSERT_EQ(ours.stats().blocks, literal.blocks()) << "step " << step;
    }
    EXPECT_GT(failures, 100u) << "hardly anything was tried";
}

} // namespace
} // namespace kvindex::tests
