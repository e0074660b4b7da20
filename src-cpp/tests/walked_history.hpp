/// A short history in which memory runs out in one buffer of events, with what the literal index answers on the
/// way.
#pragma once

#include "kvindex/prefix_index.hpp"
#include "oracle.hpp"
#include "small_history.hpp"

#include <limits>

namespace kvindex::tests {

/// Events before memory runs out: everything is there, or most of it is made for the first time.
constexpr std::size_t earlier_in(std::uint64_t seed) {
    return seed % 2 != 0 ? 250 : 25;
}
inline constexpr std::size_t armed = 40; // events of the buffer in which it does
inline constexpr std::uint64_t orphan_limit = 100'000;

/// Depths of every slot and tier for every prompt of the history, one after the other.
using answers = std::vector<std::uint32_t>;

inline void put(answers& out, const std::vector<hit>& hits) {
    const std::size_t at = out.size();
    out.resize(at + small_history::slots * tier_count);
    for (const hit& h : hits) {
        for (std::uint32_t t = 0; t < tier_count; t++) {
            out[at + h.slot * tier_count + t] = h.depth[t];
        }
    }
}

inline answers answers_of(const prefix_index& index, const small_history& history) {
    answers out;
    for (const auto& prompt : history.prompts()) {
        std::vector<hit> hits(small_history::slots);
        hits.resize(index.match(0, prompt, hits).hits);
        put(out, hits);
    }
    return out;
}

inline answers answers_of(const oracle& o, const small_history& history) {
    answers out;
    for (const auto& prompt : history.prompts()) {
        put(out, o.match(prompt));
    }
    return out;
}

/// What an index may answer between the states before and after one event.
struct bounds {
    answers least;
    answers most;
    std::uint64_t least_held = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most_held = 0;
};

/// Bounds of each event of the buffer, from the literal index: a block that it had at every moment of the event
/// is there, one that it had at no moment is not.
class walked_history {
public:
    walked_history(std::uint64_t seed, bool wild)
        : m_earlier(earlier_in(seed)), m_history(seed, wild, m_earlier + armed), m_oracle(orphan_limit) {
        for (std::uint32_t s = 0; s < small_history::slots; s++) {
            m_oracle.open_slot();
        }
        for (const event& e : before()) {
            m_oracle.apply(e);
        }
        m_oracle.after_each_block = [&] { visit(); };
        for (const event& e : buffer()) {
            m_always.clear();
            m_ever.clear();
            m_bounds.emplace_back();
            visit();
            m_oracle.apply(e);
            visit();
            m_bounds.back().least = depths(m_always);
            m_bounds.back().most = depths(m_ever);
        }
    }

    const small_history& history() const {
        return m_history;
    }

    std::span<const event> before() const {
        return std::span(m_history.events()).first(m_earlier);
    }

    std::span<const event> buffer() const {
        return std::span(m_history.events()).subspan(m_earlier);
    }

    answers at_the_end() const {
        return answers_of(m_oracle, m_history);
    }

    std::uint64_t held_at_the_end() const {
        return m_oracle.stats().residencies;
    }

    /// An event in the middle of which the index may be; one past the last when there is none.
    std::size_t fits(const answers& is, std::uint64_t held) const {
        for (std::size_t i = 0; i < m_bounds.size(); i++) {
            const bounds& b = m_bounds[i];
            bool within = b.least_held <= held && held <= b.most_held;
            for (std::size_t k = 0; within && k < is.size(); k++) {
                within = b.least[k] <= is[k] && is[k] <= b.most[k];
            }
            if (within) {
                return i;
            }
        }
        return m_bounds.size();
    }

private:
    void visit() {
        std::vector<tier_mask> now;
        for (const auto& prompt : m_history.prompts()) {
            for (std::uint32_t s = 0; s < small_history::slots; s++) {
                const auto tiers = m_oracle.tiers_along(slot_id{s}, prompt);
                now.insert(now.end(), tiers.begin(), tiers.end());
            }
        }
        m_always.resize(now.size(), all_tiers);
        m_ever.resize(now.size(), 0);
        for (std::size_t i = 0; i < now.size(); i++) {
            m_always[i] &= now[i];
            m_ever[i] |= now[i];
        }
        bounds& b = m_bounds.back();
        const std::uint64_t held = m_oracle.stats().residencies;
        b.least_held = std::min(b.least_held, held);
        b.most_held = std::max(b.most_held, held);
    }

    static answers depths(const std::vector<tier_mask>& tiers) {
        answers out;
        for (std::size_t at = 0; at < tiers.size(); at += small_history::blocks) {
            for (std::uint32_t t = 0; t < tier_count; t++) {
                std::uint32_t depth = 0;
                while (depth < small_history::blocks && (tiers[at + depth] & mask_up_to(t)) != 0) {
                    depth++;
                }
                out.push_back(depth);
            }
        }
        return out;
    }

    std::size_t m_earlier;
    small_history m_history;
    oracle m_oracle;
    std::vector<tier_mask> m_always;
    std::vector<tier_mask> m_ever;
    std::vector<bounds> m_bounds;
};

} // namespace kvindex::tests
