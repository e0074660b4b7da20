/// Costs and choices against a literal computation, over random rows.
#include "base/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace kvindex::tests {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The router's cost, as src/core/main/java/io/warmpath/routing/Scorer.java computes it.
double router_cost(std::uint64_t booked_tokens, std::uint64_t booked_blocks, std::uint64_t prompt_tokens,
                   std::uint32_t block_size, std::uint32_t unit, const std::array<std::uint32_t, 4>& depth,
                   double overlap_weight, double host_weight, double disk_weight) {
    const auto most = static_cast<std::uint32_t>(prompt_tokens == 0 ? 0 : (prompt_tokens - 1) / block_size);
    const std::uint32_t gpu = std::min(depth[0], most);
    const std::uint32_t host = std::min(depth[1], most);
    const std::uint32_t external = std::min(depth[3], most);
    const double credit = gpu + host_weight * (host - gpu) + disk_weight * (external - host);
    const double tokens = static_cast<double>(booked_tokens + prompt_tokens) - credit * block_size;
    const double prefill_blocks = std::max(0.0, tokens) / unit;
    const std::uint64_t own = std::max<std::uint64_t>(1, (prompt_tokens + block_size - 1) / block_size);
    const double decode_blocks = static_cast<double>(booked_blocks + own) * block_size / unit;
    return overlap_weight * prefill_blocks + decode_blocks;
}

class random_rows {
public:
    explicit random_rows(std::uint64_t seed) : m_random(seed) {
    }

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    double fraction() {
        return static_cast<double>(m_random() >> 11) * 0x1p-53;
    }

    /// Cumulative depths of `n` slots, row by row.
    std::vector<std::uint32_t> depths(std::uint32_t n, std::uint32_t longest) {
        std::vector<std::uint32_t> rows(tier_count * n);
        for (std::uint32_t i = 0; i < n; i++) {
            std::array<std::uint32_t, tier_count> d{};
            for (std::uint32_t& one : d) {
                one = below(3) == 0 ? 0 : below(longest);
            }
            std::sort(d.begin(), d.end());
            for (std::uint32_t t = 0; t < tier_count; t++) {
                rows[t * n + i] = d[t];
            }
        }
        return rows;
    }

private:
    std::mt19937_64 m_random;
};

TEST(cost, equals_the_routers_to_the_last_bit) {
    for (std::uint64_t seed = 1; seed <= 300; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_rows random(seed);
        constexpr std::uint32_t n = 64;
        const std::uint32_t block = 16u << random.below(4);
        const std::uint32_t unit = block >> random.below(3);
        const std::uint64_t prompt = random.below(60'000);
        const double overlap = random.fraction() * 3;
        const double host = random.fraction();
        const double disk = random.below(4) == 0 ? host : random.fraction();
        const auto depths = random.depths(n, 4000);
        std::vector<double> prefill(n);
        std::vector<double> base(n);
        std::vector<double> expected(n);
        for (std::uint32_t i = 0; i < n; i++) {
            const std::uint64_t tokens = random.below(3) == 0 ? 0 : random.below(1'000'000);
            const std::uint64_t blocks = random.below(50'000);
            prefill[i] = static_cast<double>(tokens);
            base[i] = static_cast<double>(blocks) * block / unit;
            expected[i] = router_cost(tokens, blocks, prompt, block, unit,
                                      {depths[i], depths[n + i], depths[2 * n + i], depths[3 * n + i]}, overlap,
                                      host, disk);
        }
        const auto own = static_cast<double>(std::max<std::uint64_t>(1, (prompt + block - 1) / block));
        const cost_terms terms{.credit = {1, host, disk, disk},
                               .prompt = static_cast<double>(prompt),
                               .block = static_cast<double>(block),
                               .unit = static_cast<double>(unit),
                               .weight = overlap,
                               .added = own * block / unit,
                               .most_cached =
                                   static_cast<std::uint32_t>(prompt == 0 ? 0 : (prompt - 1) / block)};
        ASSERT_TRUE(usable(terms) && usable(prefill.data(), n, false) && usable(base.data(), n, true));
        std::vector<double> costs(n);
        costs_of(terms, depths.data(), n, prefill.data(), base.data(), n, costs.data());
        EXPECT_EQ(costs, expected);
    }
}

TEST(cost, the_documented_examples_hold) {
    // Prefill 8, 5, 2 and decode 10, 5, 9 of a prompt of 10 blocks, 2, 5, 8 of them cached: 18, 10, 11.
    const std::vector<std::uint32_t> row{2, 5, 8};
    std::vector<std::uint32_t> depths;
    for (std::uint32_t t = 0; t < tier_count; t++) {
        depths.insert(depths.end(), row.begin(), row.end());
    }
    const std::vector<double> idle(3, 0.0);
    const std::vector<double> decode{10, 5, 9};
    std::vector<double> costs(3);
    costs_of({.credit = {1, 0.75, 0.25, 0.25}, .prompt = 10}, depths.data(), 3, idle.data(), decode.data(), 3,
             costs.data());
    EXPECT_EQ(costs, (std::vector<double>{18, 10, 11}));

    // 4 blocks, all in the shared pool at half a block's worth: depth 2 costs 1, depth 0 costs 2.
    const std::vector<std::uint32_t> two{2, 0, 2, 0, 2, 0, 2, 0};
    costs_of({.credit = {1, 1, 1, 1}, .pool_credit = 0.5, .prompt = 4, .pool = 4}, two.data(), 2, idle.data(),
             idle.data(), 2, costs.data());
    EXPECT_EQ(costs[0], 1);
    EXPECT_EQ(costs[1], 2);
}

TEST(cost, a_pool_that_reaches_less_far_than_the_device_adds_nothing) {
    const std::vector<std::uint32_t> depths{3, 3, 3, 3};
    const double nothing = 0;
    double cost = 0;
    costs_of({.credit = {1, 1, 1, 1}, .pool_credit = 0.5, .prompt = 4, .pool = 1}, depths.data(), 1, &nothing,
             &nothing, 1, &cost);
    EXPECT_EQ(cost, 1);
    // Nor what lies behind the blocks that may come from a cache.
    costs_of({.credit = {1, 1, 1, 1}, .pool_credit = 0.5, .prompt = 4, .most_cached = 3, .pool = 4},
             depths.data(), 1, &nothing, &nothing, 1, &cost);
    EXPECT_EQ(cost, 1);
}

TEST(cost, four_credits_are_four_terms) {
    const std::vector<std::uint32_t> depths{1, 3, 7, 15};
    const double nothing = 0;
    double cost = 0;
    costs_of({.credit = {1, 0.5, 0.25, 0.125}, .prompt = 100, .block = 4, .unit = 8, .weight = 2, .added = 7},
             depths.data(), 1, &nothing, &nothing, 1, &cost);
    EXPECT_EQ(cost, 2 * (100 - (1 + 0.5 * 2 + 0.25 * 4 + 0.125 * 8) * 4) / 8 + 7);
}

TEST(cost, more_credit_than_work_is_no_gain) {
    const std::vector<std::uint32_t> depths{9, 9, 9, 9};
    const double nothing = 0;
    double cost = 0;
    costs_of({.credit = {2, 2, 2, 2}, .prompt = 10, .added = 3}, depths.data(), 1, &nothing, &nothing, 1,
             &cost);
    EXPECT_EQ(cost, 3);
}

TEST(cost, numbers_that_could_become_nan_are_not_usable) {
    const double nan = std::nan("");
    const cost_terms good{.credit = {1, 1, 1, 1}};
    ASSERT_TRUE(usable(good));
    for (const double bad : {nan, inf, -inf, 1e31, -1.0}) {
        for (std::uint32_t field = 0; field < 10; field++) {
            cost_terms c = good;
            double* const fields[] = {&c.credit[0], &c.credit[1], &c.credit[2], &c.credit[3], &c.pool_credit,
                                      &c.prompt,    &c.block,     &c.unit,      &c.weight,    &c.added};
            *fields[field] = bad;
            EXPECT_EQ(usable(c), field == 9 && bad == -1.0) << "field " << field << " = " << bad;
        }
    }
    cost_terms c = good;
    c.unit = 0;
    EXPECT_FALSE(usable(c));
    for (const double bad : {nan, -inf, 1e31}) {
        const double row[] = {0, bad};
        EXPECT_FALSE(usable(row, 2, true)) << bad;
        EXPECT_TRUE(usable(row, 1, false));
    }
    const double row[] = {inf};
    EXPECT_TRUE(usable(row, 1, true));
    EXPECT_FALSE(usable(row, 1, false));
}

TEST(cost, the_greatest_usable_numbers_give_a_finite_cost) {
    const double g = greatest_term;
    const std::vector<std::uint32_t> depths{1, 1u << 24, 1u << 24, 1u << 24};
    double cost = 0;
    const double low = -g;
    for (const double base : {g, low}) {
        costs_of({.credit = {g, g, g, 0}, .prompt = g, .block = g, .unit = 1 / g, .weight = g, .added = base},
                 depths.data(), 1, &g, &base, 1, &cost);
        EXPECT_TRUE(std::isfinite(cost));
    }
}

TEST(choose, equals_sorting_everything) {
    std::uint64_t tied = 0;
    for (std::uint64_t seed = 1; seed <= 500; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_rows random(seed);
        const std::uint32_t n = random.below(200);
        const std::uint32_t values = 1 + random.below(random.below(2) == 0 ? 5 : 1000);
        std::vector<double> costs(n);
        std::vector<choice> sorted;
        for (std::uint32_t i = 0; i < n; i++) {
            costs[i] = random.below(5) == 0 ? inf : random.below(values);
            if (costs[i] != inf) {
                sorted.push_back({.cost = costs[i], .slot = i});
            }
        }
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const choice& a, const choice& b) { return a.cost < b.cost; });
        for (const std::uint32_t k : {1u, 2u, 1 + random.below(20), std::max(n, 1u), n + 10}) {
            std::vector<choice> out(k + 1, choice{.cost = -7, .slot = 77777});
            const least found = choose(costs.data(), n, k, out.data());
            ASSERT_EQ(found.count, std::min<std::size_t>(k, sorted.size()));
            for (std::uint32_t i = 0; i < found.count; i++) {
                EXPECT_EQ(out[i].cost, sorted[i].cost);
                EXPECT_EQ(out[i].slot, sorted[i].slot);
            }
            EXPECT_EQ(out[found.count].slot, 77777u) << "written beyond what was found";
            const auto ties = std::count_if(sorted.begin(), sorted.end(),
                                            [&](const choice& c) { return c.cost == sorted[0].cost; });
            EXPECT_EQ(found.ties, static_cast<std::uint32_t>(ties));
            tied += ties > 1 ? 1 : 0;
        }
    }
    EXPECT_GT(tied, 100u) << "hardly any ties were tried";
}

} // namespace
} // namespace kvindex::tests
