/// The map of names against std::unordered_map: over several splits, with erasures, and with names made so that
/// they meet in one line or have one tag.
#include "storage/name_map.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace kvindex::storage {
namespace {

constexpr std::uint64_t inverse(std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int i = 0; i < 6; i++) {
        x *= 2 - odd * x;
    }
    return x;
}

/// The name whose mix() is `hash`.
constexpr std::uint64_t name_with(std::uint64_t hash) {
    std::uint64_t x = hash ^ (hash >> 32);
    x *= inverse(0x9e3779b97f4a7c15u);
    x = x ^ (x >> 29) ^ (x >> 58);
    x *= inverse(0xd6e8feb86659fd93u);
    return x ^ (x >> 32);
}
static_assert(mix(name_with(0x123456789abcdef0u)) == 0x123456789abcdef0u);

/// The map with its name lines, and what it should hold.
struct subject {
    explicit subject(std::uint32_t most)
        : lines(most / names_per_line + 2), arena(1u << 20), map(arena, lines.data()) {
    }

    void insert(std::uint64_t name) {
        std::uint32_t number = 0;
        if (free.empty()) {
            number = (1 + made / names_per_line) * 8 + 1 + made % names_per_line;
            made++;
        } else {
            number = free.back();
            free.pop_back();
        }
        lines[number >> 3].names[(number & 7) - 1] = name;
        map.insert(name, number);
        expected[name] = number;
    }

    void erase(std::uint64_t name) {
        const std::uint32_t number = expected.at(name);
        map.erase(name, number);
        lines[number >> 3].names[(number & 7) - 1] = 0;
        free.push_back(number);
        expected.erase(name);
    }

    void expect_all() const {
        ASSERT_EQ(map.size(), expected.size());
        for (const auto& [name, number] : expected) {
            ASSERT_EQ(map.find(name), number);
        }
    }

    region<name_line> lines;
    granule_arena arena;
    name_map map;
    std::uint32_t made = 0;
    std::vector<std::uint32_t> free;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
};

TEST(name_map, holds_what_a_map_holds_over_several_splits) {
    constexpr std::uint32_t most = 700'000; // a segment splits at some 147,000
    subject s(most);
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> known;
    for (std::uint32_t i = 0; i < most; i++) {
        const std::uint64_t name = random() | 1;
        if (s.expected.contains(name)) {
            continue;
        }
        ASSERT_EQ(s.map.find(name), 0u);
        s.insert(name);
        known.push_back(name);
        if (i % 4 == 0) {
            const std::size_t k = random() % known.size();
            s.erase(known[k]);
            ASSERT_EQ(s.map.find(known[k]), 0u);
            known[k] = known.back();
            known.pop_back();
        }
        if (i == 100 || i == 1000 || i == 140'000 || i == 200'000 || i == 400'000) {
            s.expect_all();
        }
    }
    s.expect_all();
    EXPECT_GE(s.map.bytes(), s.map.size() * 6);
    EXPECT_LE(s.map.bytes(), s.map.size() * 20);
    for (const std::uint64_t name : known) {
        s.erase(name);
    }
    EXPECT_EQ(s.map.size(), 0u);
    for (const std::uint64_t name : known) {
        ASSERT_EQ(s.map.find(name), 0u);
    }
}

TEST(name_map, a_step_splits_one_segment_and_the_next_steps_the_others) {
    subject s(600'000);
    std::mt19937_64 random(6);
    std::uint32_t in_a_row = 0; // steps with a split
    std::uint32_t longest = 0;
    while (s.made < 590'000) {
        s.map.begin_step();
        std::uint32_t splits = 0;
        for (std::uint32_t i = 0; i < 2000; i++) {
            const std::uint64_t before = s.map.bytes();
            s.insert(random() | 1);
            splits += s.map.bytes() > before + (1u << 18) && s.made > 150'000 ? 1u : 0u;
        }
        ASSERT_LE(splits, 1u) << s.made << " names";
        in_a_row = splits == 0 ? 0 : in_a_row + 1;
        longest = std::max(longest, in_a_row);
    }
    EXPECT_GE(longest, 3u) << "the segments were not full at the same time: the test shows nothing";
    s.expect_all();
}

TEST(name_map, names_of_one_line_and_of_one_tag_are_told_apart) {
    subject s(200'000);
    std::mt19937_64 random(6);
    std::vector<std::uint64_t> pool;
    for (std::uint64_t i = 0; i < 400; i++) {
        pool.push_back(name_with(i << 20 | 5));                                 // one home line
        pool.push_back(name_with(std::uint64_t{0x1234} << 48 | (i << 20) | 5)); // and one tag
        pool.push_back(name_with(random() << 14 | 0x3fff)); // the last line: goes on at the first
        pool.push_back(name_with(random()));
    }
    for (std::uint32_t step = 0; step < 60'000; step++) {
        const std::uint64_t name = pool[random() % pool.size()];
        const bool there = s.expected.contains(name);
        ASSERT_EQ(s.map.find(name), there ? s.expected.at(name) : 0) << "step " << step;
        const bool grow = step / 5000 % 2 == 0;
        if (there && (!grow || random() % 4 == 0)) {
            s.erase(name);
        } else if (!there && (grow || random() % 4 == 0)) {
            s.insert(name);
        }
        if (step % 1000 == 0) {
            s.expect_all();
        }
    }
    s.expect_all();
}

TEST(name_map, what_strayed_from_a_full_line_survives_a_split) {
    subject s(300'000);
    std::mt19937_64 random(8);
    for (std::uint64_t i = 0; i < 300; i++) {
        s.insert(name_with(random() << 14 | 0x3ff0)); // thirty lines full, around the end
        s.insert(name_with(random() << 14 | 77));
    }
    while (s.expected.size() < 290'000) {
        s.insert(name_with(random()));
    }
    s.expect_all();
}

TEST(name_map, a_search_ends_when_every_line_was_full_once) {
    subject s(1000);
    std::uint64_t made = 0;
    std::vector<std::uint64_t> at_home;
    for (std::uint64_t home = 0; home < 16; home++) { // the lines of a new map
        for (std::uint64_t i = 0; i < 11; i++) {      // one more than fit
            at_home.push_back(name_with(++made << 32 | home));
            s.insert(at_home.back());
        }
        at_home.pop_back(); // the one that went on to another line stays there
        for (const std::uint64_t name : at_home) {
            s.erase(name);
        }
        at_home.clear();
    }
    s.expect_all();
    for (std::uint64_t hash = 0; hash < 64; hash++) {
        ASSERT_EQ(s.map.find(name_with(hash | 1ull << 60)), 0u);
    }
    s.map.erase(name_with(1ull << 61), 8); // not there either
    s.expect_all();
}

TEST(name_map, a_name_that_is_not_there_is_not_erased) {
    subject s(1000);
    s.insert(7);
    s.map.erase(8, 9);
    s.map.erase(7, s.expected.at(7) + 1); // there, but another block's
    EXPECT_EQ(s.map.size(), 1u);
    s.expect_all();
}

TEST(name_map, a_hint_is_a_block_number_or_none) {
    subject s(10'000);
    for (std::uint64_t i = 1; i <= 5000; i++) {
        s.insert(i);
    }
    std::uint32_t right = 0;
    for (std::uint64_t i = 1; i <= 5000; i++) {
        right += s.map.peek(i) == s.map.find(i) ? 1u : 0u;
    }
    EXPECT_GT(right, 4000u); // most lie in their first line, and tags are rarely equal
}

} // namespace
} // namespace kvindex::storage
