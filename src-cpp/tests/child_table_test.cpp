/// The table of children against std::map: over several splits, with erasures, and with keys of one hash.
#include "storage/child_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace kvindex::storage {
namespace {

using key = std::tuple<std::uint32_t, std::uint32_t, local_hash>; // run, offset, next local hash

struct subject {
    subject() : heads(1u << 18), arena(1u << 18), table(arena, reclaim, heads.data()) {
    }

    void insert(const key& k) {
        std::uint32_t run = top;
        if (free.empty()) {
            top++;
        } else {
            run = free.back();
            free.pop_back();
        }
        const auto& [parent, offset, local] = k;
        heads[run].first.store(local, std::memory_order_relaxed);
        heads[run].parent.store(parent, std::memory_order_relaxed);
        heads[run].parent_at.store(static_cast<std::uint16_t>(offset), std::memory_order_relaxed);
        table.insert({parent, offset}, local, run);
        expected[k] = run;
    }

    void erase(const key& k) {
        const auto& [parent, offset, local] = k;
        table.erase({parent, offset}, local, expected.at(k));
        free.push_back(expected.at(k));
        expected.erase(k);
    }

    std::uint32_t find(const key& k) const {
        return table.find({std::get<0>(k), std::get<1>(k)}, std::get<2>(k));
    }

    void expect_all() const {
        ASSERT_EQ(table.size(), expected.size());
        for (const auto& [k, run] : expected) {
            ASSERT_EQ(find(k), run);
        }
    }

    void collect() {
        reclaim.collect([](std::uint32_t) {});
    }

    region<run_head> heads;
    granule_arena arena;
    reclaimer reclaim;
    child_table table;
    std::uint32_t top = 1;
    std::vector<std::uint32_t> free;
    std::map<key, std::uint32_t> expected;
};

void change_at_random(subject& s, const std::vector<key>& pool, std::uint32_t steps, std::mt19937_64& random) {
    for (std::uint32_t step = 0; step < steps; step++) {
        const key& k = pool[random() % pool.size()];
        const auto known = s.expected.find(k);
        const bool there = known != s.expected.end();
        ASSERT_EQ(s.find(k), there ? known->second : 0) << "step " << step;
        const bool grow = step / 10'000 % 3 != 2;
        if (there && (!grow || random() % 8 == 0)) {
            s.erase(k);
        } else if (!there && (grow || random() % 8 == 0)) {
            s.insert(k);
        }
        if (step % 64 == 0) {
            s.collect();
        }
        if (step % 20'000 == 0) {
            s.expect_all();
        }
    }
    s.expect_all();
}

TEST(child_table, holds_what_a_map_holds_over_several_splits) {
    subject s;
    std::mt19937_64 random(9);
    std::vector<key> pool;
    for (std::uint32_t i = 0; i < 60'000; i++) { // a segment splits at some 10,000
        pool.emplace_back(static_cast<std::uint32_t>(random() % 5000),
                          static_cast<std::uint32_t>(random() % 8191), random());
        pool.emplace_back(root_run, static_cast<std::uint32_t>(random() % 65536), random() % 100);
    }
    change_at_random(s, pool, 400'000, random);
    EXPECT_GT(s.expected.size(), 50'000u);
    EXPECT_GE(s.table.bytes(), s.table.size() * 9);
    EXPECT_LE(s.table.bytes(), s.table.size() * 40);
}

TEST(child_table, keys_of_one_hash_are_told_apart) {
    // Local hashes that have the same place in the table, each behind its own block (child_table::hash_of).
    const auto same = [](std::uint32_t run, std::uint32_t offset) {
        return mix(std::uint64_t{run} << 16 | offset) ^ 12345u;
    };
    subject s;
    std::mt19937_64 random(10);
    std::vector<key> pool;
    for (std::uint32_t i = 0; i < 300; i++) {
        pool.emplace_back(i / 3, i % 3, same(i / 3, i % 3));
        pool.emplace_back(i, 1, random());
    }
    change_at_random(s, pool, 50'000, random);
}

TEST(child_table, keys_made_to_have_one_hash_fill_it_up_and_are_refused_then) {
    subject s;
    std::uint32_t stored = 0;
    try {
        for (; stored < 100'000; stored++) {
            s.insert({stored, 1, mix(std::uint64_t{stored} << 16 | 1) ^ 12345u});
        }
    } catch (const std::bad_alloc&) {
        EXPECT_GT(stored, 10'000u);
    }
    EXPECT_LT(stored, 100'000u) << "so many of one hash cannot fit";
    EXPECT_NE(s.table.find({0, 1}, mix(1) ^ 12345u), 0u);
    EXPECT_EQ(s.table.find({stored + 1, 1}, mix(std::uint64_t{stored + 1} << 16 | 1) ^ 12345u), 0u);
}

TEST(child_table, a_search_ends_when_every_line_was_full_once) {
    for (std::uint64_t seed = 0; seed < 20; seed++) {
        subject s;
        std::mt19937_64 random(seed);
        std::vector<key> there;
        for (std::uint32_t step = 0; step < 5000;
             step++) { // four lines of seven, never more than nineteen in them
            if (there.size() == 19) {
                std::swap(there[random() % there.size()], there.back());
                s.erase(there.back());
                there.pop_back();
            }
            there.emplace_back(1, 1, random());
            s.insert(there.back());
            ASSERT_EQ(s.find({1, 2, random()}), 0u);
        }
        s.expect_all();
    }
}

TEST(child_table, what_a_look_up_stands_in_stays_whole_while_the_table_grows) {
    subject s;
    s.insert({1, 1, 1});
    const std::uint64_t before = s.arena.bytes_in_use();
    {
        const sync::epoch_domain<>::pin reader(s.reclaim.domain());
        for (std::uint32_t i = 2; i < 1000; i++) {
            s.insert({1, 1, i});
            s.collect();
        }
        EXPECT_GT(s.reclaim.waiting(), 0u) << "old lines were given up under a reader";
    }
    s.collect();
    EXPECT_EQ(s.reclaim.waiting(), 0u);
    EXPECT_GT(s.arena.bytes_in_use(), before);
    s.expect_all();
}

} // namespace
} // namespace kvindex::storage
