/// Which block a slot means by an engine hash.
///
/// Slots of one domain share their names: one entry per distinct block. Where a slot's name for a block is not
/// the domain's (engines that hash differently, or break the rule that a name is a block), the slot gets a name
/// of its own: domain private_domain(slot). So every slot is answered exactly, and only conflicts cost more.
///
/// A block that a slot holds is held under its usual name: the slot's own one if there is one there, else the
/// domain's. Only when it holds it under several names, or under another, run_extra::spares says which.
///
/// Writer only.
#pragma once

#include "index/holders.hpp"

#include <optional>
#include <span>

namespace kvindex::snapshot {
struct core_access;
} // namespace kvindex::snapshot

namespace kvindex::index {

inline constexpr std::uint32_t private_domains = 1u << 16;

constexpr std::uint32_t private_domain(std::uint32_t slot) {
    return private_domains + slot;
}

struct named_place {
    place at;
    std::uint32_t plane = 0; ///< 0: the run's own domain
    bool own = false;        ///< found in the slot's own domain
};

class names {
public:
    names(memory& m, holders& h)
        : m_memory(m), m_holders(h), m_own(storage::core_slots, 0), m_domain(storage::core_slots, 0) {
    }

    void set_domain(std::uint32_t slot, std::uint32_t domain) {
        m_domain[slot] = domain;
    }

    std::uint32_t domain_of(std::uint32_t slot) const {
        return m_domain[slot];
    }

    /// The block of this name; whether the slot holds it is another question.
    std::optional<named_place> find(std::uint32_t slot, engine_hash name) const;

    /// Tiers in which the slot holds the block under this name.
    tier_mask held_as(std::uint32_t slot, engine_hash name, const named_place& at) const;

    /// The slot stores the block under this name: binds the name, holds the block.
    void hold(std::uint32_t slot, engine_hash name, place at, tier where);

    /// Runs that hold() took blocks from since the caller last emptied this.
    std::vector<std::uint32_t> lightened;

    /// The slot drops one tier of the block under this name, which it holds in that tier.
    void drop(std::uint32_t slot, engine_hash name, const named_place& at, tier where);

    /// How many of the names are, in order, the usual ones of the blocks from `at` on, for this slot, so that
    /// holding them needs no look at the map.
    std::uint32_t usual(std::uint32_t slot, place at, std::span<const engine_hash> names) const;

    /// The same for names in falling order of blocks: names[0] is the block `at`, names[1] the one before.
    std::uint32_t usual_backwards(std::uint32_t slot, place at, std::span<const engine_hash> names) const;

    /// Names fresh blocks, from `at` on, in the slot's domain. Stops at a name that is known already; answers
    /// how many were named.
    std::uint32_t introduce(std::uint32_t slot, place at, std::span<const engine_hash> names);

    /// Gives blocks that others hold under the domain's names, and this slot not yet, names of its own: engines
    /// of one domain that hash differently. Answers how many; 0 where names need a look one by one.
    std::uint32_t introduce_own(std::uint32_t slot, place at, std::span<const engine_hash> conflicting);

    /// The slot gave up these tiers of the run: its names there that stand for nothing now go.
    void forget(std::uint32_t run, std::uint32_t slot, tier_mask tiers);

    /// Forgets the names of the blocks [from, len) of the run and frees their lines.
    void cut(std::uint32_t run, std::uint32_t from, std::uint32_t len);

    /// Answers the name as the map has it, for prefetch_line().
    engine_hash prefetch(std::uint32_t slot, engine_hash name) const {
        const engine_hash s = salted(name, m_domain[slot]);
        m_memory.names.prefetch(s);
        return s;
    }

    /// For a name that will be introduced.
    void prefetch_room(std::uint32_t slot, engine_hash name) const {
        m_memory.names.prefetch_room(salted(name, m_domain[slot]));
    }

    /// Further steps of prefetching: the line of the name, its run, what the run points to, the lines from
    /// there downwards. Guesses: what the first step finds is not checked.
    std::uint32_t prefetch_line(engine_hash salted_name) const {
        const std::uint32_t number = m_memory.names.peek(salted_name);
        kvindex::prefetch(&m_memory.lines[number >> 3]);
        return number;
    }

    place prefetch_run(std::uint32_t number) const {
        const storage::name_line& line = m_memory.lines[number >> 3];
        kvindex::prefetch_to_write(&m_memory.heads[line.run]);
        kvindex::prefetch_to_write(&m_memory.colds[line.run]);
        return {line.run, line.step * storage::names_per_line + (number & 7)};
    }

    void prefetch_parts(place at) const {
        const storage::run_head& h = m_memory.heads[at.run];
        const std::uint32_t len = h.len.load(std::memory_order_relaxed);
        kvindex::prefetch_to_write(m_memory.content.words(h.content.load(std::memory_order_relaxed)) + len);
        kvindex::prefetch_to_write(ids_of(at.run) + len / storage::names_per_line);
        kvindex::prefetch(ids_of(at.run) + at.offset / storage::names_per_line);
        if (const std::uint32_t cover = h.cover.load(std::memory_order_relaxed); cover != 0) {
            kvindex::prefetch_to_write(m_memory.covers.words(cover));
        }
    }

    void prefetch_lines(place at, std::size_t count_of_names) const {
        const std::uint32_t step = at.offset / storage::names_per_line;
        const auto count =
            static_cast<std::uint32_t>(std::min<std::size_t>(count_of_names / storage::names_per_line + 1, 5));
        for (std::uint32_t k = 0; k < count && k <= step && step < m_memory.colds[at.run].name_lines; k++) {
            kvindex::prefetch(&m_memory.lines[ids_of(at.run)[step - k]]);
        }
    }

    /// For names that will be cut, one step after the other: the ids of the lines, the lines, the map.
    void prefetch_cut(std::uint32_t run, std::uint32_t from, std::uint32_t stage) const {
        const std::uint32_t step = from / storage::names_per_line;
        if (stage == 0) {
            kvindex::prefetch(ids_of(run) + step);
            return;
        }
        const std::uint32_t end = std::min(step + 3, m_memory.colds[run].name_lines);
        for (std::uint32_t k = step; k < end; k++) {
            const storage::name_line& line = m_memory.lines[ids_of(run)[k]];
            if (stage == 1) {
                kvindex::prefetch_to_write(&line);
                continue;
            }
            for (const engine_hash name : line.names) {
                m_memory.names.prefetch(name);
            }
        }
    }

    std::uint64_t line_bytes_in_use() const {
        return (m_top - m_free_lines) * sizeof(storage::name_line);
    }

    std::uint64_t line_bytes() const {
        return std::uint64_t{m_top} * sizeof(storage::name_line);
    }

    /// Names stored again for another block.
    std::uint64_t moves = 0;
    /// Blocks that got a further name, of one slot, because the domain's was another.
    std::uint64_t conflicts = 0;

private:
    friend struct snapshot::core_access;

    static constexpr std::uint32_t no_plane = 0xffffffffu;
    // Lines of one run lie anywhere: so many of them are asked for ahead of time.
    static constexpr std::uint32_t lines_ahead = 6;

    static engine_hash salted(engine_hash name, std::uint32_t domain) {
        const engine_hash s = name ^ (mix(domain + 1) | 1);
        return s == 0 ? 1 : s;
    }

    /// Ids of the lines of the run's own plane.
    const std::uint32_t* ids_of(std::uint32_t run) const {
        return reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(m_memory.colds[run].names));
    }

    plane plane_at(std::uint32_t run, std::uint32_t index) const;
    std::uint32_t plane_of(std::uint32_t run, std::uint32_t domain) const;
    std::uint32_t number_at(std::uint32_t run, std::uint32_t plane, std::uint32_t offset) const;
    std::uint32_t usual_plane(std::uint32_t slot, place at) const;
    void write(std::uint32_t domain, place at, engine_hash name);
    std::uint32_t add_plane(std::uint32_t run, std::uint32_t domain);
    bool bind(engine_hash& place_of_name, engine_hash salted_name, std::uint32_t number);
    std::uint32_t deciding_plane(std::uint32_t slot, place at) const;

    /// That plane's lines; none where only a look one by one can tell.
    struct line_ids {
        const std::uint32_t* ids = nullptr;
        std::uint32_t lines = 0;
        engine_hash salt = 0;
    };
    line_ids deciding_lines(std::uint32_t slot, place at) const;
    bool plain_from(place at) const;
    /// Of a free line: the next one.
    std::uint32_t& next_free(std::uint32_t line) {
        return m_memory.lines[line].run;
    }

    std::uint32_t make_line(std::uint32_t run, std::uint32_t plane, std::uint32_t step);
    void unbind(std::uint32_t number);
    void spell_out(std::uint32_t slot, place at);
    void name_privately(std::uint32_t slot, engine_hash name, place at);
    void erase_own(std::uint32_t slot, engine_hash name);
    void release(std::uint32_t slot, engine_hash name, const named_place& at);
    engine_hash usual_name(std::uint32_t slot, place at) const;

    memory& m_memory;
    holders& m_holders;
    std::vector<std::uint32_t> m_own; // names in the slot's own domain
    std::vector<std::uint32_t> m_domain;
    std::uint32_t m_free_line = 0; // the free lines are a list
    std::uint32_t m_free_lines = 0;
    std::uint32_t m_top = 1;
};

} // namespace kvindex::index
