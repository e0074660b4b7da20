/// Readers beside decisions that come and end: what is renewed in time is never missed. Run under TSan as well.
#include "kvindex/prefix_index.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace kvindex::tests {
namespace {

constexpr std::uint32_t base = 40;
constexpr std::uint32_t whole = 120;
constexpr std::uint64_t ttl = 100;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t fewest = 3'000; // rounds of the writer
#else
constexpr std::uint64_t fewest = 20'000;
#endif
constexpr std::uint64_t most = 50 * fewest;

/// What one reader saw of the slot while the writer worked.
struct sight {
    std::uint32_t least = whole;
    std::uint32_t greatest = 0;
};

/// Rounds of `step` milliseconds: the slot's base prompt is decided anew in each, longer prompts behind it now
/// and then, by five slots, so that runs get tables too. Ends when the reader saw `enough`.
template <typename F>
sight watch(std::uint64_t step, F&& enough) {
    prefix_index index({.max_blocks = 1u << 18, .ghost_percent = 0, .ghost_floor = 0, .decision_ttl = ttl});
    std::vector<slot_id> slots;
    for (std::uint32_t i = 0; i < 6; i++) {
        slots.push_back(*index.open_approximate_slot());
    }
    std::vector<local_hash> prompts[3];
    for (std::size_t p = 0; p < 3; p++) {
        prompts[p].resize(whole);
        std::iota(prompts[p].begin(), prompts[p].begin() + base, 1u);
        std::iota(prompts[p].begin() + base, prompts[p].end(), 10'000 * (p + 1));
    }
    index.decide(slots[0], std::span(prompts[0]).first(base), 0);
    std::atomic<bool> done{false};
    std::atomic<bool> satisfied{false};
    sight seen;
    std::thread reader([&] {
        std::vector<hit> hits(slots.size());
        while (!done.load(std::memory_order_relaxed)) {
            for (const auto& p : prompts) {
                const match_result r = index.match(0, p, hits);
                const std::uint32_t depth = r.hits != 0 && hits[0].slot == 0 ? hits[0].depth[0] : 0;
                seen.least = std::min(seen.least, depth);
                seen.greatest = std::max(seen.greatest, depth);
            }
            if (enough(seen)) {
                satisfied.store(true, std::memory_order_relaxed);
            }
        }
    });
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < most && (i < fewest || !satisfied.load(std::memory_order_relaxed)); i++) {
        now += step;
        index.decide(slots[0], std::span(prompts[0]).first(base), now);
        if (i % 7 == 0) {
            index.decide(slots[0], prompts[i % 3], now);
        }
        index.decide(slots[1 + i % 5], prompts[i % 3], now);
        if (i % 3 == 0) {
            index.expire(now);
        }
    }
    done.store(true, std::memory_order_relaxed);
    reader.join();
    EXPECT_EQ(index.first_broken_invariant(), "");
    return seen;
}

TEST(decisions_race, what_is_renewed_in_time_is_never_missed) {
    const sight seen = watch(ttl / 3, [](const sight& s) { return s.greatest == whole; });
    EXPECT_EQ(seen.least, base);
    EXPECT_EQ(seen.greatest, whole) << "the reader saw nothing of the longer prompts";
}

TEST(decisions_race, control_what_is_renewed_too_late_is_missed) {
    EXPECT_EQ(watch(ttl, [](const sight& s) { return s.least == 0; }).least, 0u);
}

} // namespace
} // namespace kvindex::tests
