/// Wrong arguments of kvi_match_batch and kvi_best: refused before anything is written.
#include "kvindex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace {

constexpr std::uint8_t pattern = 0x5a;

/// A right call of each, to make wrong in one place; an index with one slot that holds {11, 12}.
class hostile_queries : public testing::Test {
protected:
    void SetUp() override {
        kvi_config config{};
        config.size = sizeof config;
        config.max_blocks = 1u << 18;
        ASSERT_EQ(kvi_open(&config, &index), KVI_OK);
        std::uint32_t slot = 0;
        ASSERT_EQ(kvi_slot_open(index, 1, 0, &slot), KVI_OK);
        struct {
            kvi_event head;
            std::uint64_t words[4];
        } record{};
        record.head.size = sizeof record;
        record.head.kind = KVI_STORED_LOCALS;
        record.head.slot = slot;
        record.head.n = 2;
        std::memcpy(record.words, std::array<std::uint64_t, 4>{1, 2, 11, 12}.data(), sizeof record.words);
        kvi_applied applied{};
        ASSERT_EQ(kvi_apply(index, &record, sizeof record, &applied), KVI_OK);
        ASSERT_EQ(applied.applied, 1u);
        for (kvi_query& q : queries) {
            q = {.offset = 1, .count = 2, .name_space = 0, .budget = 0, .reserved = 0};
        }
        for (kvi_cost& c : costs) {
            c = {{1, 1, 1, 1}, 0, 2, 1, 1, 1, 0, 2, 0};
        }
        spoil();
    }

    void TearDown() override {
        EXPECT_EQ(kvi_close(index), KVI_OK);
    }

    void spoil() {
        std::memset(rows.data(), pattern, sizeof rows);
        std::memset(looked.data(), pattern, sizeof looked);
        std::memset(choices.data(), pattern, sizeof choices);
        std::memset(found.data(), pattern, sizeof found);
    }

    bool untouched() const {
        const auto clean = [](const auto& a) {
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(a.data());
            return std::count(bytes, bytes + sizeof a, pattern) == static_cast<std::ptrdiff_t>(sizeof a);
        };
        return clean(rows) && clean(looked) && clean(choices) && clean(found);
    }

    std::int32_t batch(std::uint32_t n = 2, std::uint32_t tiers = 1, std::uint32_t stride = 64) {
        return kvi_match_batch(index, queries.data(), n, locals.data(), locals.size(), tiers, rows.data(),
                               stride, looked.data());
    }

    std::int32_t best(std::uint32_t n = 2, std::uint32_t stride = 64, std::uint32_t k = 1) {
        return kvi_best(index, queries.data(), n, locals.data(), locals.size(), costs.data(), prefill.data(),
                        base.data(), stride, k, choices.data(), found.data());
    }

    void expect_refused(std::int32_t status, const char* what, std::int32_t wanted = KVI_E_ARGUMENT) {
        EXPECT_EQ(status, wanted) << what;
        EXPECT_TRUE(untouched()) << what << ": something was written";
        spoil();
    }

    kvi_index* index = nullptr;
    std::array<std::uint64_t, 4> locals{99, 11, 12, 13};
    std::array<kvi_query, 2> queries{};
    std::array<kvi_cost, 2> costs{};
    std::array<double, 64> prefill{};
    std::array<double, 64> base{};
    std::array<std::uint32_t, 2 * KVI_TIERS * 64> rows{};
    std::array<kvi_looked, 2> looked{};
    std::array<kvi_choice, 4> choices{};
    std::array<kvi_best_found, 2> found{};
};

TEST_F(hostile_queries, the_right_calls_are_answered) {
    ASSERT_EQ(batch(), KVI_OK);
    EXPECT_EQ(rows[0], 2u);
    EXPECT_EQ(rows[64], 2u);
    EXPECT_EQ(looked[1].cut_short, 0u);
    ASSERT_EQ(best(2, 64, 2), KVI_OK);
    EXPECT_EQ(found[1].count, 1u);
    EXPECT_EQ(choices[2].cost, 0);
    EXPECT_EQ(kvi_match_batch(index, queries.data(), 2, locals.data(), 4, 1, rows.data(), 64, nullptr), KVI_OK);
    queries[0].count = 0;
    queries[0].offset = 4;
    EXPECT_EQ(batch(), KVI_OK) << "an empty stretch at the end";
    EXPECT_EQ(kvi_match_batch(index, queries.data(), 1, nullptr, 0, 1, rows.data(), 64, nullptr),
              KVI_E_ARGUMENT)
        << "its offset is beyond";
    queries[0].offset = 0;
    EXPECT_EQ(kvi_match_batch(index, queries.data(), 1, nullptr, 0, 1, rows.data(), 64, nullptr), KVI_OK);
}

TEST_F(hostile_queries, a_wrong_query_refuses_the_whole_call) {
    const std::array<std::pair<const char*, std::function<void(kvi_query&)>>, 8> mistakes{{
        {"offset behind the end", [](kvi_query& q) { q.offset = 5; }},
        {"stretch over the end", [](kvi_query& q) { q.count = 4; }},
        {"offset + count past 64 bits", [](kvi_query& q) { q.offset = ~std::uint64_t{0}; }},
        {"the same, to 0", [](kvi_query& q) { q.offset = ~std::uint64_t{1}; }},
        {"too many blocks", [](kvi_query& q) { q.count = KVI_MAX_BLOCKS + 1; }},
        {"greatest count", [](kvi_query& q) { q.count = 0xffffffffu; }},
        {"name space", [](kvi_query& q) { q.name_space = KVI_MAX_NAME_SPACES; }},
        {"reserved", [](kvi_query& q) { q.reserved = 1; }},
    }};
    for (const auto& [what, spoil_query] : mistakes) {
        const kvi_query good = queries[1];
        spoil_query(queries[1]);
        expect_refused(batch(), what);
        expect_refused(best(), what);
        queries[1] = good;
    }
}

TEST_F(hostile_queries, counts_and_strides_out_of_range_are_refused) {
    expect_refused(batch(0), "no query");
    expect_refused(batch(KVI_MAX_QUERIES + 1), "too many queries");
    expect_refused(batch(2, 0), "tiers");
    expect_refused(batch(2, 2), "tiers");
    expect_refused(batch(2, 1, 63), "stride");
    expect_refused(batch(2, 1, 0), "room for no slot", KVI_E_CAPACITY);
    expect_refused(best(0), "no query");
    expect_refused(best(2, 65), "stride");
    expect_refused(best(2, KVI_MAX_SLOTS + 64), "stride");
    expect_refused(best(2, 0), "room for no slot", KVI_E_CAPACITY);
    expect_refused(best(2, 64, 0), "k");
    expect_refused(best(2, 64, KVI_MAX_SLOTS + 1), "k");
}

TEST_F(hostile_queries, a_null_or_misaligned_argument_is_refused) {
    const auto odd = [](auto* p) {
        return reinterpret_cast<decltype(p)>(reinterpret_cast<std::uintptr_t>(p) + 2);
    };
    const kvi_query* const q = queries.data();
    const std::uint64_t* const l = locals.data();
    for (const kvi_query* wrong : {static_cast<const kvi_query*>(nullptr), odd(q)}) {
        expect_refused(kvi_match_batch(index, wrong, 2, l, 4, 1, rows.data(), 64, nullptr), "queries");
    }
    for (const std::uint64_t* wrong : {static_cast<const std::uint64_t*>(nullptr), odd(l)}) {
        expect_refused(kvi_match_batch(index, q, 2, wrong, 4, 1, rows.data(), 64, nullptr), "locals");
    }
    expect_refused(kvi_match_batch(nullptr, q, 2, l, 4, 1, rows.data(), 64, nullptr), "index");
    expect_refused(kvi_match_batch(index, q, 2, l, 4, 1, nullptr, 64, looked.data()), "rows");
    expect_refused(kvi_match_batch(index, q, 2, l, 4, 1, odd(rows.data()), 64, looked.data()), "rows");
    expect_refused(kvi_match_batch(index, q, 2, l, 4, 1, rows.data(), 64, odd(looked.data())), "looked");
    const kvi_cost* const c = costs.data();
    const double* const p = prefill.data();
    const double* const b = base.data();
    kvi_choice* const o = choices.data();
    kvi_best_found* const f = found.data();
    expect_refused(kvi_best(nullptr, q, 2, l, 4, c, p, b, 64, 1, o, f), "index");
    expect_refused(kvi_best(index, nullptr, 2, l, 4, c, p, b, 64, 1, o, f), "queries");
    expect_refused(kvi_best(index, q, 2, nullptr, 4, c, p, b, 64, 1, o, f), "locals");
    expect_refused(kvi_best(index, q, 2, l, 4, nullptr, p, b, 64, 1, o, f), "costs");
    expect_refused(kvi_best(index, q, 2, l, 4, odd(c), p, b, 64, 1, o, f), "costs");
    expect_refused(kvi_best(index, q, 2, l, 4, c, nullptr, b, 64, 1, o, f), "prefill");
    expect_refused(kvi_best(index, q, 2, l, 4, c, p, nullptr, 64, 1, o, f), "base");
    expect_refused(kvi_best(index, q, 2, l, 4, c, p, odd(b), 64, 1, o, f), "base");
    expect_refused(kvi_best(index, q, 2, l, 4, c, p, b, 64, 1, nullptr, f), "choices");
    expect_refused(kvi_best(index, q, 2, l, 4, c, p, b, 64, 1, o, nullptr), "found");
}

TEST_F(hostile_queries, numbers_that_are_none_are_refused) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, -inf, 1e31}) {
        base[63] = bad;
        expect_refused(best(), "base");
        base[63] = 0;
    }
    for (const double bad : {nan, inf, -inf, 1e31}) {
        prefill[63] = bad;
        expect_refused(best(), "prefill");
        prefill[63] = 0;
        costs[1].weight = bad;
        expect_refused(best(), "weight");
        costs[1].weight = 1;
    }
    for (const double bad : {0.0, -1.0, 1e-31}) {
        costs[1].unit = bad;
        expect_refused(best(), "unit");
        costs[1].unit = 1;
    }
    base[0] = inf;
    EXPECT_EQ(best(), KVI_OK);
    EXPECT_EQ(found[0].count, 0u);
}

TEST_F(hostile_queries, a_config_with_more_than_this_version_knows_is_refused) {
    kvi_config config{};
    config.size = sizeof config;
    config.max_blocks = 1u << 16;
    config.reserved = 1;
    kvi_index* other = nullptr;
    EXPECT_EQ(kvi_open(&config, &other), KVI_E_ARGUMENT);
    EXPECT_EQ(other, nullptr);
}

} // namespace
