/// Several look-ups at once and the best slots, by the index as others use it.
#include "fleet.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace kvindex::tests {
namespace {

/// A fleet over three cores whose slots hold starts of some prompts, and the prompts.
class wide_fleet {
public:
    explicit wide_fleet(std::uint64_t seed) : m_random(seed) {
        for (std::uint32_t s = 0; s < slots; s++) {
            handles.push_back(*index.open_slot(0, 0));
        }
        for (std::uint32_t p = 0; p < 40; p++) {
            const std::uint32_t shared = p == 0 ? 0 : below(60);
            locals prompt(shared == 0 ? locals{} : locals(prompts[0].begin(), prompts[0].begin() + shared));
            while (prompt.size() < 60) {
                prompt.push_back(m_random());
            }
            prompts.push_back(prompt);
        }
        for (std::uint32_t i = 0; i < 3000; i++) {
            hold(below(slots), below(40), 1 + below(60));
        }
    }

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    void hold(std::uint32_t slot, std::uint32_t prompt, std::uint32_t blocks) {
        names n(blocks);
        chain_of(prompts[prompt], n);
        const tier where{static_cast<std::uint8_t>(below(6) == 0 ? below(tier_count) : 0)};
        const event e =
            stored_event{handles[slot], where, false, 0, n, std::span(prompts[prompt]).first(blocks)};
        index.apply({&e, 1});
    }

    /// Some prompts, cut and changed at random places; a few of no block, of a name space without slots.
    std::vector<query> some_queries(std::uint32_t n) {
        std::vector<query> out;
        for (std::uint32_t i = 0; i < n; i++) {
            const locals& p = prompts[below(40)];
            out.push_back({.locals = std::span(p).first(below(8) == 0 ? below(61) : 60),
                           .name_space = static_cast<std::uint16_t>(below(12) == 0 ? 1 : 0)});
        }
        return out;
    }

    static constexpr std::uint32_t slots = 2100;
    prefix_index index{{.max_blocks = 1u << 17}};
    std::vector<slot_id> handles;
    std::vector<locals> prompts;

private:
    static void chain_of(const locals& l, names& out) {
        std::uint64_t name = 0;
        for (std::size_t i = 0; i < out.size(); i++) {
            out[i] = name = (name ^ l[i]) * 0x9e3779b97f4a7c15u + 1;
        }
    }

    std::mt19937_64 m_random;
};

TEST(match_batch, equals_single_look_ups) {
    wide_fleet f(11);
    const std::uint32_t bound = f.index.slot_bound();
    ASSERT_GT(bound, 2048u) << "three cores";
    std::uint64_t depths = 0;
    for (const std::uint32_t n : {1u, 2u, 7u, 12u, 13u, 40u, 64u, 65u, 200u}) {
        for (const std::uint32_t tiers : {1u, tier_count}) {
            const std::vector<query> queries = f.some_queries(n);
            std::vector<std::uint32_t> rows(std::size_t{n} * tiers * bound, 77);
            std::vector<looked> how(n, looked{9, 9});
            f.index.match_batch(queries, tiers, rows.data(), bound, how);
            for (std::uint32_t i = 0; i < n; i++) {
                std::vector<std::uint32_t> one(tiers * bound, 88);
                f.index.match_dense(queries[i].name_space, queries[i].locals, tiers, one.data(), bound);
                ASSERT_TRUE(std::equal(one.begin(), one.end(), rows.data() + std::size_t{i} * tiers * bound))
                    << "query " << i << " of " << n << ", " << tiers << " tiers";
                EXPECT_EQ(how[i].cut_short, 0u);
                EXPECT_EQ(how[i].steps != 0,
                          std::any_of(one.begin(), one.end(), [](auto d) { return d != 0; }));
                depths += one[0];
            }
        }
    }
    EXPECT_GT(depths, 0u);
}

TEST(best, equals_the_dense_rows_sorted_by_cost) {
    wide_fleet f(12);
    for (const std::uint32_t closed : {5u, 64u, 1500u}) {
        f.index.close_slot(f.handles[closed]);
    }
    const std::uint32_t bound = f.index.slot_bound();
    std::vector<double> prefill(bound);
    std::vector<double> base(bound);
    for (std::uint32_t i = 0; i < bound; i++) {
        prefill[i] = f.below(4) * 100;
        base[i] = f.below(9) == 0 ? not_eligible : f.below(30);
    }
    for (const std::uint32_t k : {1u, 3u, 2100u}) {
        const std::vector<query> queries = f.some_queries(20);
        const std::vector<cost_terms> terms(queries.size(), {.credit = {1, 0.75, 0.25, 0.25}, .prompt = 60});
        std::vector<choice> out(queries.size() * k);
        std::vector<best_found> found(queries.size());
        f.index.best(queries, terms, prefill, base, k, out.data(), found.data());
        for (std::size_t i = 0; i < queries.size(); i++) {
            std::vector<std::uint32_t> rows(tier_count * bound);
            f.index.match_dense(queries[i].name_space, queries[i].locals, tier_count, rows.data(), bound);
            std::vector<double> costs(bound);
            costs_of(terms[i], rows.data(), bound, prefill.data(), base.data(), bound, costs.data());
            std::vector<choice> expected;
            for (std::uint32_t s = 0; s < wide_fleet::slots; s++) {
                if (base[s] != not_eligible && s != 5 && s != 64 && s != 1500) {
                    expected.push_back(
                        {costs[s], s, {rows[s], rows[bound + s], rows[2 * bound + s], rows[3 * bound + s]}});
                }
            }
            std::sort(expected.begin(), expected.end(),
                      [](const choice& a, const choice& b) { return a.before(b); });
            ASSERT_EQ(found[i].count, std::min<std::size_t>(k, expected.size()));
            EXPECT_EQ(found[i].ties, static_cast<std::uint32_t>(
                                         std::count_if(expected.begin(), expected.end(), [&](const choice& c) {
                                             return c.cost == expected[0].cost;
                                         })));
            for (std::uint32_t c = 0; c < found[i].count; c++) {
                const choice& got = out[i * k + c];
                ASSERT_EQ(got.slot, expected[c].slot) << "query " << i << ", choice " << c;
                EXPECT_EQ(got.cost, expected[c].cost);
                EXPECT_EQ(got.depth, expected[c].depth);
            }
        }
    }
}

TEST(best, a_slot_that_holds_nothing_may_win) {
    fleet f;
    const slot_id busy = f.open();
    const slot_id idle = f.open();
    f.store(busy, {1, 2}, {11, 12});
    const locals prompt{11, 12};
    std::vector<double> prefill(64, 0.0);
    std::vector<double> base(64, 0.0);
    base[number_of(busy)] = 100;
    const query q{.locals = prompt};
    const cost_terms terms{.credit = {1, 1, 1, 1}, .prompt = 2};
    choice out;
    best_found found;
    f.index.best({&q, 1}, {&terms, 1}, prefill, base, 1, &out, &found);
    ASSERT_EQ(found.count, 1u);
    EXPECT_EQ(out.slot, number_of(idle));
    EXPECT_EQ(out.cost, 2);
    base[number_of(busy)] = 1;
    f.index.best({&q, 1}, {&terms, 1}, prefill, base, 1, &out, &found);
    EXPECT_EQ(out.slot, number_of(busy));
    EXPECT_EQ(out.depth[0], 2u);
}

TEST(best, nobody_is_chosen_where_nobody_takes_part) {
    fleet f;
    std::vector<double> prefill(64, 0.0);
    std::vector<double> base(64, not_eligible);
    const query q{};
    const cost_terms terms{};
    choice out{.slot = 77};
    best_found found{.count = 9, .ties = 9};
    f.index.best({&q, 1}, {&terms, 1}, prefill, base, 1, &out, &found); // before the first slot
    EXPECT_EQ(found.count, 0u);
    f.open();
    f.index.best({&q, 1}, {&terms, 1}, prefill, base, 1, &out, &found);
    EXPECT_EQ(found.count, 0u);
    EXPECT_EQ(found.ties, 0u);
    EXPECT_EQ(out.slot, 77u);
}

} // namespace
} // namespace kvindex::tests
