/// Readers beside a writer that changes everything around them: for every (slot, prompt) the true depth stays
/// inside [low, high], so every answer must lie there. Run under TSan as well.
///
/// KVI_STRESS_QUERIES=n asks n times in all; more than a million print how far they are.
#include "bracket.hpp"
#include "bracket_subjects.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

namespace kvindex::tests {
namespace {

std::uint64_t queries() {
    const char* text = std::getenv("KVI_STRESS_QUERIES");
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    constexpr std::uint64_t otherwise = 40'000;
#else
    constexpr std::uint64_t otherwise = 200'000;
#endif
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Some histories one after the other, each with an index of its own, `all` queries together.
template <typename Subject>
bracket_outcome run_rounds(std::uint64_t all, bool tiers, std::uint32_t readers) {
    const std::uint64_t rounds = std::clamp<std::uint64_t>(all / 50'000, 2, 1000);
    bracket_outcome sum;
    for (std::uint64_t round = 0; round < rounds; round++) {
        Subject subject;
        bracket_history<Subject> history(subject, 31 * (round + 1), tiers);
        sum += history.run(all / rounds, readers);
        const std::string broken = subject.first_broken_invariant();
        if (!broken.empty()) {
            ADD_FAILURE() << "round " << round << ": " << broken;
            return sum;
        }
        if (all > 1'000'000) {
            std::printf(
                "%llu queries, %llu changes, %llu outside\n", static_cast<unsigned long long>(sum.queries),
                static_cast<unsigned long long>(sum.changes), static_cast<unsigned long long>(sum.outside));
            std::fflush(stdout);
        }
    }
    return sum;
}

TEST(bracket, no_answer_lies_outside_in_gpu_memory_alone) {
    const bracket_outcome o = run_rounds<whole_index>(queries() / 2, false, 3);
    EXPECT_EQ(o.outside, 0u) << o.first;
}

TEST(bracket, no_answer_lies_outside_with_several_tiers) {
    const bracket_outcome o = run_rounds<whole_index>(queries() / 2, true, 2);
    EXPECT_EQ(o.outside, 0u) << o.first;
}

TEST(bracket, no_answer_of_a_batch_lies_outside) {
    const bracket_outcome o = run_rounds<index_in_batches>(queries() / 4, true, 2);
    EXPECT_EQ(o.outside, 0u) << o.first;
}

#if !defined(__SANITIZE_THREAD__) // there: race_control.cpp
/// Damage may also end the child by a signal: readers without a pin follow anything.
bool noticed_in_a_child(bracket_outcome (*body)()) {
    constexpr int seen = 3;
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(body().outside != 0 ? seen : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == seen);
}

TEST(bracket, control_without_pins_answers_lie_outside) {
    // Some answers in a million are wrong.
    EXPECT_TRUE(noticed_in_a_child([] {
        bracket_outcome o;
        for (int i = 0; i < 40 && o.outside == 0; i++) {
            o += run_rounds<bare_core<false>>(500'000, false, 3);
        }
        return o;
    })) << "the bracket check sees nothing";
}
#endif

TEST(bracket, control_the_same_with_pins_is_right) {
    const bracket_outcome o = run_rounds<bare_core<true>>(queries() / 4, false, 3);
    EXPECT_EQ(o.outside, 0u) << o.first;
}

TEST(bracket, nothing_is_written_over_a_cut_end_that_a_look_up_may_still_read) {
    const std::vector<engine_hash> names{1, 2, 3, 4, 5, 6};
    const std::vector<local_hash> locals{11, 12, 13, 14, 15, 16};
    const std::vector<engine_hash> cut{6, 5, 4};
    const std::vector<engine_hash> others{14, 15};
    for (const bool looking : {true, false}) {
        bare_core<true> subject;
        const slot_id slot = *subject.open(0);
        subject.apply(stored_event{slot, tier::gpu, false, 0, names, locals});
        std::optional<sync::epoch_domain<>::pin> pin;
        if (looking) {
            pin.emplace(subject.core.view().epochs());
        }
        subject.apply(removed_event{slot, tier::gpu, cut});
        subject.apply(stored_event{slot, tier::gpu, true, 3, others, others});
        EXPECT_EQ(subject.core.stats().blocks, 5u);
        EXPECT_EQ(subject.core.stats().runs, looking ? 2u : 1u);
    }
}

} // namespace
} // namespace kvindex::tests
