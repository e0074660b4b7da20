/// Readers beside a writer whose history is known: an answer is never below the least depth between the begin
/// and the end of the call, and counts only blocks that were held at some instant between them. Run under TSan
/// as well.
#include "kvindex/prefix_index.hpp"
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <functional>
#include <random>
#include <thread>

namespace kvindex::tests {
namespace {

constexpr std::uint32_t slot_count = 8;
constexpr std::size_t prompt_count = 6;
constexpr std::size_t prompt_blocks = 60;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t operations = 4'000;
#else
constexpr std::size_t operations = 8'000;
#endif

using answer = std::array<std::array<std::uint32_t, tier_count>, slot_count>;

/// Blocks of a prompt that a slot holds, as bits: in GPU memory; in any tier.
struct held_blocks {
    std::uint64_t gpu = 0;
    std::uint64_t any = 0;

    std::uint64_t up_to(std::uint32_t t) const { // the history knows two tiers
        return t == 0 ? gpu : any;
    }

    void operator|=(const held_blocks& o) {
        gpu |= o.gpu;
        any |= o.any;
    }
};

std::uint32_t depth_in(std::uint64_t blocks) {
    return static_cast<std::uint32_t>(std::countr_one(blocks));
}

answer by_slot(std::span<const hit> hits) {
    answer a{};
    for (const hit& h : hits) {
        a[h.slot] = h.depth;
    }
    return a;
}

/// A history of events and what each prompt's answer is after each of them, worked out beforehand.
struct history {
    explicit history(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        for (std::size_t p = 0; p < prompt_count; p++) {
            for (std::size_t i = 0; i < prompt_blocks; i++) {
                // Prompts share their starts: prompt p parts from prompt 0 at block 10 p.
                prompts[p][i] = i < 10 * p ? 1000 + i : 1000 * (p + 2) + i;
                names[p][i] = i < 10 * p ? 5000 + i : 5000 * (p + 2) + i;
            }
        }
        oracle expected(1'000'000);
        for (std::uint32_t slot = 0; slot < slot_count; slot++) {
            expected.open_slot();
        }
        after.emplace_back();
        blocks_after.emplace_back();
        for (std::size_t i = 0; i < operations; i++) {
            const slot_id slot{static_cast<std::uint32_t>(random() % slot_count)};
            const std::size_t p = random() % prompt_count;
            const auto where = tier{static_cast<std::uint8_t>(random() % 2)};
            const std::size_t begin = random() % prompt_blocks;
            const std::size_t count = 1 + random() % (prompt_blocks - begin);
            const std::span own(names[p]);
            switch (random() % 100) {
            case 0:
                events.emplace_back(cleared_event{slot});
                break;
            default:
                if (random() % 5 < 3) {
                    const bool child = begin != 0;
                    events.emplace_back(stored_event{slot, where, child, child ? own[begin - 1] : 0,
                                                     own.subspan(begin, count),
                                                     std::span(prompts[p]).subspan(begin, count)});
                } else {
                    events.emplace_back(removed_event{slot, where, own.subspan(begin, count)});
                }
            }
            expected.apply(events.back());
            note(expected, slot);
        }
    }

    history(const history&) = delete;
    history& operator=(const history&) = delete;

    void note(const oracle& expected, slot_id changed) {
        after.push_back(after.back());
        for (std::size_t p = 0; p < prompt_count; p++) {
            held_blocks held;
            const std::vector<tier_mask> tiers = expected.tiers_along(changed, prompts[p]);
            for (std::size_t i = 0; i < prompt_blocks; i++) {
                held.gpu |= std::uint64_t{(tiers[i] & mask_of(tier::gpu)) != 0} << i;
                held.any |= std::uint64_t{tiers[i] != 0} << i;
            }
            after.back()[p][number_of(changed)] = held;
        }
        blocks_after.push_back(blocks_after.back());
        blocks_after.back()[number_of(changed)] = expected.blocks_of(number_of(changed));
    }

    answer answer_after(std::size_t done, std::size_t prompt) const {
        answer a{};
        for (std::uint32_t slot = 0; slot < slot_count; slot++) {
            for (std::uint32_t t = 0; t < tier_count; t++) {
                a[slot][t] = depth_in(after[done][prompt][slot].up_to(t));
            }
        }
        return a;
    }

    std::array<std::array<local_hash, prompt_blocks>, prompt_count> prompts{};
    std::array<std::array<engine_hash, prompt_blocks>, prompt_count> names{};
    std::vector<event> events;
    std::vector<std::array<std::array<held_blocks, slot_count>, prompt_count>> after; // [i]: after i events
    std::vector<std::array<tier_blocks, slot_count>> blocks_after;                    // the same
};

using read_function = std::function<answer(const history&, std::size_t prompt, std::size_t done)>;

struct outcome {
    std::uint64_t reads = 0;
    std::uint64_t outside = 0; ///< depths below the least, or with blocks that were held at no time of the call
};

/// Applies the history in one thread while others read and check. An answer may join what a slot held of one
/// run early in the call with what it held of the next run later, so that no single instant had them both: only
/// a reader that stands still over several events sees that.
outcome run(const history& h, prefix_index& index, const read_function& read) {
    for (std::uint32_t slot = 0; slot < slot_count; slot++) {
        index.open_slot(slot, 0);
    }
    // release/acquire: a reader that sees `done` = i calls after event i was applied; one that sees `begun` = i
    // after its call knows that no event past i had begun.
    std::atomic<std::size_t> begun{0};
    std::atomic<std::size_t> done{0};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> outside{0};
    std::vector<std::thread> readers;
    for (std::uint64_t r = 0; r < 3; r++) {
        readers.emplace_back([&, r] {
            std::mt19937_64 random(r);
            while (done.load(std::memory_order_acquire) < h.events.size()) {
                const std::size_t p = random() % prompt_count;
                const std::size_t first = done.load(std::memory_order_acquire);
                const answer a = read(h, p, first);
                const std::size_t last = begun.load(std::memory_order_acquire);
                for (std::uint32_t slot = 0; slot < slot_count; slot++) {
                    held_blocks ever;
                    for (std::size_t i = first; i <= last; i++) {
                        ever |= h.after[i][p][slot];
                    }
                    for (std::uint32_t t = 0; t < tier_count; t++) {
                        std::uint32_t least = prompt_blocks;
                        for (std::size_t i = first; i <= last; i++) {
                            least = std::min(least, depth_in(h.after[i][p][slot].up_to(t)));
                        }
                        if (a[slot][t] < least || a[slot][t] > depth_in(ever.up_to(t))) {
                            outside.fetch_add(1, std::memory_order_relaxed);
                        }
                    }
                }
                reads.fetch_add(1, std::memory_order_relaxed);
            }
        });
    }
    for (std::size_t i = 0; i < h.events.size(); i++) {
        begun.store(i + 1, std::memory_order_release);
        index.apply({&h.events[i], 1});
        done.store(i + 1, std::memory_order_release);
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    return {reads.load(), outside.load()};
}

answer read_index(const prefix_index& index, const history& h, std::size_t prompt) {
    std::array<hit, slot_count> hits;
    const match_result result = index.match(0, h.prompts[prompt], hits);
    return by_slot(std::span(hits).first(result.hits));
}

TEST(stress, answers_beside_a_writer_lie_between_what_was_before_and_after) {
    const history h(3);
    prefix_index index;
    const outcome o =
        run(h, index, [&](const history& x, std::size_t p, std::size_t) { return read_index(index, x, p); });
    EXPECT_EQ(o.outside, 0u);
    EXPECT_GT(o.reads, 100u);
    EXPECT_EQ(index.first_broken_invariant(), "");
}

TEST(stress, control_an_answer_that_is_some_events_late_is_caught) {
    const history h(4);
    prefix_index index;
    const outcome o = run(h, index, [&](const history& x, std::size_t p, std::size_t done) {
        read_index(index, x, p);
        return x.answer_after(done < 25 ? 0 : done - 25, p);
    });
    EXPECT_GT(o.outside, 0u) << "the bracket check sees nothing";
}

/// Reads the blocks of all slots in one thread while another applies the history; answers how many numbers are
/// below the least, or above the most, of what they were from the begin of the call to its end. An event of
/// this history changes each number one way only.
template <typename F>
outcome run_blocks(const history& h, prefix_index& index, F&& read) {
    for (std::uint32_t slot = 0; slot < slot_count; slot++) {
        index.open_slot(slot, 0);
    }
    std::atomic<std::size_t> begun{0}; // release/acquire, as in run()
    std::atomic<std::size_t> done{0};
    std::thread writer([&] {
        for (std::size_t i = 0; i < h.events.size(); i++) {
            begun.store(i + 1, std::memory_order_release);
            index.apply({&h.events[i], 1});
            done.store(i + 1, std::memory_order_release);
        }
    });
    outcome o;
    std::vector<tier_blocks> blocks(64);
    for (std::size_t first = 0; first < h.events.size(); o.reads++) {
        first = done.load(std::memory_order_acquire);
        read(blocks, first);
        const std::size_t last = begun.load(std::memory_order_acquire);
        for (std::uint32_t slot = 0; slot < slot_count; slot++) {
            for (std::uint32_t t = 0; t < tier_count; t++) {
                const auto [least, most] =
                    std::minmax_element(h.blocks_after.begin() + static_cast<std::ptrdiff_t>(first),
                                        h.blocks_after.begin() + static_cast<std::ptrdiff_t>(last + 1),
                                        [&](const auto& a, const auto& b) { return a[slot][t] < b[slot][t]; });
                const std::uint64_t n = blocks[slot][t];
                o.outside += n < (*least)[slot][t] || n > (*most)[slot][t] ? 1u : 0u;
            }
        }
    }
    writer.join();
    return o;
}

TEST(stress, blocks_of_slots_beside_a_writer_lie_between_what_was_before_and_after) {
    const history h(6);
    prefix_index index;
    const outcome o =
        run_blocks(h, index, [&](std::vector<tier_blocks>& blocks, std::size_t) { index.slot_blocks(blocks); });
    EXPECT_EQ(o.outside, 0u);
    EXPECT_GT(o.reads, 20u);
    EXPECT_EQ(index.first_broken_invariant(), "");
}

TEST(stress, control_blocks_of_slots_that_are_some_events_late_are_caught) {
    const history h(7);
    prefix_index index;
    const outcome o = run_blocks(h, index, [&](std::vector<tier_blocks>& blocks, std::size_t done) {
        const auto& late = h.blocks_after[done < 25 ? 0 : done - 25];
        std::copy(late.begin(), late.end(), blocks.begin());
    });
    EXPECT_GT(o.outside, 0u) << "the bracket check sees nothing";
}

TEST(stress, writers_slots_and_readers_may_meet_in_any_order) {
    const history h(5);
    prefix_index index;
    std::atomic<bool> stop{false};
    std::array<std::atomic<slot_id>, 2 * slot_count> now{}; // latest incarnation of each number
    std::vector<std::thread> threads;
    for (std::uint64_t w = 0; w < 2; w++) {
        threads.emplace_back([&, w] {
            for (std::size_t i = w; i < h.events.size(); i += 2) {
                event e = h.events[i];
                std::visit(
                    [&](auto& kind) { kind.slot = now[number_of(kind.slot)].load(std::memory_order_relaxed); },
                    e);
                index.apply({&e, 1}); // perhaps for an incarnation that is over by now
            }
        });
    }
    threads.emplace_back([&] {
        std::mt19937_64 random(1);
        std::vector<slot_id> open;
        while (!stop.load(std::memory_order_relaxed)) {
            open.push_back(*index.open_slot(static_cast<std::uint32_t>(random() % 3), 0));
            now[number_of(open.back())].store(open.back(), std::memory_order_relaxed);
            if (open.size() > slot_count || random() % 3 == 0) {
                std::swap(open[random() % open.size()], open.back());
                ASSERT_TRUE(index.close_slot(open.back()));
                open.pop_back();
            }
        }
    });
    threads.emplace_back([&] {
        while (!stop.load(std::memory_order_relaxed)) {
            for (std::size_t p = 0; p < prompt_count; p++) {
                std::vector<hit> hits(4 * slot_count);
                const match_result result = index.match(0, h.prompts[p], hits);
                for (std::uint32_t i = 0; i < result.hits; i++) {
                    ASSERT_LE(hits[i].depth[0], hits[i].depth[1]);
                    ASSERT_LE(hits[i].depth[tier_count - 1], prompt_blocks);
                }
            }
        }
    });
    threads[0].join();
    threads[1].join();
    stop.store(true, std::memory_order_relaxed);
    threads[2].join();
    threads[3].join();
    EXPECT_EQ(index.first_broken_invariant(), "");
}

} // namespace
} // namespace kvindex::tests
