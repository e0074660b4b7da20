/// Who holds what of two runs, as the writer knows it and as look-ups see it, against plain arrays.
#include "index/walk.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kvindex::index {
namespace {

constexpr std::uint32_t most_slots = 150;
constexpr std::uint32_t stride = 192;
constexpr std::uint32_t length = 60;
constexpr std::uint32_t runs = 2; // the second one goes on behind the first
using literal = std::array<std::array<tier_mask, length>, most_slots>;

std::uint32_t end_in(const std::array<tier_mask, length>& tiers, std::uint32_t t) {
    std::uint32_t end = 0;
    while (end < length && (tiers[end] & mask_up_to(t)) != 0) {
        end++;
    }
    return end;
}

/// What an engine may do to a run, with few different ends so that many slots share one.
struct step {
    std::uint32_t run = 0;
    std::uint32_t slot = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    tier where = tier::gpu;
    bool add = false;
};

class fixture {
public:
    fixture(std::uint32_t slots, std::uint64_t seed, bool tiers)
        : m_slots(slots), m_tiers(tiers), m_random(seed), m_memory({.max_blocks = 1u << 16}),
          m_holders(m_memory), m_view(m_memory, m_holders) {
        for (std::uint32_t i = 0; i < runs * length; i++) {
            m_prompt.push_back(100 + i);
        }
        for (std::uint32_t r = 0; r < runs; r++) {
            make_run(r);
        }
        for (std::uint32_t slot = 0; slot < slots; slot++) {
            m_holders.expect_slot(slot);
            m_view.show(slot);
            m_shown[slot] = true;
        }
    }

    void change() {
        const step s = next();
        std::uint32_t touched = 0;
        std::int32_t held = 0;
        for (std::uint32_t i = s.begin; i < s.end; i++) {
            tier_mask& mask = m_expected[s.run][s.slot][i];
            const tier_mask before = mask;
            mask = static_cast<tier_mask>(s.add ? before | mask_of(s.where) : before & ~mask_of(s.where));
            touched += mask != before ? 1u : 0u;
            held += (mask != 0 ? 1 : 0) - (before != 0 ? 1 : 0);
            for (std::uint32_t t = 0; t < tier_count; t++) {
                m_blocks[s.slot][t] += std::uint64_t{count_in(mask, t)} - count_in(before, t);
            }
        }
        const residency_change done = m_holders.change(s.run + 1, s.slot, s.begin, s.end, s.where, s.add);
        ASSERT_EQ(done.touched, touched);
        ASSERT_EQ(done.held, held);
        m_held = static_cast<std::uint64_t>(static_cast<std::int64_t>(m_held) + held);
        ASSERT_EQ(m_holders.residencies(), m_held);
        for (std::uint32_t t = 0; t < tier_count; t++) {
            ASSERT_EQ(m_view.blocks_in(s.slot, t), m_blocks[s.slot][t]) << "slot " << s.slot << " tier " << t;
        }
        const bool table = m_memory.heads[s.run + 1].cover.load() != 0;
        m_conversions += table != m_table[s.run] ? 1u : 0u;
        m_table[s.run] = table;
        m_memory.reclaim.collect([](std::uint32_t) {});
    }

    void hide_or_show() {
        const auto slot = below(m_slots);
        m_shown[slot] = !m_shown[slot];
        m_shown[slot] ? m_view.show(slot) : m_view.hide(slot);
    }

    void expect_writers_view() const {
        for (std::uint32_t r = 0; r < runs; r++) {
            expect_run(r);
        }
    }

    void expect_look_up(std::uint32_t count) const {
        std::array<std::uint32_t, stride * tier_count> depth;
        depth.fill(77);
        m_view.walk(3, m_prompt.data(), count, {depth.data(), stride, stride, tier_count});
        std::array<std::uint32_t, stride> gpu{};
        m_view.walk(3, m_prompt.data(), count, {gpu.data(), stride, stride, 1});
        for (std::uint32_t slot = 0; slot < m_slots; slot++) {
            for (std::uint32_t t = 0; t < tier_count; t++) {
                std::uint32_t expected = end_in(m_expected[0][slot], t);
                expected += expected == length ? end_in(m_expected[1][slot], t) : 0;
                expected = m_shown[slot] ? std::min(expected, count) : 0;
                ASSERT_EQ(depth[t * stride + slot], expected)
                    << "slot " << slot << " tier " << t << " of " << count;
            }
            ASSERT_EQ(gpu[slot], depth[slot]);
        }
    }

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    /// How often words in the head became a table, or the other way.
    std::uint64_t conversions() const {
        return m_conversions;
    }

private:
    /// As content does it: the words, then the head, then the entry among the children.
    void make_run(std::uint32_t r) {
        const std::uint32_t run = r + 1;
        const place parent = r == 0 ? place{storage::root_run, 3} : place{run - 1, length - 1};
        storage::run_head& h = m_memory.heads[run];
        h.content = m_memory.content.take((length + 7) / 8);
        std::copy_n(m_prompt.begin() + r * length, length, m_memory.content.words(h.content));
        h.first = m_prompt[r * length];
        h.parent = parent.run;
        h.parent_at = static_cast<std::uint16_t>(parent.offset);
        h.len = length;
        m_memory.colds[run].live = true;
        m_memory.children.insert(parent, h.first, run);
    }

    step next() {
        step s{.run = below(runs), .slot = below(m_slots)};
        const bool growing = m_step++ / std::min(20 * m_slots, 3000u) % 2 == 0;
        s.add = below(16) < (growing ? 13u : 0u);
        if (!growing && below(2) == 0) { // slot after slot gives all up
            const std::uint32_t n = m_ebb++;
            s = {.run = n / tier_count % runs, .slot = n / (tier_count * runs) % m_slots, .end = length};
            s.where = tier{static_cast<std::uint8_t>(n % tier_count)};
            return s;
        }
        s.where = m_tiers && below(6) == 0 ? tier{static_cast<std::uint8_t>(below(tier_count))} : tier::gpu;
        switch (below(8)) {
        case 0: // anything
            s.begin = below(length);
            s.end = s.begin + 1 + below(length - s.begin);
            break;
        case 1: // everything
            s.end = length;
            break;
        default: // a common end
            s.end = 15 * (1 + below(4));
            s.begin = s.add ? 0 : s.end - 15;
            s.end = s.add ? s.end : length;
        }
        return s;
    }

    void expect_run(std::uint32_t r) const {
        const std::uint32_t run = r + 1;
        std::array<bool, most_slots> seen{};
        m_holders.for_each(run, [&](std::uint32_t slot, std::uint64_t word) {
            ASSERT_LT(slot, m_slots);
            ASSERT_FALSE(seen[slot]) << "slot " << slot << " comes twice";
            seen[slot] = true;
            ASSERT_EQ(word, m_holders.word_of(run, slot));
        });
        std::array<bool, length> anyone{};
        std::uint32_t holders = 0;
        std::uint32_t held_end = 0;
        for (std::uint32_t slot = 0; slot < m_slots; slot++) {
            const auto& tiers = m_expected[r][slot];
            bool any = false;
            for (std::uint32_t i = 0; i < length; i++) {
                ASSERT_EQ(m_holders.tiers_at(run, slot, i), tiers[i]) << "slot " << slot << " block " << i;
                any = any || tiers[i] != 0;
                anyone[i] = anyone[i] || tiers[i] != 0;
                held_end = tiers[i] != 0 ? std::max(held_end, i + 1) : held_end;
            }
            holders += any ? 1 : 0;
            const std::uint64_t word = m_holders.word_of(run, slot);
            ASSERT_EQ(word != storage::holder::none, any) << "slot " << slot;
            ASSERT_EQ(seen[slot], any) << "slot " << slot;
            for (std::uint32_t t = 0; any && t < tier_count; t++) {
                ASSERT_EQ(storage::holder::end(word, t), end_in(tiers, t)) << "slot " << slot << " tier " << t;
            }
            ASSERT_EQ(!any || storage::holder::complex(word),
                      !is_simple(m_holders.residency_of(run, slot)) || !any);
        }
        for (std::uint32_t i = 0; i < length; i++) {
            ASSERT_EQ(m_holders.anyone_at(run, i), anyone[i]) << "block " << i;
        }
        ASSERT_EQ(m_memory.colds[run].holder_count, holders);
        ASSERT_EQ(m_memory.colds[run].held_end, held_end);
    }

    std::uint32_t m_slots;
    bool m_tiers;
    std::mt19937_64 m_random;
    memory m_memory;
    holders m_holders;
    reader_view m_view;
    std::vector<local_hash> m_prompt;
    std::array<literal, runs> m_expected{};
    std::array<bool, most_slots> m_shown{};
    std::array<tier_blocks, most_slots> m_blocks{};
    std::uint64_t m_held = 0;
    std::uint32_t m_step = 0;
    std::uint32_t m_ebb = 0;
    std::array<bool, runs> m_table{};
    std::uint64_t m_conversions = 0;
};

class holders_of : public testing::TestWithParam<std::uint32_t> {};

TEST_P(holders_of, any_changes_give_what_plain_arrays_give) {
    const std::uint32_t slots = GetParam();
    for (const bool tiers : {false, true}) {
        fixture f(slots, 17 + slots, tiers);
        for (std::uint32_t i = 0; i < 12'000; i++) {
            SCOPED_TRACE(i);
            f.change();
            if (i % 97 == 0) {
                f.hide_or_show();
            }
            if (i % 61 == 0 || i < 200) {
                f.expect_writers_view();
            }
            if (i % 7 == 0) {
                f.expect_look_up(1 + f.below(runs * length));
            }
            if (HasFatalFailure()) {
                return;
            }
        }
        if (slots <= storage::inline_holders) {
            EXPECT_EQ(f.conversions(), 0u);
        } else {
            EXPECT_GT(f.conversions(), 3u) << "holders were to become many, few, and many again";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(fleets, holders_of, testing::Values(1u, 3u, 5u, 8u, 20u, 64u, 70u, 150u),
                         testing::PrintToStringParamName());

} // namespace
} // namespace kvindex::index
