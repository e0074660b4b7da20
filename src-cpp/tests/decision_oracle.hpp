/// The literal approximate slots: a list of decisions, each with its whole path, and nothing else. Slow and
/// obviously right; says what decide(), expire() and look-ups have to answer.
#pragma once

#include "oracle.hpp"

#include <algorithm>
#include <list>
#include <set>
#include <span>
#include <vector>

namespace kvindex::tests {

class decision_oracle {
public:
    decision_oracle(std::uint64_t ttl, std::uint64_t capacity) : m_ttl(ttl), m_capacity(capacity) {
    }

    /// Answers how many blocks are new to the slot.
    std::uint64_t decide(std::uint32_t slot, std::span<const local_hash> locals, std::uint64_t now) {
        end_due(now, 16);
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(locals.size(), m_capacity));
        m_refused += locals.size() - most;
        const path whole(locals.begin(), locals.begin() + static_cast<std::ptrdiff_t>(most));
        if (whole.empty()) {
            return 0;
        }
        const std::uint64_t before = pairs();
        // Superseded: what ends on the new path says nothing more.
        std::erase_if(m_alive, [&](const decision& d) {
            return d.slot == slot && common(d.blocks, whole) == d.blocks.size();
        });
        m_alive.push_back({slot, whole, {}, m_now});
        std::uint32_t chain = 0;
        for (const local_hash local : whole) {
            m_alive.back().places.push_back(chain = m_chains.longer(chain, local));
        }
        const std::uint64_t fresh = pairs() - before;
        while (pairs() > m_capacity) {
            m_alive.pop_front();
            m_by_capacity++;
        }
        return fresh;
    }

    std::uint64_t expire(std::uint64_t now) {
        return end_due(now, ~std::uint64_t{0});
    }

    void clear(std::uint32_t slot) {
        std::erase_if(m_alive, [&](const decision& d) { return d.slot == slot; });
    }

    /// Blocks from the start of the prompt that the slot holds. All that it holds of it: paths begin at the
    /// start.
    std::uint32_t depth(std::uint32_t slot, std::span<const local_hash> locals) const {
        std::size_t most = 0;
        for (const decision& d : m_alive) {
            most = std::max(most, d.slot == slot ? common(d.blocks, locals) : 0);
        }
        return static_cast<std::uint32_t>(most);
    }

    /// (slot, block) pairs that are held.
    std::uint64_t pairs() const {
        std::set<std::pair<std::uint32_t, std::uint32_t>> held;
        for (const decision& d : m_alive) {
            for (const std::uint32_t block : d.places) {
                held.emplace(d.slot, block);
            }
        }
        return held.size();
    }

    /// Blocks that the slot holds.
    std::uint64_t pairs_of(std::uint32_t slot) const {
        std::set<std::uint32_t> held;
        for (const decision& d : m_alive) {
            if (d.slot == slot) {
                held.insert(d.places.begin(), d.places.end());
            }
        }
        return held.size();
    }

    std::uint64_t alive() const {
        return m_alive.size();
    }

    std::uint64_t by_time() const {
        return m_by_time;
    }

    std::uint64_t by_capacity() const {
        return m_by_capacity;
    }

    std::uint64_t refused() const {
        return m_refused;
    }

private:
    using path = std::vector<local_hash>;

    struct decision {
        std::uint32_t slot = 0;
        path blocks;
        std::vector<std::uint32_t> places; ///< what each block is in the tree of all prompts
        std::uint64_t time = 0;
    };

    static std::size_t common(std::span<const local_hash> a, std::span<const local_hash> b) {
        const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
        return static_cast<std::size_t>(ends.first - a.begin());
    }

    std::uint64_t end_due(std::uint64_t now, std::uint64_t most) {
        m_now = std::max(m_now, now);
        std::uint64_t ended = 0;
        while (ended < most && !m_alive.empty() && m_now - m_alive.front().time >= m_ttl) {
            m_alive.pop_front();
            ended++;
        }
        m_by_time += ended;
        return ended;
    }

    std::uint64_t m_ttl;
    std::uint64_t m_capacity;
    chains m_chains;
    std::list<decision> m_alive; // oldest first
    std::uint64_t m_now = 0;
    std::uint64_t m_by_time = 0;
    std::uint64_t m_by_capacity = 0;
    std::uint64_t m_refused = 0;
};

} // namespace kvindex::tests
