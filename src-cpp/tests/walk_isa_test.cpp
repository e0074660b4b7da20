/// Every instruction set that this machine has gives the answers of the scalar walk.
#include "index/core.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kvindex::tests {
namespace {

using index::isa;

constexpr std::uint32_t slots = 150; // more than two words of slots, the last one not full
constexpr std::uint32_t stride = 192;

/// Random prompts off one trunk, held by random slots up to random depths, in random tiers.
class fleet_of_tiers {
public:
    fleet_of_tiers(std::uint64_t seed, isa set)
        : m_random(seed), m_core({.max_blocks = 1u << 18}, 1000), m_usable(m_core.use(set)) {
        for (std::uint32_t s = 0; s < slots; s++) {
            m_core.open_slot(s, 0, 0);
        }
        std::vector<local_hash> trunk(200);
        for (local_hash& l : trunk) {
            l = m_random();
        }
        for (std::uint32_t p = 0; p < 12; p++) {
            std::vector<local_hash> prompt(trunk.begin(), trunk.begin() + below(200));
            while (prompt.size() < 230) {
                prompt.push_back(m_random());
            }
            std::vector<engine_hash> names(prompt.size());
            engine_hash name = 0;
            for (std::size_t i = 0; i < prompt.size(); i++) {
                names[i] = name = mix(name ^ prompt[i]);
            }
            const std::uint32_t usual = 1 + below(230);
            for (std::uint32_t s = 0; s < slots; s++) {
                if (below(3) == 0) {
                    continue;
                }
                const std::uint32_t depth = below(2) == 0 ? usual : 1 + below(230);
                const tier where{static_cast<std::uint8_t>(below(10) == 0 ? below(4) : 0)};
                apply(stored_event{slot_id{s}, where, false, 0, std::span(names).first(depth),
                                   std::span(prompt).first(depth)});
                if (below(8) == 0) {
                    apply(removed_event{slot_id{s}, where, std::span(names).subspan(below(depth), 1)});
                }
            }
            m_prompts.push_back(prompt);
        }
    }

    bool usable() const {
        return m_usable;
    }

    /// Rows of all prompts, whole and cut at random places; asked one by one, and several at once with budgets.
    std::vector<std::uint32_t> answers() {
        std::vector<std::uint32_t> all;
        for (const std::uint32_t tiers : {1u, tier_count}) {
            const std::vector<std::uint32_t> more = answers_at_once(tiers);
            all.insert(all.end(), more.begin(), more.end());
        }
        for (const auto& prompt : m_prompts) {
            for (const std::uint32_t count : {230u, below(230), below(40)}) {
                std::vector<std::uint32_t> rows(stride * tier_count, 77);
                const sync::epoch_domain<>::pin pin(m_core.view().epochs());
                for (const std::uint32_t tiers : {1u, tier_count}) {
                    all.push_back(
                        m_core.view().walk(0, prompt.data(), count, {rows.data(), stride, stride, tiers}));
                    all.insert(all.end(), rows.begin(), rows.end());
                }
            }
        }
        return all;
    }

private:
    /// More look-ups than are in flight at a time; each must be what it is alone.
    std::vector<std::uint32_t> answers_at_once(std::uint32_t tiers) {
        constexpr std::uint32_t each = stride * tier_count;
        std::vector<index::look_up> asked;
        std::vector<std::uint32_t> rows(m_prompts.size() * 3 * each, 77);
        for (const auto& prompt : m_prompts) {
            for (const std::uint32_t budget : {~0u, 1 + below(30), 1 + below(300)}) {
                asked.push_back({.count = below(3) == 0 ? below(230) : 230,
                                 .locals = prompt.data(),
                                 .out = {rows.data() + asked.size() * each, stride, stride, tiers},
                                 .budget = budget});
            }
        }
        const sync::epoch_domain<>::pin pin(m_core.view().epochs());
        m_core.view().walk(asked);
        std::vector<std::uint32_t> others;
        for (const index::look_up& l : asked) {
            std::vector<std::uint32_t> alone(each, 77);
            index::look_up again = l;
            again.out.depth = alone.data();
            m_core.view().walk(again);
            EXPECT_EQ(again.walked, l.walked);
            EXPECT_EQ(again.steps, l.steps);
            EXPECT_EQ(again.cut_short, l.cut_short);
            EXPECT_TRUE(std::equal(alone.begin(), alone.end(), l.out.depth));
            others.insert(others.end(), {l.walked, l.steps, l.cut_short ? 1u : 0u});
        }
        rows.insert(rows.end(), others.begin(), others.end());
        return rows;
    }

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    void apply(const event& e) {
        applied_counts counts;
        m_core.apply({&e, 1}, counts);
        ASSERT_EQ(counts.applied, 1u);
    }

    std::mt19937_64 m_random;
    index::core m_core;
    bool m_usable;
    std::vector<std::vector<local_hash>> m_prompts;
};

TEST(walk, every_instruction_set_gives_the_same_answers) {
    std::uint32_t compared = 0;
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        const std::vector<std::uint32_t> expected = fleet_of_tiers(seed, isa::scalar).answers();
        std::uint64_t depths = 0;
        for (const std::uint32_t d : expected) {
            depths += d;
        }
        ASSERT_GT(depths, 100'000u) << "this fleet holds hardly anything";
        for (const isa set : {isa::neon, isa::avx2, isa::avx512}) {
            fleet_of_tiers fleet(seed, set);
            if (fleet.usable()) {
                EXPECT_EQ(fleet.answers(), expected) << "seed " << seed << ", set " << static_cast<int>(set);
                compared++;
            }
        }
    }
    EXPECT_GT(compared, 0u) << "this machine has no vector instructions that the walk knows: nothing compared";
}

TEST(walk, writes_no_column_beyond_those_it_was_given) {
    // As when slots were opened after the caller asked how many there are.
    index::core c({.max_blocks = 1u << 16}, 10);
    const std::vector<local_hash> prompt{1, 2, 3};
    for (std::uint32_t s = 0; s < 100; s++) {
        c.open_slot(s, 0, 0);
        const event e = stored_event{slot_id{s}, tier::gpu, false, 0, prompt, prompt};
        applied_counts counts;
        c.apply({&e, 1}, counts);
    }
    std::vector<std::uint32_t> row(128, 77);
    const sync::epoch_domain<>::pin pin(c.view().epochs());
    c.view().walk(0, prompt.data(), 3, {row.data(), 128, 64, 1});
    EXPECT_EQ(row[63], 3u);
    for (std::uint32_t i = 64; i < 128; i++) {
        EXPECT_EQ(row[i], 77u) << "column " << i;
    }
}

TEST(walk, an_unknown_set_is_refused) {
    index::core c({.max_blocks = 1u << 16}, 10);
#if defined(__x86_64__)
    EXPECT_FALSE(c.use(isa::neon));
#else
    EXPECT_FALSE(c.use(isa::avx2));
#endif
}

} // namespace
} // namespace kvindex::tests
