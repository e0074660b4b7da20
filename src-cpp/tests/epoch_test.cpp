/// epoch_domain and limbo with real threads, also under TSan. Every order of small cases: model_tests.
#include "sync/epoch.hpp"

#include "base/memory_account.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace kvindex::sync {
namespace {

using domain = epoch_domain<>;

template <typename F>
void until(F&& holds) {
    while (!holds()) {
        std::this_thread::yield();
    }
}

/// Both words agree while the node is in use. They are atomic so that a node in wrong hands is an answer and
/// not undefined.
struct node {
    static constexpr std::uint64_t dead = 0xdeadu;

    std::atomic<std::uint64_t> value{dead};
    std::atomic<std::uint64_t> inverse{dead};

    void set(std::uint64_t v) {
        value.store(v, std::memory_order_relaxed);
        inverse.store(~v, std::memory_order_relaxed);
    }

    void kill() {
        value.store(dead, std::memory_order_relaxed);
        inverse.store(dead, std::memory_order_relaxed);
    }

    bool alive() const {
        return value.load(std::memory_order_relaxed) == ~inverse.load(std::memory_order_relaxed);
    }
};

TEST(epoch, nothing_is_free_while_a_pin_from_before_lives) {
    domain d;
    std::optional<domain::pin> reader(std::in_place, d);
    const std::uint64_t retired = d.current();
    for (int i = 0; i < 3; i++) {
        EXPECT_LE(d.advance_and_min(), retired);
    }
    const domain::pin later(d); // came after
    reader.reset();
    EXPECT_GT(d.advance_and_min(), retired);
    EXPECT_LT(d.advance_and_min(), d.current());
}

TEST(epoch, without_readers_everything_retired_is_free) {
    domain d;
    const std::uint64_t retired = d.current();
    EXPECT_EQ(d.advance_and_min(), retired + 1);
    EXPECT_EQ(d.current(), retired + 1); // what is retired from now on is not below the answer
}

TEST(epoch, a_pin_inside_a_pin_takes_another_slot) {
    domain d;
    const std::uint64_t retired = d.current();
    std::optional<domain::pin> outer(std::in_place, d);
    { const domain::pin inner(d); }
    EXPECT_LE(d.advance_and_min(), retired);
    std::optional<domain::pin> inner(std::in_place, d);
    const std::uint64_t retired_later = d.current();
    outer.reset();
    const std::uint64_t min = d.advance_and_min();
    EXPECT_GT(min, retired);
    EXPECT_LE(min, retired_later);
    inner.reset();
    EXPECT_GT(d.advance_and_min(), retired_later);
}

std::atomic<int> waits{0};

struct counted_waits : epoch_rules {
    static void wait() {
        waits.fetch_add(1);
        std::this_thread::yield();
    }
};

TEST(epoch, when_all_slots_are_taken_the_next_pin_waits_for_one) {
    using counted = epoch_domain<std::atomic, domain::reader_slots, counted_waits>;
    counted d;
    std::deque<std::optional<counted::pin>> pins(counted::reader_slots);
    for (auto& p : pins) {
        p.emplace(d);
    }
    const std::uint64_t retired = d.current();
    EXPECT_EQ(waits.load(), 0);
    std::atomic<bool> pinned{false};
    std::thread late([&] {
        const counted::pin p(d);
        pinned.store(true);
    });
    until([] { return waits.load() >= 3; });
    EXPECT_FALSE(pinned.load());
    pins[500].reset();
    late.join();
    EXPECT_LE(d.advance_and_min(), retired);
    pins.clear();
    EXPECT_GT(d.advance_and_min(), retired);
}

TEST(epoch, threads_have_different_numbers) {
    std::array<std::uint32_t, 8> numbers{};
    std::vector<std::thread> threads;
    for (std::uint32_t& n : numbers) {
        threads.emplace_back([&n] {
            n = thread_number();
            EXPECT_EQ(thread_number(), n);
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), numbers.size());
}

/// A link that readers follow, and a writer that uses its few nodes again and again.
struct shared {
    domain epochs;
    std::array<node, 64> nodes;
    std::atomic<node*> link{nullptr};
    std::vector<node*> spare;
    limbo<node*> retired;

    shared() {
        for (node& n : nodes) {
            spare.push_back(&n);
        }
        publish(0);
    }

    void publish(std::uint64_t value) {
        node* fresh = spare.back();
        spare.pop_back();
        fresh->set(value);
        node* old = link.load(std::memory_order_relaxed);
        link.store(fresh, std::memory_order_release);
        if (old != nullptr) {
            retired.retire(old, epochs.current());
        }
    }

    void reclaim(std::uint64_t min) {
        retired.reclaim(min, [this](node* n) {
            n->kill();
            spare.push_back(n);
        });
    }
};

TEST(epoch, readers_never_meet_a_node_that_was_used_again) {
    constexpr std::uint64_t rounds = 10'000;
    shared s;
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> dead{0}, backwards{0}, reading{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; i++) {
        readers.emplace_back([&] {
            reading.fetch_add(1);
            std::uint64_t last = 0;
            while (!done.load(std::memory_order_relaxed)) {
                const domain::pin pinned(s.epochs);
                const node* n = s.link.load(std::memory_order_acquire);
                for (int look = 0; look < 4; look++) {
                    dead.fetch_add(n->alive() ? 0u : 1u, std::memory_order_relaxed);
                }
                const std::uint64_t value = n->value.load(std::memory_order_relaxed);
                backwards.fetch_add(value < last ? 1u : 0u, std::memory_order_relaxed);
                last = value;
            }
        });
    }
    until([&] { return reading.load() == readers.size(); });
    for (std::uint64_t i = 1; i <= rounds; i++) {
        while (s.spare.empty()) {
            s.reclaim(s.epochs.advance_and_min());
            std::this_thread::yield();
        }
        s.publish(i);
        if (i % 8 == 0) {
            s.reclaim(s.epochs.advance_and_min());
        }
    }
    done.store(true);
    for (std::thread& r : readers) {
        r.join();
    }
    EXPECT_EQ(dead.load(), 0u);
    EXPECT_EQ(backwards.load(), 0u);
    s.reclaim(s.epochs.advance_and_min());
    EXPECT_EQ(s.retired.size(), 0u);
    EXPECT_EQ(s.spare.size(), s.nodes.size() - 1);
}

TEST(epoch, control_a_node_freed_without_asking_is_seen_dead) {
    shared s;
    std::atomic<int> turn{0};
    bool alive_before = false, alive_after = true;
    std::thread reader([&] {
        const domain::pin pinned(s.epochs);
        const node* n = s.link.load(std::memory_order_acquire);
        alive_before = n->alive();
        turn.store(1);
        until([&] { return turn.load() == 2; });
        alive_after = n->alive();
    });
    until([&] { return turn.load() == 1; });
    s.publish(1);
    s.reclaim(s.epochs.advance_and_min());
    EXPECT_EQ(s.retired.size(), 1u); // asked, it stays
    s.reclaim(s.epochs.current() + 1);
    turn.store(2);
    reader.join();
    EXPECT_TRUE(alive_before);
    EXPECT_FALSE(alive_after);
}

TEST(limbo, gives_back_in_order_what_a_queue_would) {
    limbo<std::uint64_t> l;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> expected;
    std::mt19937_64 random(3);
    std::uint64_t epoch = 1;
    for (std::uint64_t i = 0; i < 50'000; i++) {
        epoch += random() % 3;
        if (random() % (i % 2'000 < 1'000 ? 4 : 2) != 0) {
            l.retire(i, epoch);
            expected.emplace_back(i, epoch);
        } else {
            const std::uint64_t min = epoch - std::min<std::uint64_t>(epoch, random() % 8);
            l.reclaim(min, [&](std::uint64_t what) {
                ASSERT_FALSE(expected.empty());
                EXPECT_EQ(what, expected.front().first);
                EXPECT_LT(expected.front().second, min);
                expected.pop_front();
            });
            ASSERT_TRUE(expected.empty() || expected.front().second >= min);
        }
        ASSERT_EQ(l.size(), expected.size());
    }
}

TEST(limbo, freeing_may_retire_more) {
    limbo<std::unique_ptr<int>> l;
    for (int i = 0; i < 16; i++) {
        l.retire(std::make_unique<int>(i), 1);
    }
    int freed = 0;
    l.reclaim(2, [&](std::unique_ptr<int> what) {
        EXPECT_EQ(*what, freed++);
        l.retire(std::make_unique<int>(100), 2);
        l.retire(std::make_unique<int>(100), 2); // outgrows the ring meanwhile
    });
    EXPECT_EQ(freed, 16);
    EXPECT_EQ(l.size(), 32u);
}

TEST(limbo, what_was_reserved_needs_no_memory_and_a_failure_changes_nothing) {
    memory_account account;
    {
        using list = limbo<int, tracked_allocator<int>>;
        list l{tracked_allocator<int>(account)};
        l.reserve(20);
        const std::uint64_t reserved = account.bytes();
        account.fail_at(1);
        for (int i = 0; i < 32; i++) {
            l.retire(i, 1);
        }
        EXPECT_THROW(l.retire(32, 1), std::bad_alloc);
        EXPECT_EQ(l.size(), 32u);
        EXPECT_EQ(account.bytes(), reserved);
        int next = 0;
        l.reclaim(2, [&](int what) { EXPECT_EQ(what, next++); });
        EXPECT_EQ(next, 32);
    }
    EXPECT_EQ(account.bytes(), 0u);
}

} // namespace
} // namespace kvindex::sync
