/// The first block of an index that goes to a lower tier, beside look-ups that began when there was none: it is
/// stored below before it is removed above, so every look-up finds it.
#include "kvindex/prefix_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

namespace kvindex::tests {
namespace {

/// Long enough that a look-up takes far longer than the move of the last blocks.
constexpr std::size_t start_blocks = 20'000;
constexpr std::size_t moved_blocks = 3;
constexpr std::size_t all_blocks = start_blocks + moved_blocks;
constexpr int rounds = 20;

std::vector<std::uint64_t> numbers(std::size_t count, std::uint64_t first) {
    std::vector<std::uint64_t> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
}

/// Look-ups on a thread of their own while the move is applied; the least depth in any tier that they found.
std::uint32_t
least_found(const std::function<std::uint32_t(const prefix_index&, std::span<const local_hash>)>& look) {
    const std::vector<std::uint64_t> locals = numbers(all_blocks, 1'000'000);
    const std::vector<std::uint64_t> names = numbers(all_blocks, 5'000'000);
    const std::uint64_t other_name = 1;
    const std::uint64_t other_local = 2;
    const std::span own(names);
    const std::span moved = own.subspan(start_blocks);
    const std::span moved_locals = std::span(locals).subspan(start_blocks);
    prefix_index index;
    const slot_id slot = *index.open_slot();
    const slot_id other = *index.open_slot();
    const std::uint64_t fork = names[start_blocks - 1];
    // The other one goes on elsewhere from the fork, so that the moved blocks are a run of their own.
    const std::array<event, 4> before{
        stored_event{slot, tier::gpu, false, 0, own.first(start_blocks), std::span(locals).first(start_blocks)},
        stored_event{other, tier::gpu, false, 0, own.first(start_blocks),
                     std::span(locals).first(start_blocks)},
        stored_event{other, tier::gpu, true, fork, {&other_name, 1}, {&other_local, 1}},
        stored_event{slot, tier::gpu, true, fork, moved, moved_locals}};
    index.apply(before);
    std::atomic<std::uint32_t> looks{0};
    std::atomic<bool> stop{false};
    std::uint32_t least = all_blocks;
    std::thread reader([&] {
        while (!stop.load()) {
            least = std::min(least, look(index, locals));
            looks++;
        }
    });
    while (looks.load() == 0) {
        std::this_thread::yield();
    }
    const std::array<event, 2> move{stored_event{slot, tier::host, true, fork, moved, moved_locals},
                                    removed_event{slot, tier::gpu, moved}};
    index.apply(move);
    stop = true;
    reader.join();
    return least;
}

TEST(first_tier, a_look_up_that_began_before_it_finds_what_moved_down) {
    for (int round = 0; round < rounds; round++) {
        EXPECT_EQ(all_blocks, least_found([](const prefix_index& index, std::span<const local_hash> locals) {
                      std::vector<std::uint32_t> depth(std::size_t{64} * tier_count);
                      index.match_dense(0, locals, tier_count, depth.data(), 64);
                      return depth[std::size_t{64} * (tier_count - 1)];
                  }))
            << "round " << round;
    }
}

TEST(first_tier, so_do_several_at_once) {
    for (int round = 0; round < rounds; round++) {
        EXPECT_EQ(all_blocks, least_found([](const prefix_index& index, std::span<const local_hash> locals) {
                      std::vector<std::uint32_t> depth(std::size_t{2} * 64 * tier_count);
                      const std::array<query, 2> both{query{.locals = locals}, query{.locals = locals}};
                      index.match_batch(both, tier_count, depth.data(), 64, {});
                      return std::min(depth[std::size_t{64} * (tier_count - 1)],
                                      depth[std::size_t{64} * (2 * tier_count - 1)]);
                  }))
            << "round " << round;
    }
}

} // namespace
} // namespace kvindex::tests
