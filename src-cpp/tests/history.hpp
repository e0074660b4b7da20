/// A random history of events made beforehand, with what each slot holds after each of them.
#pragma once

#include "base/types.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace kvindex::tests {

inline constexpr std::uint32_t slots = 6;
inline constexpr std::uint32_t prompts = 1500;
inline constexpr std::uint32_t prompt_blocks = 24;
inline constexpr std::uint32_t events_at_first = 2500;
inline constexpr std::uint32_t all_events = 60'000;

/// One event in words of its own, so that it can be applied to several indexes.
struct told {
    std::uint32_t slot = 0;
    bool stored = false;
    bool has_parent = false;
    bool closes = false; ///< the slot is closed and opened again
    engine_hash parent = 0;
    std::vector<engine_hash> names;
    std::vector<local_hash> locals;
};

/// A history made beforehand, and who holds which names after each event.
///
/// Tame: a name always means one block. Wild: few names for everything, so that they move all the time.
class history {
public:
    history(std::uint64_t seed, bool wild) : m_random(seed), m_wild(wild), m_held(slots) {
        while (m_events.size() < all_events) {
            m_events.push_back(next());
            note(m_events.back());
        }
    }

    const std::vector<told>& events() const {
        return m_events;
    }

    /// Whether the slot held the name at some time, and whether it did not, after `from` and up to `to` events.
    std::pair<bool, bool> between(std::uint32_t slot, engine_hash name, std::size_t from,
                                  std::size_t to) const {
        bool held = false;
        bool free = false;
        const auto found = m_changes.find({slot, name});
        bool now = false;
        if (found != m_changes.end()) {
            for (const auto& [after, state] : found->second) {
                if (after > from) {
                    (now ? held : free) = true; // as it was before this change
                }
                if (after > to) {
                    return {held, free};
                }
                now = state;
            }
        }
        (now ? held : free) = true;
        return {held, free};
    }

    const std::map<std::pair<std::uint32_t, engine_hash>, std::vector<std::pair<std::size_t, bool>>>&
    names() const {
        return m_changes;
    }

    std::size_t incarnation(std::uint32_t slot, std::size_t after) const {
        return static_cast<std::size_t>(
            std::count_if(m_events.begin(), m_events.begin() + static_cast<long>(after),
                          [&](const told& e) { return e.closes && e.slot == slot; }));
    }

    static local_hash local(std::uint32_t prompt, std::uint32_t block) {
        // Pairs of prompts share their first blocks.
        return block < prompt_blocks / 2 ? (prompt / 2) * 1000 + block : (prompt + 5000) * 1000 + block;
    }

    static engine_hash tame_name(std::uint32_t prompt, std::uint32_t block) {
        return local(prompt, block) + 7;
    }

private:
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    engine_hash name(std::uint32_t prompt, std::uint32_t block) {
        return m_wild ? below(3000) + 1 : tame_name(prompt, block);
    }

    told next() {
        told e;
        e.slot = below(slots);
        std::set<engine_hash>& held = m_held[e.slot];
        const std::uint32_t kind = m_events.size() < events_at_first ? 0 : below(1000);
        if (m_wild && kind == 999) { // tame ones can always catch up
            e.closes = true;
            return e;
        }
        const std::uint32_t prompt = below(prompts);
        if (kind < 500) {
            e.stored = true;
            const std::uint32_t n = 1 + below(prompt_blocks);
            for (std::uint32_t i = 0; i < n; i++) {
                e.names.push_back(name(prompt, i));
                e.locals.push_back(local(prompt, i));
            }
            // The rest of a prompt behind a block that the slot holds.
            const std::uint32_t cut = below(n);
            if (!m_wild && cut != 0 && held.contains(e.names[cut - 1])) {
                e.has_parent = true;
                e.parent = e.names[cut - 1];
                e.names.erase(e.names.begin(), e.names.begin() + cut);
                e.locals.erase(e.locals.begin(), e.locals.begin() + cut);
            }
            return e;
        }
        const std::uint32_t left = below(prompt_blocks);
        for (std::uint32_t i = prompt_blocks; i-- > left;) {
            e.names.push_back(name(prompt, i));
        }
        return e;
    }

    void note(const told& e) {
        std::set<engine_hash>& held = m_held[e.slot];
        const auto set = [&](engine_hash n, bool now) {
            if (now ? held.insert(n).second : held.erase(n) != 0) {
                m_changes[{e.slot, n}].emplace_back(m_events.size(), now);
            }
        };
        if (e.closes) {
            while (!held.empty()) {
                set(*held.begin(), false);
            }
        }
        for (std::size_t i = 0; i < e.names.size(); i++) {
            if (e.stored) {
                // A block's local hash is its own here. What moves is for a moment at neither place.
                local_hash& block = m_block[{e.slot, e.names[i]}];
                if (block != e.locals[i]) {
                    set(e.names[i], false);
                }
                block = e.locals[i];
            }
            set(e.names[i], e.stored);
        }
    }

    std::mt19937_64 m_random;
    bool m_wild;
    std::vector<std::set<engine_hash>> m_held;
    std::vector<told> m_events;
    std::map<std::pair<std::uint32_t, engine_hash>, local_hash> m_block;
    std::map<std::pair<std::uint32_t, engine_hash>, std::vector<std::pair<std::size_t, bool>>> m_changes;
};

} // namespace kvindex::tests
