/// Approximate slots: one promise a test.
#include "fleet.hpp"
#include "scratch_file.hpp"

#include <numeric>

namespace kvindex::tests {
namespace {

constexpr std::uint64_t ttl = 1000;
constexpr std::uint64_t capacity = 60;

options with_decisions() {
    options o = small_options();
    o.decision_ttl = ttl;
    o.decision_capacity = capacity;
    return o;
}

/// `n` blocks that no other `first` has, when those are thousands apart.
locals blocks(local_hash first, std::size_t n) {
    locals out(n);
    std::iota(out.begin(), out.end(), first);
    return out;
}

locals joined(locals a, const locals& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

class decisions_of : public testing::Test {
protected:
    slot_id open(std::uint32_t domain = 1, std::uint16_t name_space = 0) {
        const auto slot = f.index.open_approximate_slot(domain, name_space);
        EXPECT_TRUE(slot.has_value());
        return *slot;
    }

    /// Answers the new blocks.
    std::uint64_t decide(slot_id slot, const locals& l, std::uint64_t now) {
        const auto fresh = f.index.decide(slot, l, now);
        EXPECT_TRUE(fresh.has_value());
        EXPECT_EQ(f.index.first_broken_invariant(), "");
        return fresh.value_or(0);
    }

    std::uint64_t expire(std::uint64_t now) {
        const std::uint64_t ended = f.index.expire(now);
        EXPECT_EQ(f.index.first_broken_invariant(), "");
        return ended;
    }

    fleet f{with_decisions()};
    slot_id w = open();
};

TEST_F(decisions_of, a_slot_holds_what_was_decided_for_it) {
    const slot_id other = open();
    EXPECT_EQ(decide(w, blocks(1, 9), 0), 9u);
    EXPECT_EQ(f.depth(w, blocks(1, 12)), (depths{9, 9, 9, 9}));
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 4)), 4u);
    EXPECT_EQ(f.gpu_depth(w, blocks(2, 4)), 0u);
    EXPECT_EQ(f.gpu_depth(other, blocks(1, 9)), 0u);
    EXPECT_EQ(f.index.stats().residencies, 9u);
    EXPECT_EQ(f.index.stats().decisions, 1u);
}

TEST_F(decisions_of, one_lasts_until_it_is_exactly_its_time_to_live_old) {
    decide(w, blocks(1, 9), 500);
    EXPECT_EQ(expire(500 + ttl - 1), 0u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 9u);
    EXPECT_EQ(expire(500 + ttl), 1u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 0u);
    const statistics s = f.index.stats();
    EXPECT_EQ(s.decisions, 0u);
    EXPECT_EQ(s.decisions_ended_by_time, 1u);
    EXPECT_EQ(s.residencies, 0u);
    EXPECT_EQ(s.blocks, 0u);
}

TEST_F(decisions_of, a_repeated_prompt_lasts_from_its_latest_decision) {
    decide(w, blocks(1, 9), 0);
    EXPECT_EQ(decide(w, blocks(1, 9), 600), 0u);
    EXPECT_EQ(f.index.stats().decisions, 1u);
    EXPECT_EQ(expire(ttl), 0u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 9u);
    EXPECT_EQ(expire(600 + ttl), 1u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 0u);
}

TEST_F(decisions_of, a_shorter_prompt_renews_only_its_own_blocks) {
    decide(w, blocks(1, 9), 0);
    EXPECT_EQ(decide(w, blocks(1, 4), 600), 0u);
    EXPECT_EQ(f.index.stats().decisions, 2u);
    expire(ttl);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 4u);
    expire(600 + ttl);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 0u);
}

TEST_F(decisions_of, what_two_decisions_share_lasts_as_long_as_the_later_one) {
    const locals one = joined(blocks(1, 5), blocks(1000, 4));
    const locals two = joined(blocks(1, 5), blocks(2000, 4));
    decide(w, one, 0);
    EXPECT_EQ(decide(w, two, 300), 4u);
    expire(ttl);
    EXPECT_EQ(f.gpu_depth(w, one), 5u);
    EXPECT_EQ(f.gpu_depth(w, two), 9u);
    decide(w, one, ttl + 1);
    expire(300 + ttl);
    EXPECT_EQ(f.gpu_depth(w, one), 9u);
    EXPECT_EQ(f.gpu_depth(w, two), 5u);
}

TEST_F(decisions_of, slots_decide_apart) {
    const slot_id other = open();
    decide(w, blocks(1, 9), 0);
    EXPECT_EQ(decide(other, blocks(1, 6), 300), 6u);
    EXPECT_EQ(f.index.stats().blocks, 9u);
    expire(ttl);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 0u);
    EXPECT_EQ(f.gpu_depth(other, blocks(1, 9)), 6u);
}

TEST_F(decisions_of, name_spaces_are_kept_apart) {
    const slot_id other = open(1, 7);
    decide(w, blocks(1, 9), 0);
    EXPECT_EQ(decide(other, blocks(1, 9), 0), 9u);
    EXPECT_EQ(f.gpu_depth(other, blocks(1, 9), 0), 0u);
    EXPECT_EQ(f.gpu_depth(other, blocks(1, 9), 7), 9u);
}

TEST_F(decisions_of, above_the_capacity_the_oldest_end_and_no_more_than_needed) {
    for (std::uint64_t i = 0; i < 6; i++) {
        decide(w, blocks(1000 * i + 1, 10), i);
    }
    EXPECT_EQ(f.index.stats().residencies, capacity);
    decide(w, blocks(1, 10), 6); // 0 is the youngest now
    decide(w, blocks(9000, 11), 7);
    EXPECT_EQ(f.gpu_depth(w, blocks(1001, 10)), 0u);
    EXPECT_EQ(f.gpu_depth(w, blocks(2001, 10)), 0u);
    EXPECT_EQ(f.gpu_depth(w, blocks(3001, 10)), 10u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 10)), 10u);
    EXPECT_EQ(f.gpu_depth(w, blocks(9000, 11)), 11u);
    EXPECT_EQ(f.index.stats().decisions_ended_by_capacity, 2u);
    EXPECT_EQ(f.index.stats().decisions_ended_by_time, 0u);
}

TEST_F(decisions_of, one_decision_is_no_longer_than_the_capacity) {
    decide(w, blocks(1, 10), 0);
    EXPECT_EQ(decide(w, blocks(1000, capacity + 5), 1), capacity);
    EXPECT_EQ(f.gpu_depth(w, blocks(1000, capacity + 5)), capacity);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 10)), 0u);
    EXPECT_EQ(f.index.stats().refused, 5u);
}

TEST_F(decisions_of, a_decision_ends_a_bounded_number_of_those_that_are_due) {
    for (std::uint64_t i = 0; i < 40; i++) {
        decide(w, blocks(1000 * i, 1), 0);
    }
    decide(w, blocks(99'000, 1), ttl);
    EXPECT_EQ(f.index.stats().decisions_ended_by_time, 16u);
    decide(w, blocks(99'000, 1), ttl);
    EXPECT_EQ(f.index.stats().decisions_ended_by_time, 32u);
    EXPECT_EQ(expire(ttl), 8u);
}

TEST_F(decisions_of, a_clock_that_goes_back_counts_as_its_latest_time) {
    decide(w, blocks(1, 9), 5000);
    decide(w, blocks(1000, 9), 10); // as at 5000
    EXPECT_EQ(expire(5000 + ttl - 1), 0u);
    EXPECT_EQ(expire(5000 + ttl), 2u);
}

TEST_F(decisions_of, the_end_of_time_is_no_exception) {
    constexpr std::uint64_t last = ~std::uint64_t{0};
    decide(w, blocks(1, 9), last);
    EXPECT_EQ(expire(last), 0u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 9u);
}

TEST_F(decisions_of, events_that_store_or_remove_are_ignored) {
    decide(w, blocks(1, 9), 0);
    EXPECT_EQ(f.store(w, {1, 2}, blocks(1000, 2)).ignored, 1u);
    EXPECT_EQ(f.store_behind(77, w, {1, 2}, blocks(1000, 2)).ignored, 1u);
    EXPECT_EQ(f.remove(w, {1, 2}).ignored, 1u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1000, 2)), 0u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 9u);
    EXPECT_EQ(f.index.stats().orphans, 0u);
}

TEST_F(decisions_of, clearing_the_slot_ends_its_decisions) {
    const slot_id other = open();
    decide(w, joined(blocks(1, 5), blocks(1000, 4)), 0);
    decide(w, joined(blocks(1, 5), blocks(2000, 4)), 1);
    decide(other, blocks(1, 5), 1);
    EXPECT_EQ(f.clear(w, mask_of(tier::host)).applied, 1u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 5)), 5u) << "decisions speak of GPU memory";
    EXPECT_EQ(f.clear(w, mask_of(tier::gpu)).applied, 1u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 5)), 0u);
    EXPECT_EQ(f.gpu_depth(other, blocks(1, 5)), 5u);
    EXPECT_EQ(f.index.stats().decisions, 1u);
    EXPECT_EQ(decide(w, blocks(1, 5), 2), 5u);
    EXPECT_EQ(f.clear(w).applied, 1u);
    EXPECT_EQ(f.index.stats().decisions, 1u);
}

TEST_F(decisions_of, a_closed_slot_leaves_nothing_behind_and_its_number_may_have_events) {
    decide(w, blocks(1, 9), 0);
    EXPECT_TRUE(f.index.close_slot(w));
    EXPECT_EQ(f.index.stats().decisions, 0u);
    EXPECT_EQ(f.index.stats().blocks, 0u);
    EXPECT_FALSE(f.index.decide(w, blocks(1, 9), 0).has_value());
    const slot_id again = f.open();
    EXPECT_EQ(number_of(again), number_of(w));
    EXPECT_EQ(f.store(again, {1, 2}, blocks(1, 2)).applied, 1u);
    EXPECT_FALSE(f.index.decide(again, blocks(1, 9), 0).has_value()) << "it is not approximate";
    EXPECT_EQ(f.gpu_depth(again, blocks(1, 9)), 2u);
}

TEST_F(decisions_of, events_and_decisions_share_content) {
    const slot_id told = f.open();
    decide(w, blocks(1, 9), 0);
    EXPECT_EQ(f.store(told, {11, 12, 13, 14}, blocks(1, 4)).applied, 1u);
    EXPECT_EQ(f.index.stats().blocks, 9u);
    EXPECT_EQ(f.index.stats().conflicts, 0u);
    expire(ttl);
    EXPECT_EQ(f.gpu_depth(told, blocks(1, 9)), 4u);
    EXPECT_EQ(f.index.stats().blocks, 4u);
    EXPECT_EQ(f.store_behind(14, told, {15}, blocks(5, 1)).applied, 1u);
    EXPECT_EQ(decide(w, blocks(1, 9), ttl), 9u);
    EXPECT_EQ(f.remove(told, {13, 14, 15}).unknown_removed, 0u);
    EXPECT_EQ(f.gpu_depth(told, blocks(1, 9)), 2u);
    EXPECT_EQ(f.gpu_depth(w, blocks(1, 9)), 9u);
}

TEST_F(decisions_of, a_prompt_of_no_block_decides_nothing) {
    EXPECT_EQ(decide(w, {}, 0), 0u);
    EXPECT_EQ(f.index.stats().decisions, 0u);
}

TEST_F(decisions_of, slots_of_the_second_thousand_decide_too) {
    for (std::uint32_t i = 1; i < 1024; i++) {
        f.open();
    }
    const slot_id far = open();
    ASSERT_EQ(number_of(far), 1024u);
    decide(w, blocks(1, 9), 0);
    decide(far, blocks(1, 7), 0);
    EXPECT_EQ(f.gpu_depth(far, blocks(1, 9)), 7u);
    EXPECT_EQ(f.index.expire(ttl), 2u);
    EXPECT_EQ(f.index.stats().residencies, 0u);
}

TEST(decision_memory, a_repeated_prompt_and_a_growing_conversation_cost_one_entry) {
    fleet f;
    const auto slot = f.index.open_approximate_slot();
    const locals prompt = blocks(1, 20'000); // some runs
    for (std::size_t n = 4; n <= prompt.size(); n += 4) {
        f.index.decide(*slot, std::span(prompt).first(n), n);
    }
    const std::uint64_t bytes = f.index.stats().bytes;
    for (std::uint64_t i = 0; i < 10'000; i++) {
        f.index.decide(*slot, prompt, prompt.size() + i);
    }
    EXPECT_EQ(f.index.stats().decisions, 1u);
    EXPECT_EQ(f.index.stats().residencies, prompt.size());
    EXPECT_EQ(f.index.stats().bytes, bytes);
    EXPECT_EQ(f.index.first_broken_invariant(), "");
}

TEST(decision_memory, over_the_byte_budget_only_known_blocks_are_taken) {
    fleet f({.max_blocks = 1u << 20, .byte_budget = 2u << 20});
    const auto slot = f.index.open_approximate_slot();
    const auto other = f.index.open_approximate_slot();
    std::uint64_t n = 0;
    for (; f.index.stats().refused == 0; n++) {
        ASSERT_LT(n, 100'000u) << "the budget was never reached";
        f.index.decide(*slot, blocks(n * 1000, 100), 0);
    }
    EXPECT_LE(f.index.stats().bytes_in_use, (2u << 20) + (256u << 10));
    EXPECT_EQ(f.gpu_depth(*slot, blocks((n - 1) * 1000, 100)), 0u);
    EXPECT_EQ(f.index.decide(*other, joined(blocks(0, 100), blocks(7, 5)), 0), 100u);
    EXPECT_EQ(f.gpu_depth(*other, blocks(0, 100)), 100u);
    EXPECT_EQ(f.index.stats().refused, 105u);
    f.index.expire(120'000);
    EXPECT_EQ(f.index.decide(*slot, blocks(n * 1000, 100), 120'000), 100u);
    EXPECT_EQ(f.index.first_broken_invariant(), "");
}

TEST(decision_snapshot, approximate_slots_are_left_out) {
    fleet f;
    const slot_id told = f.open();
    const auto slot = f.index.open_approximate_slot(1);
    const slot_id last = f.open();
    f.store(told, {11, 12, 13}, blocks(1, 3));
    f.store(last, {11}, blocks(1, 1));
    f.index.decide(*slot, joined(blocks(1, 2), blocks(1000, 9)), 0);
    f.index.decide(*slot, blocks(5000, 9), 0);
    const scratch_file file;
    ASSERT_EQ(f.index.save(file.path(), {}, {}).status, snapshot_status::ok);
    fleet g;
    const snapshot_report report = g.index.load(file.path());
    ASSERT_EQ(report.status, snapshot_status::ok) << report.message;
    ASSERT_EQ(report.slots.size(), 2u);
    EXPECT_EQ(report.slots[0].slot, told);
    EXPECT_EQ(report.slots[1].slot, last);
    EXPECT_EQ(g.index.first_broken_invariant(), "");
    EXPECT_EQ(g.gpu_depth(told, blocks(1, 3)), 3u);
    EXPECT_EQ(g.index.stats().residencies, 4u);
    EXPECT_EQ(g.index.stats().decisions, 0u);
    // Its number is free, and its handle means nobody.
    EXPECT_FALSE(g.index.decide(*slot, blocks(1, 2), 0).has_value());
    const slot_id next = g.open();
    EXPECT_EQ(number_of(next), number_of(*slot));
    EXPECT_NE(next, *slot);
    EXPECT_EQ(g.gpu_depth(next, blocks(1, 3)), 0u);
}

} // namespace
} // namespace kvindex::tests
