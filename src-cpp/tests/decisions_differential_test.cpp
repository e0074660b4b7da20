/// Decisions, events, closes and clears in one index against the literal oracles, over random histories.
///
/// KVI_SEED=n replays one history; KVI_ROUNDS=n runs more of them.
#include "decision_oracle.hpp"
#include "kvindex/prefix_index.hpp"
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

namespace kvindex::tests {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t rounds = 5;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t rounds = 30;
#else
constexpr std::uint64_t rounds = 150;
#endif
constexpr std::uint32_t steps = 300;
constexpr std::uint32_t told_slots = 3; // numbers 0..2: by events
constexpr std::uint32_t all_slots = 9;  // the others: by decisions

class history {
public:
    explicit history(std::uint64_t seed)
        : m_random(seed), m_alphabet(2 + below(3)), m_longest(1 + below(below(4) == 0 ? 150 : 14)),
          m_options(any_options()), m_index(m_options), m_told(m_options.orphan_limit),
          m_decided(m_options.decision_ttl, m_options.decision_capacity) {
        for (std::uint32_t i = 0; i < all_slots; i++) {
            open(i);
        }
    }

    void step() {
        const std::uint32_t kind = below(100);
        if (kind < 60) {
            decide();
        } else if (kind < 64) {
            m_now += below(static_cast<std::uint32_t>(m_options.decision_ttl));
            ASSERT_EQ(m_index.expire(m_now), m_decided.expire(m_now));
        } else if (kind < 80) {
            store();
        } else if (kind < 90) {
            remove();
        } else if (kind < 92) {
            clear();
        } else if (kind < 93) {
            reopen();
        }
        compare(some_prompt());
        compare_sums();
    }

    void check_invariants() {
        ASSERT_EQ(m_index.first_broken_invariant(), "");
    }

    void end() {
        for (const prompt& p : m_prompts) {
            compare(p);
        }
        m_now += m_options.decision_ttl;
        ASSERT_EQ(m_index.expire(m_now), m_decided.expire(m_now));
        compare_sums();
        ASSERT_EQ(m_index.stats().decisions, 0u);
        ASSERT_EQ(m_index.first_broken_invariant(), "");
    }

    /// That histories come to what they are about.
    std::uint64_t ended_by_time() const {
        return m_decided.by_time();
    }

    std::uint64_t ended_by_capacity() const {
        return m_decided.by_capacity();
    }

private:
    using prompt = std::vector<local_hash>;

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    options any_options() {
        const std::uint32_t ghosts = below(3);
        return {.orphan_limit = 1000,
                .max_blocks = 1u << 18,
                .ghost_percent = ghosts == 2 ? 100u : 0u,
                .ghost_floor = ghosts * 20,
                .decision_ttl = 1 + below(300),
                .decision_capacity = below(2) == 0 ? 1 + below(200) : 100'000};
    }

    void open(std::uint32_t number) {
        const auto slot =
            number < told_slots ? m_index.open_slot(below(2)) : m_index.open_approximate_slot(below(2));
        ASSERT_TRUE(slot && number_of(*slot) == number);
        m_handles[number] = *slot;
        if (number < told_slots) {
            ASSERT_EQ(number_of(*m_told.open_slot()), number);
        }
    }

    /// A prompt that shares a start with some before it.
    prompt some_prompt() {
        prompt out;
        if (!m_prompts.empty() && below(8) != 0) {
            out = m_prompts[below(static_cast<std::uint32_t>(m_prompts.size()))];
            out.resize(below(3) == 0 ? out.size() : below(static_cast<std::uint32_t>(out.size()) + 1));
        }
        for (std::uint32_t i = below(3) == 0 ? 0 : 1 + below(m_longest); i != 0; i--) {
            out.push_back(1000 + below(m_alphabet));
        }
        out.resize(std::min<std::size_t>(out.size(), 400));
        if (m_prompts.size() < 60) {
            m_prompts.push_back(out);
        } else {
            m_prompts[below(60)] = out;
        }
        return out;
    }

    void decide() {
        const std::uint32_t slot = told_slots + below(all_slots - told_slots);
        m_now += below(3) == 0 ? below(20) : 0;
        const std::uint64_t now = below(30) == 0 && m_now > 5 ? m_now - 5 : m_now;
        const prompt p = some_prompt();
        const auto fresh = m_index.decide(m_handles[slot], p, now);
        ASSERT_TRUE(fresh.has_value());
        ASSERT_EQ(*fresh, m_decided.decide(slot, p, now));
        compare(p);
    }

    engine_hash name_for(std::uint32_t slot, std::uint32_t chain) {
        return below(24) == 0 ? below(40) : std::uint64_t{chain} * 4 + slot / 2 + 1000;
    }

    void store() {
        const std::uint32_t slot = below(told_slots + 1); // sometimes one that takes none
        const prompt p = some_prompt();
        if (p.empty()) {
            return;
        }
        const std::size_t from = below(2) == 0 ? 0 : below(static_cast<std::uint32_t>(p.size()));
        std::uint32_t chain = 0;
        std::vector<engine_hash> names;
        engine_hash parent = 0;
        for (std::size_t i = 0; i < p.size(); i++) {
            chain = m_chains.longer(chain, p[i]);
            const engine_hash name = name_for(slot, chain);
            parent = i < from ? name : parent;
            if (i >= from) {
                names.push_back(name);
            }
        }
        m_names.insert(m_names.end(), names.begin(), names.end());
        apply(stored_event{slot_id{slot}, any_tier(), from != 0, parent, names, std::span(p).subspan(from)});
        compare(p);
    }

    void remove() {
        if (m_names.empty()) {
            return;
        }
        std::vector<engine_hash> gone;
        for (std::uint32_t i = 1 + below(8); i != 0; i--) {
            gone.push_back(m_names[below(static_cast<std::uint32_t>(m_names.size()))]);
        }
        apply(removed_event{slot_id{below(told_slots + 1)}, any_tier(), gone});
    }

    void clear() {
        apply(cleared_event{slot_id{below(all_slots)}, below(2) == 0 ? all_tiers : mask_of(any_tier())});
    }

    void reopen() {
        const std::uint32_t slot = below(all_slots);
        ASSERT_TRUE(m_index.close_slot(m_handles[slot]));
        if (slot < told_slots) {
            ASSERT_TRUE(m_told.close_slot(slot_id{slot}));
        } else {
            m_decided.clear(slot);
        }
        open(slot);
    }

    tier any_tier() {
        return below(3) != 0 ? tier::gpu : tier{static_cast<std::uint8_t>(below(tier_count))};
    }

    void apply(const event& e) {
        const std::uint32_t slot = number_of(slot_of(e));
        event mine = e;
        std::visit([&](auto& kind) { kind.slot = m_handles[slot]; }, mine);
        const applied_counts counts = m_index.apply({&mine, 1});
        applied_counts expected;
        if (slot < told_slots) {
            expected = m_told.apply(e);
        } else if (const auto* cleared = std::get_if<cleared_event>(&e)) {
            expected.applied = 1;
            if ((cleared->tiers & mask_of(tier::gpu)) != 0) {
                m_decided.clear(slot);
            }
        } else {
            expected.ignored = 1;
        }
        ASSERT_EQ(counts.applied, expected.applied);
        ASSERT_EQ(counts.orphans, expected.orphans);
        ASSERT_EQ(counts.unknown_removed, expected.unknown_removed);
        ASSERT_EQ(counts.ignored, expected.ignored);
    }

    void compare(const prompt& p) {
        std::vector<hit> expected = m_told.match(p);
        for (std::uint32_t slot = told_slots; slot < all_slots; slot++) {
            if (const std::uint32_t d = m_decided.depth(slot, p); d != 0) {
                expected.push_back({slot, {d, d, d, d}});
            }
        }
        std::vector<hit> hits(all_slots);
        const match_result r = m_index.match(0, p, hits);
        ASSERT_EQ(r.hits, expected.size());
        for (std::size_t i = 0; i < expected.size(); i++) {
            ASSERT_EQ(hits[i].slot, expected[i].slot);
            ASSERT_EQ(hits[i].depth, expected[i].depth) << "slot " << hits[i].slot;
        }
    }

    void compare_sums() {
        const statistics s = m_index.stats();
        const statistics told = m_told.stats();
        ASSERT_EQ(s.residencies, told.residencies + m_decided.pairs());
        ASSERT_EQ(s.orphans, told.orphans);
        ASSERT_EQ(s.moves, told.moves);
        ASSERT_EQ(s.decisions, m_decided.alive());
        ASSERT_EQ(s.decisions_ended_by_time, m_decided.by_time());
        ASSERT_EQ(s.decisions_ended_by_capacity, m_decided.by_capacity());
        ASSERT_EQ(s.refused, m_decided.refused());
        std::array<tier_blocks, 64> blocks;
        ASSERT_EQ(m_index.slot_blocks(blocks), blocks.size());
        for (std::uint32_t slot = 0; slot < all_slots; slot++) {
            ASSERT_EQ(blocks[slot], slot < told_slots ? m_told.blocks_of(slot)
                                                      : (tier_blocks{m_decided.pairs_of(slot), 0, 0, 0}))
                << "slot " << slot;
        }
    }

    std::mt19937_64 m_random;
    std::uint32_t m_alphabet;
    std::uint32_t m_longest;
    options m_options;
    prefix_index m_index;
    oracle m_told;
    decision_oracle m_decided;
    chains m_chains;
    std::vector<prompt> m_prompts;
    std::vector<engine_hash> m_names;
    std::array<slot_id, all_slots> m_handles{};
    std::uint64_t m_now = 0;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(decisions_differential, every_history_gives_the_answers_of_the_literal_decisions) {
    const bool one = std::getenv("KVI_SEED") != nullptr;
    const std::uint64_t first = number_from("KVI_SEED", 1);
    const std::uint64_t count = one ? 1 : number_from("KVI_ROUNDS", rounds);
    std::uint64_t by_time = 0;
    std::uint64_t by_capacity = 0;
    for (std::uint64_t seed = first; seed < first + count; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed) + "; replay with KVI_SEED=" + std::to_string(seed));
        history h(seed);
        for (std::uint32_t i = 1; i <= steps && !HasFatalFailure(); i++) {
            h.step();
            if (i % 10 == 0) {
                h.check_invariants();
            }
        }
        if (!HasFatalFailure()) {
            h.end();
        }
        if (HasFatalFailure()) {
            return;
        }
        by_time += h.ended_by_time();
        by_capacity += h.ended_by_capacity();
    }
    EXPECT_TRUE(one || (by_time > 100 && by_capacity > 100)) << "the histories are about nothing";
}

} // namespace
} // namespace kvindex::tests
