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
constexpr std::uint64_t rounds = 150;
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

TEST(differential, an_event_that_ran_out_of_memory_completes_when_applied_again) {
    std::uint64_t failures = 0;
    for_each_seed(1'000'000, number_from("KVI_ROUNDS", rounds / 5), [&](std::uint64_t seed) {
        random_source source(seed);
        random_source when(~seed);
        scenario s(source);
        for (std::uint64_t i = 1; i <= steps / 2; i++) {
            s.fail_allocation(1 + when.below(6));
            s.step();
        }
        s.check_invariants();
        s.compare_all();
        failures += s.failures();
    });
    EXPECT_GT(failures, 0u) << "no allocation failed: this test saw nothing";
}

TEST(differential, names_that_move_while_memory_runs_out_leave_every_invariant_true) {
    std::uint64_t failures = 0;
    for_each_seed(2'000'000, rounds / 5, [&](std::uint64_t seed) {
        random_source source(seed);
        prefix_index index(40);
        const slot_id slots[] = {*index.open_slot(1, 0), *index.open_slot(1, 1)};
        for (std::uint64_t i = 0; i < steps / 2; i++) {
            std::vector<engine_hash> names(1 + source.below(10));
            std::vector<local_hash> locals(names.size());
            std::generate(names.begin(), names.end(), [&] { return source.below(30); });
            std::generate(locals.begin(), locals.end(), [&] { return source.below(3); });
            const slot_id slot = slots[source.below(2)];
            event e = cleared_event{slot};
            switch (const std::uint32_t kind = source.below(20)) {
            case 0:
                break;
            case 1:
            case 2:
            case 3:
                e = removed_event{slot, tier::gpu, names};
                break;
            default:
                e = stored_event{
                    slot, tier{static_cast<std::uint8_t>(kind % 2)}, kind > 6, source.below(30), names, locals};
            }
            index.fail_allocation(1 + source.below(8));
            try {
                index.apply({&e, 1});
            } catch (const std::bad_alloc&) {
                failures++;
            }
            index.fail_allocation(0);
            const std::string broken = index.first_broken_invariant();
            if (!broken.empty()) {
                throw disagreement("invariant: " + broken);
            }
        }
        for (const slot_id slot : slots) {
            index.close_slot(slot);
        }
        const statistics s = index.stats();
        if (s.runs + s.blocks + s.residencies + s.orphans != 0) {
            throw disagreement("closing every slot left something behind");
        }
    });
    EXPECT_GT(failures, 0u);
}

} // namespace
} // namespace kvindex::tests
