/// The hash table against std::map, with keys that collide.
#include "storage/open_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kvindex::storage {
namespace {

struct pair_traits {
    struct entry {
        std::uint64_t name = 0;
        std::uint32_t value = 0;
    };
    using key = std::uint64_t;

    static key key_of(const entry& e) {
        return e.name;
    }

    static bool used(const entry& e) {
        return e.value != 0;
    }

    static std::uint64_t hash(key k) {
        return k % 16 == 0 ? 5 : mix(k); // many keys of one home
    }
};

TEST(open_table, holds_what_a_map_holds) {
    memory_account account;
    {
        open_table<pair_traits> table(account);
        std::map<std::uint64_t, std::uint32_t> expected;
        std::mt19937_64 random(7);
        for (std::uint32_t i = 1; i <= 200'000; i++) {
            const std::uint64_t key = random() % (i % 40'000 < 20'000 ? 2000 : 50);
            auto* found = table.find(key);
            ASSERT_EQ(found != nullptr, expected.contains(key)) << "step " << i;
            if (found != nullptr && random() % 2 == 0) {
                ASSERT_EQ(found->value, expected[key]);
                table.erase(found);
                expected.erase(key);
            } else if (found == nullptr) {
                table.reserve(1);
                ASSERT_EQ(table.insert({key, i})->value, i);
                expected[key] = i;
            }
            if (random() % 64 == 0) {
                table.shrink();
            }
            ASSERT_EQ(table.size(), expected.size());
        }
        std::size_t seen = 0;
        table.for_each([&](const auto& e) {
            seen++;
            EXPECT_EQ(expected.at(e.name), e.value);
        });
        EXPECT_EQ(seen, expected.size());
        EXPECT_GT(account.bytes(), 0u);
    }
    EXPECT_EQ(account.bytes(), 0u);
}

TEST(open_table, an_empty_table_finds_nothing_and_takes_no_memory) {
    memory_account account;
    open_table<pair_traits> table(account);
    EXPECT_EQ(table.find(0), nullptr);
    table.prefetch(0);
    table.shrink();
    EXPECT_EQ(account.bytes(), 0u);
}

TEST(open_table, gives_memory_back_when_few_entries_are_left) {
    memory_account account;
    open_table<pair_traits> table(account);
    table.reserve(10'000);
    for (std::uint64_t i = 0; i < 10'000; i++) {
        table.insert({i, 1});
    }
    const std::uint64_t full = account.bytes();
    for (std::uint64_t i = 10; i < 10'000; i++) {
        table.erase(table.find(i));
    }
    account.fail_at(1);
    table.shrink(); // no memory for the smaller table: nothing happens
    EXPECT_EQ(account.bytes(), full);
    table.shrink();
    EXPECT_LT(account.bytes(), full / 100);
    for (std::uint64_t i = 0; i < 10; i++) {
        EXPECT_NE(table.find(i), nullptr);
    }
}

TEST(open_table, a_reservation_that_fails_changes_nothing) {
    memory_account account;
    open_table<pair_traits> table(account);
    table.reserve(6);
    for (std::uint64_t i = 0; i < 6; i++) {
        table.insert({i, 1});
    }
    account.fail_at(1);
    EXPECT_THROW(table.reserve(1), std::bad_alloc);
    EXPECT_EQ(table.size(), 6u);
    for (std::uint64_t i = 0; i < 6; i++) {
        EXPECT_NE(table.find(i), nullptr);
    }
}

} // namespace
} // namespace kvindex::storage
