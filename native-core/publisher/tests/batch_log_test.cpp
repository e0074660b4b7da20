#include "publisher/batch_log.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <new>

namespace kvpub {
namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

void add(batch_log& log, std::size_t size = 10) {
    log.append([&](bytes& out) { out.insert(out.end(), size, std::uint8_t{0xc0}); });
}

std::vector<std::uint64_t> numbers_from(const batch_log& log, std::uint64_t from,
                                        std::uint64_t until = no_end) {
    std::vector<std::uint64_t> out;
    while (const auto b = log.next(from, until)) {
        out.push_back(b->sequence);
    }
    return out;
}

TEST(batch_log, events_are_batched_until_somebody_looks_or_a_batch_is_full) {
    batch_log log({.batches = 8, .bytes = 1 << 20, .events = 3}, 0, [] { return 1.5; });
    add(log);
    add(log);
    EXPECT_EQ(log.end(), 0u);
    log.seal();
    EXPECT_EQ(log.end(), 1u);
    log.seal();
    EXPECT_EQ(log.end(), 1u) << "an empty batch has no number";
    for (int i = 0; i < 3; i++) {
        add(log);
    }
    EXPECT_EQ(log.end(), 2u) << "a full batch is closed by its last event";
    EXPECT_EQ(log.stats().events, 5u);
}

TEST(batch_log, keeps_the_newest_and_goes_on_behind_what_is_gone) {
    batch_log log({.batches = 4, .bytes = 1 << 20, .events = 1}, 0, [] { return 1.5; });
    for (int i = 0; i < 10; i++) {
        add(log);
    }
    EXPECT_EQ(numbers_from(log, 0), (std::vector<std::uint64_t>{6, 7, 8, 9}));
    EXPECT_EQ(numbers_from(log, 8), (std::vector<std::uint64_t>{8, 9}));
    EXPECT_EQ(numbers_from(log, 7, 9), (std::vector<std::uint64_t>{7, 8}));
    EXPECT_TRUE(numbers_from(log, 10).empty());
    EXPECT_TRUE(numbers_from(log, no_end).empty());
}

TEST(batch_log, keeps_no_more_bytes_than_allowed_but_always_the_newest) {
    batch_log log({.batches = 100, .bytes = 1000, .events = 1}, 0, [] { return 1.5; });
    for (int i = 0; i < 10; i++) {
        add(log, 300);
    }
    EXPECT_EQ(numbers_from(log, 0), (std::vector<std::uint64_t>{7, 8, 9}));
    EXPECT_LE(log.stats().kept_bytes, 1000u);
    add(log, 5000);
    EXPECT_EQ(numbers_from(log, 0), (std::vector<std::uint64_t>{10}));
}

/// A router must see that something is missing, or it would rely on blocks whose removal was lost.
TEST(batch_log, an_event_that_finds_no_memory_leaves_a_hole_in_the_numbers) {
    batch_log log({.batches = 8, .bytes = 1 << 20, .events = 4}, 0, [] { return 1.5; });
    add(log);
    log.seal();
    add(log);
    EXPECT_THROW(log.append([](bytes&) { throw std::bad_alloc(); }), std::bad_alloc);
    add(log);
    log.seal();
    EXPECT_EQ(numbers_from(log, 0), (std::vector<std::uint64_t>{0, 2}));
    EXPECT_EQ(log.stats().lost_events, 2u) << "what stood in the batch with it is lost too";
}

} // namespace
} // namespace kvpub
