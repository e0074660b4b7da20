/// Prompts made from their numbers, so that a hundred million blocks need no memory beside the index, and the
/// workers that hold them.
#pragma once

#include "base/hashing.hpp"
#include "base/mix.hpp"
#include "base/types.hpp"
#include "require.hpp"

#include <cstdint>
#include <vector>

namespace kvindex::bench {

struct fleet_shape {
    std::uint32_t workers = 100;
    std::uint32_t shared = 64; ///< blocks of the one system prompt, with which every prompt begins
    std::uint32_t own = 320;   ///< blocks behind it
    std::uint32_t holders = 2; ///< workers that hold a prompt whole, far apart
};

/// The blocks of one prompt. Reused: making one costs no allocation.
class prompt_blocks {
public:
    explicit prompt_blocks(const fleet_shape& s)
        : m_shape(s), m_locals(s.shared + s.own), m_names(s.shared + s.own) {
        for (std::uint32_t i = 0; i < s.shared; i++) {
            m_locals[i] = mix(i + 1);
        }
        chain_hashes(m_locals, m_names);
        m_backwards.resize(s.own);
    }

    /// `more`: blocks that were decoded behind it.
    void make(std::uint64_t number, std::uint32_t more = 0) {
        const std::size_t n = std::size_t{m_shape.shared} + m_shape.own + more;
        m_locals.resize(n);
        m_names.resize(n);
        // Names are a chain of any good hash: chain_hashes() again would cost more than storing.
        std::uint64_t name = mix(number ^ 0x5bd1e995u);
        for (std::size_t i = m_shape.shared; i < n; i++) {
            m_locals[i] = mix(number << 16 | i);
            name = mix(name + m_locals[i]);
            m_names[i] = name;
        }
    }

    std::span<const local_hash> locals() const {
        return m_locals;
    }

    stored_event stored(slot_id slot, std::size_t from, std::size_t count) const {
        return {.slot = slot,
                .where = tier::gpu,
                .has_parent = from != 0,
                .parent = from != 0 ? m_names[from - 1] : 0,
                .names = std::span(m_names).subspan(from, count),
                .locals = std::span(m_locals).subspan(from, count)};
    }

    /// The own blocks, end first.
    removed_event evicted(slot_id slot) {
        m_backwards.assign(m_names.rbegin(), m_names.rend() - m_shape.shared);
        return {slot, tier::gpu, m_backwards};
    }

private:
    fleet_shape m_shape;
    std::vector<local_hash> m_locals;
    std::vector<engine_hash> m_names;
    std::vector<engine_hash> m_backwards;
};

/// Worker number `copy` of those that hold this prompt.
inline slot_id holder_of(const fleet_shape& s, std::uint64_t prompt, std::uint32_t copy) {
    const std::uint64_t step = s.workers / s.holders;
    return slot_id{static_cast<std::uint32_t>((mix(prompt + 77) + copy * step) % s.workers)};
}

} // namespace kvindex::bench
