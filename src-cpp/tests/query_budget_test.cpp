/// A prompt made to be slow costs no more than its budget, and what is then reported is held.
#include "fleet.hpp"

#include <algorithm>

namespace kvindex::tests {
namespace {

constexpr std::uint32_t slots = 1024;
constexpr std::uint32_t length = 600;
constexpr std::uint32_t one_run = 1024 + 134 + 8; ///< most steps of a run, see index/walk.hpp

/// A chain of runs of one block each, each held by all slots down to another depth, half of them in host
/// memory: at every block another prompt goes off, so that the run cannot grow, and what slots hold is in
/// words.
class slow_tree {
public:
    slow_tree() {
        for (std::uint32_t s = 0; s < slots; s++) {
            m_handles.push_back(*index.open_slot(0, 0));
        }
        for (std::uint32_t i = 0; i < length; i++) {
            prompt.push_back(1000 + i);
            m_names.push_back(500'000 + i);
        }
        for (std::uint32_t i = 0; i < length; i++) {
            // First a decoy ends the run before it: the prompt has to go on in a child.
            const names other{900'000 + i};
            const locals else_where{900'000 + i};
            store(0, i, {other}, {else_where});
            store(0, i, {m_names[i]}, {prompt[i]});
        }
        for (std::uint32_t s = 1; s < slots; s++) {
            const std::uint32_t depth = depth_of(s);
            const event e = stored_event{m_handles[s],
                                         s % 2 == 0 ? tier::gpu : tier::host,
                                         false,
                                         0,
                                         std::span(m_names).first(depth),
                                         std::span(prompt).first(depth)};
            index.apply({&e, 1});
        }
    }

    static std::uint32_t depth_of(std::uint32_t slot) {
        return slot == 0 ? length : length - slot % 64;
    }

    looked ask(std::uint32_t budget, std::vector<std::uint32_t>& row) const {
        std::vector<std::uint32_t> rows(tier_count * slots, 77);
        const query q{.locals = prompt, .budget = budget};
        looked how;
        index.match_batch({&q, 1}, tier_count, rows.data(), slots, {&how, 1});
        row.assign(rows.end() - slots, rows.end());
        return how;
    }

    prefix_index index{{.max_blocks = 1u << 20, .ghost_percent = 0, .ghost_floor = 0, .query_budget = 1000}};
    locals prompt;

private:
    void store(std::uint32_t slot, std::uint32_t at, const names& n, const locals& l) {
        const event e = stored_event{m_handles[slot], tier::gpu, at != 0, at != 0 ? m_names[at - 1] : 0, n, l};
        index.apply({&e, 1});
    }

    std::vector<slot_id> m_handles;
    names m_names;
};

TEST(query_budget, bounds_the_work_and_what_is_reported_is_held) {
    const slow_tree tree;
    ASSERT_GT(tree.index.stats().runs, length) << "the tree is no chain of short runs";
    std::vector<std::uint32_t> row;
    const looked whole = tree.ask(~0u, row);
    EXPECT_EQ(whole.cut_short, 0u);
    for (std::uint32_t s = 0; s < slots; s++) {
        ASSERT_EQ(row[s], slow_tree::depth_of(s)) << "slot " << s;
    }
    ASSERT_GT(whole.steps, 50 * length) << "hardly any words of holders were read";
    std::uint32_t before = 0;
    for (const std::uint32_t budget :
         {1u, 9u, 100u, 2000u, 20'000u, whole.steps / 2, whole.steps, whole.steps + 1}) {
        const looked how = tree.ask(budget, row);
        EXPECT_EQ(how.cut_short, budget < whole.steps ? 1u : 0u) << budget;
        EXPECT_LE(how.steps, std::uint64_t{budget} + one_run);
        for (std::uint32_t s = 0; s < slots; s++) {
            ASSERT_LE(row[s], slow_tree::depth_of(s)) << "slot " << s << ", budget " << budget;
        }
        EXPECT_GE(row[0], std::max(before, 1u)) << "more budget, less found";
        before = row[0];
    }
    EXPECT_EQ(before, length);
}

TEST(query_budget, the_indexs_own_is_taken_where_a_query_has_none) {
    const slow_tree tree;
    std::vector<std::uint32_t> row;
    const looked how = tree.ask(0, row);
    EXPECT_EQ(how.cut_short, 1u);
    EXPECT_LE(how.steps, 1000 + one_run);
    std::vector<std::uint32_t> single(tier_count * slots, 77);
    tree.index.match_dense(0, tree.prompt, tier_count, single.data(), slots);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), single.end() - slots))
        << "a single look-up has the same budget";
}

TEST(query_budget, a_long_prompt_of_a_normal_tree_needs_a_fraction_of_the_default) {
    // A million tokens in blocks of 16, in runs of 64: each turn of a conversation another run.
    fleet f(options{.max_blocks = 1u << 20});
    const slot_id slot = f.index.open_slot(0, 0).value();
    locals prompt(65'536);
    names named(prompt.size());
    for (std::uint32_t i = 0; i < prompt.size(); i++) {
        prompt[i] = 7'000'000 + i;
        named[i] = 9'000'000 + i;
    }
    for (std::size_t at = 0; at < prompt.size(); at += 64) {
        const locals decoy{at + 1};
        const names decoys{at + 1};
        const engine_hash parent = at == 0 ? 0 : named[at - 1];
        const event events[] = {stored_event{slot, tier::gpu, at != 0, parent, decoys, decoy},
                                stored_event{slot, tier::gpu, at != 0, parent, std::span(named).subspan(at, 64),
                                             std::span(prompt).subspan(at, 64)}};
        f.index.apply(events);
    }
    const query q{.locals = prompt};
    looked how;
    std::vector<std::uint32_t> row(64);
    f.index.match_batch({&q, 1}, 1, row.data(), 64, {&how, 1});
    EXPECT_EQ(row[0], prompt.size());
    EXPECT_EQ(how.cut_short, 0u);
    EXPECT_LT(how.steps, options{}.query_budget / 2);
}

} // namespace
} // namespace kvindex::tests
