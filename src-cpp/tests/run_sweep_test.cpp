/// Lists of runs stay short and complete while runs come and go, and no step looks at much.
#include "index/run_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace kvindex::index {
namespace {

/// As holders does it, with a set in the place of the words.
struct list {
    std::vector<std::uint32_t> runs;
    std::set<std::uint32_t> held;

    bool is_complete() const {
        return std::all_of(held.begin(), held.end(), [&](std::uint32_t run) {
            return std::find(runs.begin(), runs.end(), run) != runs.end();
        });
    }
};

class lists {
public:
    void take(std::uint32_t slot, std::uint32_t run) {
        list& l = of(slot);
        if (m_sweep.slot() == run_sweep::nobody && l.runs.size() > 2 * l.held.size() + 64) {
            m_sweep.begin(slot);
            m_sweeps++;
        }
        if (m_sweep.slot() != run_sweep::nobody) {
            list& swept = of(m_sweep.slot());
            std::uint32_t looks = 0;
            m_sweep.step(swept.runs, [&](std::uint32_t r) {
                looks++;
                return swept.held.contains(r);
            });
            EXPECT_LE(looks, run_sweep::per_step);
        }
        if (l.held.insert(run).second) {
            l.runs.push_back(run);
        }
    }

    list& of(std::uint32_t slot) {
        return m_lists[slot];
    }

    void end(std::uint32_t slot) {
        if (m_sweep.slot() == slot) {
            m_sweep.end(of(slot).runs);
        }
    }

    std::uint32_t sweeps() const {
        return m_sweeps;
    }

private:
    std::array<list, 3> m_lists;
    run_sweep m_sweep;
    std::uint32_t m_sweeps = 0;
};

TEST(run_sweep, lists_stay_complete_and_short_while_runs_come_and_go) {
    lists all;
    std::mt19937_64 random(5);
    std::size_t longest = 0;
    for (std::uint32_t i = 0; i < 200'000; i++) {
        const auto slot = static_cast<std::uint32_t>(random() % 3);
        list& l = all.of(slot);
        const auto run = static_cast<std::uint32_t>(random() % 3000);
        if (random() % 2 == 0) {
            l.held.erase(run);
        } else {
            all.take(slot, run);
        }
        longest = std::max(longest, l.runs.size());
        if (random() % 5000 == 0) {
            all.end(slot); // as clearing does it, in the middle
        }
        if (i % 1000 == 0) {
            ASSERT_TRUE(l.is_complete()) << "step " << i;
        }
    }
    EXPECT_GT(all.sweeps(), 10u);
    EXPECT_LT(longest, 3 * 2 * 1500u) << "the lists grow without end";
}

TEST(run_sweep, leaves_each_held_run_once) {
    run_sweep sweep;
    std::vector<std::uint32_t> runs{5, 9, 5, 700, 9, 3, 5, 3, 64, 63, 64, 1};
    sweep.begin(1);
    while (sweep.slot() != run_sweep::nobody) {
        sweep.step(runs, [](std::uint32_t run) { return run != 3; });
    }
    EXPECT_EQ(runs, (std::vector<std::uint32_t>{5, 9, 700, 64, 63, 1}));
}

TEST(run_sweep, ended_early_it_has_lost_nothing) {
    run_sweep sweep;
    std::vector<std::uint32_t> runs{5, 5, 5, 5, 6, 6, 7, 7, 8, 8, 5};
    sweep.begin(1);
    sweep.step(runs, [](std::uint32_t) { return true; });
    runs.push_back(9);
    sweep.end(runs);
    EXPECT_EQ(runs, (std::vector<std::uint32_t>{5, 6, 7, 8, 8, 5, 9}));
    EXPECT_EQ(sweep.slot(), run_sweep::nobody);
}

} // namespace
} // namespace kvindex::index
