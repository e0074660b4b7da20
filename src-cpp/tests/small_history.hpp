/// A short random history for tests that run it many times over, with all prompts that it is about.
#pragma once

#include "base/mix.hpp"
#include "base/types.hpp"

#include <deque>
#include <random>
#include <vector>

namespace kvindex::tests {

/// Tame: a name always means one block (a block may have two), so that events told twice change nothing more.
/// Wild: few names for everything, which move all the time.
class small_history {
public:
    static constexpr std::uint32_t slots = 9; // more than the head of a run has room for
    static constexpr std::uint32_t blocks = 20;

    small_history(std::uint64_t seed, bool wild, std::size_t events) : m_random(seed), m_wild(wild) {
        std::vector<local_hash> trunk;
        for (std::uint32_t i = 0; i < blocks; i++) {
            trunk.push_back(1000 + below(3));
        }
        for (std::uint32_t p = 0; p < 10; p++) {
            std::vector<local_hash> prompt(trunk.begin(), trunk.begin() + below(blocks));
            while (prompt.size() < blocks) {
                prompt.push_back(1000 + below(3));
            }
            m_prompts.push_back(prompt);
        }
        while (m_events.size() < events) {
            add();
        }
    }

    const std::vector<event>& events() const {
        return m_events;
    }

    const std::vector<std::vector<local_hash>>& prompts() const {
        return m_prompts;
    }

    /// Slots hash in three ways; the last one is in another's domain all the same, so that its names are its
    /// own.
    static std::uint32_t domain_of(std::uint32_t slot) {
        return slot == slots - 1 ? 0 : slot % 3 / 2;
    }

private:
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    engine_hash name_of(std::uint32_t slot, const std::vector<local_hash>& prompt, std::uint32_t block) {
        if (m_wild) {
            return 1 + below(60);
        }
        std::uint64_t chain = slot == slots - 1 ? 7 : domain_of(slot);
        for (std::uint32_t i = 0; i <= block; i++) {
            chain = mix(chain ^ prompt[i]);
        }
        return chain ^ (below(24) == 0 ? 1u : 0u); // sometimes by the other of its two names
    }

    void add() {
        const std::uint32_t slot = below(slots);
        const std::vector<local_hash>& prompt = m_prompts[below(static_cast<std::uint32_t>(m_prompts.size()))];
        const tier where{static_cast<std::uint8_t>(below(6) == 0 ? 1 + below(3) : 0)};
        const std::uint32_t what = below(40);
        if (what == 0) {
            m_events.push_back(cleared_event{slot_id{slot}, below(2) == 0 ? all_tiers : mask_of(tier{where})});
            return;
        }
        const std::uint32_t begin = below(3) == 0 ? 0 : below(blocks);
        const std::uint32_t end = begin + 1 + below(blocks - begin);
        std::vector<engine_hash>& names = m_names.emplace_back();
        for (std::uint32_t i = begin; i < end; i++) {
            names.push_back(name_of(slot, prompt, i));
        }
        if (what < 16) {
            if (below(2) == 0) {
                names.assign(names.rbegin(), names.rend());
            }
            m_events.push_back(removed_event{slot_id{slot}, where, names});
            return;
        }
        const engine_hash parent = begin == 0 ? 0 : name_of(slot, prompt, begin - 1);
        m_events.push_back(stored_event{slot_id{slot}, where, begin != 0, parent, names,
                                        std::span(prompt).subspan(begin, end - begin)});
    }

    std::mt19937_64 m_random;
    bool m_wild;
    std::vector<std::vector<local_hash>> m_prompts;
    std::deque<std::vector<engine_hash>> m_names; // what the events point to
    std::vector<event> m_events;
};

} // namespace kvindex::tests
