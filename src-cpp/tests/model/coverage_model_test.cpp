/// How deep a holder holds a run, in two words: `bit` (all of it) and `entry` (so many blocks). A look-up
/// beside the writer must give a depth that was true at some instant between its begin and its end.
///
/// A change to "all" sets the bit and leaves the entry as it is. A change from "all" puts the new depth into
/// the entry and then clears the bit. So the entry may hold a depth that is no longer true, or one that is not
/// true yet, while the bit is set.
///
/// Each model runs twice: with stale loads, where "between" means by happens-before, and without, where it
/// means in the order of execution.
#include "checker.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kvindex::model {
namespace {

constexpr int whole = 8;

enum class look { once, twice };
enum class clear { entry_first, bit_first };

struct protocol {
    look reader = look::twice;
    clear writer = clear::entry_first;
    std::memory_order store = std::memory_order_release;
    std::memory_order load = std::memory_order_acquire;
};

template <int First>
struct shared {
    atomic<int> bit{First == whole ? 1 : 0};
    atomic<int> entry{First == whole ? 0 : First};
    timeline<int> truth{First};

    void change(int from, int to, const protocol& p) {
        if (to == whole) {
            bit.store(1, p.store);
        } else if (from != whole) {
            entry.store(to, p.store);
        } else if (p.writer == clear::entry_first) {
            entry.store(to, p.store);
            bit.store(0, p.store);
        } else {
            bit.store(0, p.store);
            truth.change(to);
            entry.store(to, p.store);
            return;
        }
        truth.change(to);
    }

    int depth(const protocol& p) {
        const int before = bit.load(p.load) != 0 ? whole : 0;
        if (p.reader == look::once) {
            return std::max(before, entry.load(p.load));
        }
        if (before == whole) {
            return whole;
        }
        const int partial = entry.load(p.load);
        // What the entry held may have been waiting for the bit to go. If the bit is clear now, it went.
        return bit.load(p.load) != 0 ? whole : partial;
    }

    void read(const protocol& p) {
        const std::size_t begun = truth.begin();
        const int answer = depth(p);
        require(truth.held(answer, begun), "a depth that was never true meanwhile");
    }
};

/// The writer goes through these depths, the first of which is there from the begin, while the reader looks so
/// many times.
template <typename State>
outcome transitions_of(const protocol& p, const std::vector<int>& depths, bool stale_reads, int looks) {
    options limits;
    limits.reduce = false;
    limits.stale_reads = stale_reads;
    return explore<State>(limits, {[&](State& s) {
                                       for (int i = 0; i < looks; i++) {
                                           s.read(p);
                                       }
                                   },
                                   [&](State& s) {
                                       for (std::size_t i = 1; i < depths.size(); i++) {
                                           s.change(depths[i - 1], depths[i], p);
                                       }
                                   }});
}

outcome transitions(const protocol& p, const std::vector<int>& depths, bool stale_reads, int looks = 1) {
    return depths.front() == whole ? transitions_of<shared<whole>>(p, depths, stale_reads, looks)
                                   : transitions_of<shared<0>>(p, depths, stale_reads, looks);
}

/// All ways of so many changes between these depths, beginning at "none" or at "all".
void all_ways(std::size_t changes, std::vector<int>& way, std::vector<std::vector<int>>& ways) {
    if (way.size() == changes + 1) {
        ways.push_back(way);
        return;
    }
    for (const int to : {0, 3, 5, whole}) {
        if (way.empty() ? to == 0 || to == whole : to != way.back()) {
            way.push_back(to);
            all_ways(changes, way, ways);
            way.pop_back();
        }
    }
}

std::string text(const std::vector<int>& way) {
    std::string t;
    for (const int depth : way) {
        t += (t.empty() ? "" : " -> ") + std::to_string(depth);
    }
    return t;
}

/// The ways on which the protocol gives a wrong depth.
std::vector<std::vector<int>> wrong_ways(const protocol& p, std::size_t changes, bool stale_reads,
                                         int looks = 1) {
    std::vector<std::vector<int>> ways;
    std::vector<int> way;
    all_ways(changes, way, ways);
    std::vector<std::vector<int>> wrong;
    outcome sum;
    for (const std::vector<int>& w : ways) {
        const outcome o = transitions(p, w, stale_reads, looks);
        sum.executions += o.executions;
        EXPECT_TRUE(o.complete || !o.failure.empty()) << text(w);
        if (!o.failure.empty()) {
            wrong.push_back(w);
            sum.schedule = text(w) + '\n' + o.schedule;
        }
    }
    print(sum);
    if (!wrong.empty()) {
        std::printf("             wrong on %zu of %zu ways, the last: %s\n", wrong.size(), ways.size(),
                    sum.schedule.c_str());
    }
    return wrong;
}

TEST(model_coverage, two_looks_at_the_bit_give_a_depth_that_was_true) {
    EXPECT_TRUE(wrong_ways({}, 4, false).empty());
    EXPECT_TRUE(wrong_ways({}, 4, true).empty());
}

TEST(model_coverage, a_later_look_knows_what_an_earlier_one_saw) {
    EXPECT_TRUE(wrong_ways({}, 3, false, 2).empty());
    EXPECT_TRUE(wrong_ways({}, 3, true, 2).empty());
}

TEST(model_coverage, one_look_is_enough_until_the_bit_is_set_again) {
    protocol once;
    once.reader = look::once;
    for (const bool stale : {false, true}) {
        expect_holds(transitions(once, {whole, 3, whole}, stale, 2));
        expect_holds(transitions(once, {whole, 3, 0}, stale, 2));
    }
}

TEST(model_coverage_control, one_look_gives_a_depth_that_is_not_true_yet) {
    protocol once;
    once.reader = look::once;
    for (const bool stale : {false, true}) {
        // The reader finds the bit clear. Then the bit is set and the entry already holds what comes next.
        expect_caught(transitions(once, {whole, 3, whole, 0}, stale), "never true");
        expect_caught(transitions(once, {0, whole, 3}, stale), "never true");
        EXPECT_FALSE(wrong_ways(once, 3, stale).empty());
    }
}

TEST(model_coverage_control, the_bit_cleared_first_shows_an_old_entry) {
    protocol p;
    p.writer = clear::bit_first;
    for (const bool stale : {false, true}) {
        expect_caught(transitions(p, {whole, 3}, stale), "never true");
        p.reader = look::once;
        expect_caught(transitions(p, {whole, 3}, stale), "never true");
        p.reader = look::twice;
    }
}

TEST(model_coverage_control, relaxed_stores_or_loads_show_an_old_entry) {
    protocol p;
    p.store = std::memory_order_relaxed;
    expect_caught(transitions(p, {whole, 3}, true), "never true");
    p = {};
    p.load = std::memory_order_relaxed;
    expect_caught(transitions(p, {whole, 3}, true), "never true");
}

} // namespace
} // namespace kvindex::model
