/// The block cache tracker: the promises of its rules, the literal form's answers over random histories, and
/// what its eviction must never do.
#include "literal_tracker.hpp"
#include "tracker/backend_blocks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace kvindex::tests {
namespace {

using tracker::block_tracker;
using tracker::hashing;
using tracker::tracker_hit;
using tracker::tracker_options;
using prompt = literal_tracker::prompt;

struct position_case {
    std::uint64_t position;
    prompt tokens;
    std::uint64_t hash;
};
#include "data/tracker_hashes.inc"

constexpr std::uint32_t block = 4;

tracker_options options(hashing how, std::uint64_t max_blocks = 1000) {
    return {.block_size = block, .how = how, .max_blocks = max_blocks};
}

/// One block of a prompt per letter.
prompt blocks_of(const std::string& letters) {
    prompt tokens;
    for (const char c : letters) {
        tokens.insert(tokens.end(), block, static_cast<std::uint32_t>(c));
    }
    return tokens;
}

std::uint32_t count_of(const prompt& tokens) {
    return static_cast<std::uint32_t>(tokens.size() / block);
}

/// The tracker with prompts of letters; back end 1 unless said otherwise.
class lettered {
public:
    explicit lettered(tracker_options o) : impl(o) {
        impl.join(slot_id{1});
    }

    std::uint64_t record(const std::string& letters, std::uint32_t backend = 1) {
        const prompt p = blocks_of(letters);
        return impl.record(slot_id{backend}, p.data(), count_of(p), 0).value();
    }

    std::vector<tracker_hit> find(const std::string& letters) {
        const prompt p = blocks_of(letters);
        std::vector<tracker_hit> hits(64);
        const auto found = impl.find(p.data(), count_of(p), 0, hits);
        EXPECT_TRUE(found.fits);
        hits.resize(found.hits);
        return hits;
    }

    std::uint32_t depth(const std::string& letters) {
        const auto hits = find(letters);
        return hits.empty() ? 0 : hits[0].blocks;
    }

    block_tracker impl;
};

TEST(tracker_hashes, are_those_of_the_vectors) {
    ASSERT_GT(position_cases.size(), 10u);
    for (const position_case& c : position_cases) {
        EXPECT_EQ(tracker::hash_block(c.position, c.tokens, 0), c.hash) << c.position;
    }
}

TEST(tracker_hashes, of_a_prompt_are_those_of_its_blocks_by_position_or_chained) {
    for (const std::uint32_t size : {1u, 16u, 256u, 257u, 1000u}) {
        const std::vector<std::uint32_t> tokens(size * 3, 7);
        std::vector<std::uint64_t> by_position(3);
        std::vector<std::uint64_t> chained(3);
        tracker::hash_prompt(tokens.data(), size, 5, hashing::position, by_position);
        tracker::hash_prompt(tokens.data(), size, 5, hashing::chained, chained);
        std::uint64_t before = 0;
        for (std::uint32_t i = 0; i < 3; i++) {
            EXPECT_EQ(by_position[i], tracker::hash_block(i, {tokens.data(), size}, 5));
            before = tracker::hash_block(before, {tokens.data(), size}, 5);
            EXPECT_EQ(chained[i], before);
        }
    }
}

TEST(block_tracker, finds_the_longest_prefix_of_each_back_end) {
    lettered t(options(hashing::position));
    t.impl.join(slot_id{7});
    EXPECT_EQ(t.record("ab", 1), 2u);
    EXPECT_EQ(t.record("abcd", 7), 4u);
    EXPECT_EQ(t.record("abcd", 7), 0u);
    const auto hits = t.find("abcde");
    ASSERT_EQ(hits.size(), 2u);
    EXPECT_EQ(hits[0].backend, 1u);
    EXPECT_EQ(hits[0].blocks, 2u);
    EXPECT_EQ(hits[1].backend, 7u);
    EXPECT_EQ(hits[1].blocks, 4u);
    EXPECT_TRUE(t.find("xbcd").empty()) << "no back end without block 0 is a candidate";
    EXPECT_TRUE(t.find("").empty());
}

TEST(block_tracker, a_crossed_prompt_matches_by_position_but_not_when_chained) {
    lettered by_position(options(hashing::position));
    by_position.record("abcd");
    by_position.record("wxyz");
    EXPECT_EQ(by_position.depth("axyz"), 4u) << "the known weakness: one block is shared";
    lettered chained(options(hashing::chained));
    chained.record("abcd");
    chained.record("wxyz");
    EXPECT_EQ(chained.depth("axyz"), 1u);
}

TEST(block_tracker, steps_over_a_hole_by_position_but_not_when_chained) {
    lettered by_position(options(hashing::position));
    by_position.record("a");
    by_position.record("vwcdef");
    EXPECT_EQ(by_position.depth("abcdef"), 6u) << "the known weakness: block 1 is not there";
    lettered chained(options(hashing::chained));
    chained.record("a");
    chained.record("vwcdef");
    EXPECT_EQ(chained.depth("abcdef"), 1u);
}

TEST(block_tracker, evicts_the_least_recently_used_and_the_deepest_of_equals) {
    lettered t(options(hashing::position));
    t.record("abcde");
    t.record("xy");
    EXPECT_EQ(t.depth("xy"), 2u);
    EXPECT_EQ(t.impl.evict(slot_id{1}, 5), 2u);
    EXPECT_EQ(t.depth("abcde"), 3u);
    EXPECT_EQ(t.impl.evict(slot_id{1}, 3), 2u) << "looking refreshed abc, so xy is the oldest";
    EXPECT_EQ(t.depth("xy"), 0u);
    EXPECT_EQ(t.depth("abcde"), 3u);
}

TEST(block_tracker, never_holds_more_than_twice_its_limit) {
    lettered t(options(hashing::chained, 4));
    for (char c = 'a'; c <= 'z'; c++) {
        t.record(std::string(1, c) + "123456");
        EXPECT_LE(t.impl.stats().blocks, 8u);
        EXPECT_EQ(t.depth(std::string(1, c) + "123456"), 7u) << "the youngest prompt is whole";
    }
    t.record("a prompt that is longer than that");
    EXPECT_EQ(t.depth("a prompt that is longer than that"), 8u) << "its start is kept";
    EXPECT_EQ(t.impl.evict_all(), 4u);
    EXPECT_EQ(t.impl.stats().blocks, 4u);
    EXPECT_STREQ(t.impl.first_broken_invariant(), "");
}

TEST(block_tracker, an_incarnation_that_left_takes_nothing_and_its_successor_begins_empty) {
    lettered t(options(hashing::position));
    const slot_id later{1 | 1u << slot_number_bits};
    t.record("ab");
    EXPECT_FALSE(t.impl.leave(later));
    EXPECT_TRUE(t.impl.leave(slot_id{1}));
    EXPECT_FALSE(t.impl.leave(slot_id{1}));
    EXPECT_TRUE(t.find("ab").empty());
    const prompt p = blocks_of("ab");
    EXPECT_EQ(t.impl.record(slot_id{1}, p.data(), 2, 0), std::nullopt);
    t.impl.join(later);
    EXPECT_TRUE(t.find("ab").empty());
    EXPECT_EQ(t.impl.record(slot_id{1}, p.data(), 2, 0), std::nullopt) << "the older incarnation is not there";
    EXPECT_EQ(t.impl.record(later, p.data(), 2, 0), 2u);
    t.impl.join(slot_id{1 | 2u << slot_number_bits});
    EXPECT_TRUE(t.find("ab").empty()) << "joining as another incarnation ends the one before";
}

TEST(block_tracker, prompts_of_different_seeds_share_nothing) {
    lettered t(options(hashing::position));
    const prompt p = blocks_of("abc");
    EXPECT_EQ(t.impl.record(slot_id{1}, p.data(), 3, 99), 3u);
    EXPECT_EQ(t.depth("abc"), 0u);
    std::vector<tracker_hit> hits(1);
    EXPECT_EQ(t.impl.find(p.data(), 3, 99, hits).hits, 1u);
}

TEST(block_tracker, too_little_room_changes_nothing) {
    lettered t(options(hashing::position));
    t.impl.join(slot_id{2});
    t.record("abc", 1);
    t.record("abc", 2);
    t.record("x", 1);
    const prompt p = blocks_of("abc");
    std::vector<tracker_hit> one(1, {77, 77});
    EXPECT_FALSE(t.impl.find(p.data(), 3, 0, one).fits);
    EXPECT_EQ(one[0].backend, 77u);
    t.impl.evict(slot_id{1}, 1);
    EXPECT_EQ(t.depth("x"), 1u) << "the refused look-up refreshed abc";
}

/// Prompts that share beginnings and cross: few tokens, few positions.
prompt random_prompt(std::mt19937_64& random, std::uint32_t longest, std::uint32_t letters) {
    std::string text;
    for (std::uint64_t n = random() % (longest + 1); n != 0; n--) {
        text.push_back(static_cast<char>('a' + random() % letters));
    }
    prompt p = blocks_of(text);
    p.insert(p.end(), random() % block, 1); // a part of a block counts for nothing
    return p;
}

class differential : public ::testing::TestWithParam<hashing> {};

TEST_P(differential, answers_what_the_literal_tracker_answers) {
    for (std::uint64_t seed = 1; seed <= 60; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const tracker_options o = options(GetParam(), seed % 3 == 0 ? 12 : 1000);
        block_tracker ours(o);
        literal_tracker literal(o);
        for (std::uint32_t step = 0; step < 400; step++) {
            const auto backend = static_cast<std::uint32_t>(random() % 20);
            const prompt p = random_prompt(random, 9, 3);
            const std::uint64_t hash_seed = random() % 8 == 0 ? 5 : 0;
            switch (random() % 10) {
            case 0:
                ours.join(slot_id{backend});
                literal.join(backend);
                break;
            case 1:
                if (random() % 8 == 0) {
                    ASSERT_EQ(ours.leave(slot_id{backend}), literal.leave(backend));
                }
                break;
            case 2: {
                const std::uint64_t most = random() % 30;
                ASSERT_EQ(ours.evict(slot_id{backend}, most), literal.evict(backend, most));
                break;
            }
            case 3:
            case 4:
            case 5:
            case 6:
                ASSERT_EQ(ours.record(slot_id{backend}, p.data(), count_of(p), hash_seed),
                          literal.record(backend, p, hash_seed));
                break;
            default: {
                std::vector<tracker_hit> hits(20);
                const auto found = ours.find(p.data(), count_of(p), hash_seed, hits);
                const auto expected = literal.find(p, hash_seed);
                ASSERT_EQ(found.hits, expected.size()) << "step " << step;
                for (std::size_t i = 0; i < expected.size(); i++) {
                    ASSERT_EQ(hits[i].backend, expected[i].backend);
                    ASSERT_EQ(hits[i].blocks, expected[i].blocks);
                }
            }
            }
            ASSERT_EQ(ours.stats().blocks, literal.blocks()) << "step " << step;
            ASSERT_EQ(ours.stats().backends, literal.backends());
        }
        ASSERT_STREQ(ours.first_broken_invariant(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(both, differential, ::testing::Values(hashing::position, hashing::chained));

/// Prompts go to a back end, are looked up, and blocks are evicted a few at a time: in every prompt, is there a
/// block behind one that is missing? Answers how often.
template <typename Record, typename Find, typename Evict, typename Holds>
std::uint64_t holes_after_eviction(std::uint64_t seed, const tracker_options& o, Record&& record, Find&& find,
                                   Evict&& evict, Holds&& holds) {
    const literal_tracker hasher(o);
    std::mt19937_64 random(seed);
    std::set<prompt> known;
    std::uint64_t holes = 0;
    std::uint64_t held_somewhere = 0;
    for (std::uint32_t step = 0; step < 300; step++) {
        const prompt p = random_prompt(random, 12, 2);
        known.insert(p);
        switch (random() % 3) {
        case 0:
            record(p);
            break;
        case 1:
            find(p);
            break;
        default:
            evict(random() % 40);
        }
        for (const prompt& each : known) {
            bool missing = false;
            for (const std::uint64_t hash : hasher.hashes(each)) {
                const bool there = holds(hash);
                holes += there && missing ? 1u : 0u;
                missing |= !there;
                held_somewhere += there ? 1u : 0u;
            }
        }
    }
    EXPECT_GT(held_somewhere, 1000u) << "seed " << seed << ": hardly anything was held";
    return holes;
}

std::uint64_t holes_of_the_literal(std::uint64_t seed, eviction order) {
    const tracker_options o = options(hashing::chained);
    literal_tracker t(o, order);
    t.join(1);
    return holes_after_eviction(
        seed, o, [&](const prompt& p) { t.record(1, p); }, [&](const prompt& p) { t.find(p); },
        [&](std::uint64_t most) { t.evict(1, most); }, [&](std::uint64_t hash) { return t.holds(1, hash); });
}

TEST(contiguity, no_eviction_leaves_a_hole_in_a_chain) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const tracker_options o = options(hashing::chained);
        block_tracker t(o);
        t.join(slot_id{1});
        std::vector<tracker_hit> hits(1);
        EXPECT_EQ(holes_after_eviction(
                      seed, o, [&](const prompt& p) { t.record(slot_id{1}, p.data(), count_of(p), 0); },
                      [&](const prompt& p) { t.find(p.data(), count_of(p), 0, hits); },
                      [&](std::uint64_t most) { t.evict(slot_id{1}, most); },
                      [&](std::uint64_t hash) { return t.holds(slot_id{1}, hash); }),
                  0u)
            << "seed " << seed;
    }
}

TEST(contiguity, the_order_by_epoch_alone_leaves_holes) {
    // The control: the same history, the order of the source, which says nothing about equal epochs.
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        EXPECT_GT(holes_of_the_literal(seed, eviction::naive), 0u) << "seed " << seed;
        EXPECT_EQ(holes_of_the_literal(seed, eviction::deepest_first), 0u) << "seed " << seed;
    }
}

TEST(block_tracker, every_call_may_run_beside_every_other) {
    block_tracker t(options(hashing::chained, 200));
    std::atomic<std::uint64_t> found{0};
    const auto work = [&](std::uint64_t seed) {
        std::mt19937_64 random(seed);
        std::vector<tracker_hit> hits(64);
        for (std::uint32_t i = 0; i < 4000; i++) {
            const auto backend = slot_id{static_cast<std::uint32_t>(random() % 40)};
            const prompt p = random_prompt(random, 20, 2);
            switch (random() % 16) {
            case 0:
                t.join(backend);
                break;
            case 1:
                if (random() % 8 == 0) {
                    t.leave(backend);
                }
                break;
            case 2:
                t.evict(backend, 30);
                break;
            case 3:
                t.evict_all();
                t.stats();
                break;
            case 4:
            case 5:
            case 6:
            case 7:
            case 8:
                t.record(backend, p.data(), count_of(p), 0);
                break;
            default:
                found += t.find(p.data(), count_of(p), 0, hits).hits;
            }
        }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 1; seed <= 4; seed++) {
        threads.emplace_back(work, seed);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_GT(found, 1000u);
    EXPECT_STREQ(t.first_broken_invariant(), "");
}

} // namespace
} // namespace kvindex::tests
