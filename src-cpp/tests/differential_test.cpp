/// The index against its oracle, over many random histories.
///
/// KVI_SEED=n replays one history; KVI_ROUNDS=n runs more of them.
#include "scenario.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace kvindex::tests {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t rounds = 10; // one thread: nothing to find here for this sanitizer
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t rounds = 60;
#else
constexpr std::uint64_t rounds = 500;
#endif
constexpr std::uint64_t steps = 1000;

/// Runs `body(seed)` for each history; a failure names the seed and how to replay it.
template <typename F>
void for_each_seed(std::uint64_t first, std::uint64_t count, F&& body) {
    if (std::getenv("KVI_SEED") != nullptr) {
        first = number_from("KVI_SEED", first);
        count = 1;
    }
    for (std::uint64_t seed = first; seed < first + count; seed++) {
        try {
            body(seed);
        } catch (const disagreement& d) {
            FAIL() << d.what() << "\nseed " << seed << "; replay with KVI_SEED=" << seed;
        }
    }
}

TEST(differential, every_history_gives_the_answers_of_the_literal_index) {
    for_each_seed(1, number_from("KVI_ROUNDS", rounds), [](std::uint64_t seed) {
        random_source source(seed);
        scenario s(source);
        for (std::uint64_t i = 1; i <= steps; i++) {
            s.step();
            if (i % 50 == 0) {
                s.check_invariants();
            }
        }
        s.compare_all();
    });
}

} // namespace
} // namespace kvindex::tests
