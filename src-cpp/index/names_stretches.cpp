/// Names of many blocks in a row: most events are stretches that follow the rule, so that a look at each name
/// alone would be waste. What does not is left to names.cpp, one by one.
#include "index/names.hpp"

#include <algorithm>

namespace kvindex::index {

namespace {

constexpr std::uint32_t look_ahead = 16; // names

} // namespace

using storage::name_line;
using storage::names_per_line;

/// The plane that decides which names are usual for this slot from `at` on, no_plane where only a look one by
/// one can tell.
std::uint32_t names::deciding_plane(std::uint32_t slot, place at) const {
    if (const run_extra* extra = m_memory.find_extra(at.run); extra != nullptr && !extra->spares.empty()) {
        return no_plane;
    }
    if (m_own[slot] == 0) {
        return plane_of(at.run, m_domain[slot]);
    }
    // Any name of the domain may be one of the slot's own, for another block: only those are sure.
    const std::uint32_t own = plane_of(at.run, private_domain(slot));
    return own != no_plane && number_at(at.run, own, at.offset) != 0 ? own : no_plane;
}

names::line_ids names::deciding_lines(std::uint32_t slot, place at) const {
    const std::uint32_t index = deciding_plane(slot, at);
    if (index == no_plane) {
        return {};
    }
    const plane p = plane_at(at.run, index);
    return {reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names)), p.lines,
            salted(0, p.domain)};
}

std::uint32_t names::usual(std::uint32_t slot, place at, std::span<const engine_hash> wanted) const {
    const auto [ids, lines, salt] = deciding_lines(slot, at);
    std::uint32_t same = 0;
    std::uint32_t step = at.offset / names_per_line;
    std::uint32_t i = at.offset % names_per_line;
    const auto last = static_cast<std::uint32_t>((at.offset + wanted.size() - 1) / names_per_line);
    for (std::uint32_t k = step; k < std::min({step + lines_ahead, last + 1, lines}); k++) {
        kvindex::prefetch(&m_memory.lines[ids[k]]);
    }
    while (same < wanted.size() && step < lines && ids[step] != 0) {
        if (step + lines_ahead <= last && step + lines_ahead < lines) {
            kvindex::prefetch(&m_memory.lines[ids[step + lines_ahead]]);
        }
        const name_line& line = m_memory.lines[ids[step]];
        for (; i < names_per_line && same < wanted.size(); i++, same++) {
            const engine_hash s = wanted[same] ^ salt;
            if (line.names[i] != (s == 0 ? 1 : s)) {
                return same;
            }
        }
        i = 0;
        step++;
    }
    return same;
}

std::uint32_t names::usual_backwards(std::uint32_t slot, place at, std::span<const engine_hash> wanted) const {
    const auto [ids, lines, salt] = deciding_lines(slot, at);
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(wanted.size(), at.offset + 1));
    std::uint32_t step = at.offset / names_per_line;
    std::uint32_t i = at.offset % names_per_line;
    const std::uint32_t last = (at.offset + 1 - most) / names_per_line; // the lowest
    for (std::uint32_t k = 0; k < lines_ahead && step >= last + k && step < lines; k++) {
        kvindex::prefetch(&m_memory.lines[ids[step - k]]);
    }
    for (std::uint32_t same = 0; same < most;) {
        if (step >= lines || ids[step] == 0) {
            return same;
        }
        if (step >= last + lines_ahead) {
            kvindex::prefetch(&m_memory.lines[ids[step - lines_ahead]]);
        }
        const name_line& line = m_memory.lines[ids[step]];
        for (;; i--) {
            const engine_hash s = wanted[same] ^ salt;
            if (line.names[i] != (s == 0 ? 1 : s)) {
                return same;
            }
            same++;
            if (i == 0 || same == most) {
                break;
            }
        }
        i = names_per_line - 1;
        step--;
    }
    return most;
}

/// Whether no name of these blocks, or of what is behind them, needs a look alone.
bool names::plain_from(place at) const {
    const run_extra* extra = m_memory.find_extra(at.run);
    return extra == nullptr || std::none_of(extra->spares.begin(), extra->spares.end(),
                                            [&](const spare_name& s) { return s.offset >= at.offset; });
}

std::uint32_t names::introduce(std::uint32_t slot, place at, std::span<const engine_hash> nameless) {
    const std::uint32_t domain = m_domain[slot];
    if (m_own[slot] != 0 || !plain_from(at)) {
        return 0;
    }
    std::uint32_t index = plane_of(at.run, domain);
    if (index == no_plane) {
        index = add_plane(at.run, domain);
    }
    for (std::uint32_t i = 0; nameless.size() > 1 && i < std::min<std::size_t>(look_ahead, nameless.size());
         i++) {
        m_memory.names.prefetch_room(salted(nameless[i], domain));
    }
    std::uint32_t line = 0;
    for (std::uint32_t i = 0; i < nameless.size(); i++) {
        if (i + look_ahead < nameless.size()) {
            m_memory.names.prefetch_room(salted(nameless[i + look_ahead], domain));
        }
        const engine_hash name = salted(nameless[i], domain);
        const std::uint32_t offset = at.offset + i;
        if (line == 0 || offset % names_per_line == 0) {
            line = make_line(at.run, index, offset / names_per_line);
        }
        const std::uint32_t k = offset % names_per_line;
        engine_hash& there = m_memory.lines[line].names[k];
        if (there != 0 || !bind(there, name, line * 8 + 1 + k)) {
            return i;
        }
    }
    return static_cast<std::uint32_t>(nameless.size());
}

std::uint32_t names::introduce_own(std::uint32_t slot, place at, std::span<const engine_hash> conflicting) {
    const run_extra* extra = m_memory.find_extra(at.run);
    const std::uint32_t shared = plane_of(at.run, m_domain[slot]);
    // Without holes every block below held_end is held by somebody.
    const std::uint32_t held_end = m_memory.colds[at.run].held_end;
    const std::uint64_t word = m_holders.word_of(at.run, slot);
    const bool holes = extra != nullptr && !extra->details.empty();
    if (shared == no_plane || holes || !plain_from(at) || at.offset >= held_end ||
        (word != storage::holder::none && storage::holder::end(word, 0) > at.offset)) {
        return 0;
    }
    const auto count =
        static_cast<std::uint32_t>(std::min<std::size_t>(conflicting.size(), held_end - at.offset));
    const auto ask = [&](std::uint32_t i) {
        m_memory.names.prefetch(salted(conflicting[i], m_domain[slot]));
        m_memory.names.prefetch_room(salted(conflicting[i], private_domain(slot)));
    };
    for (std::uint32_t i = 0; i < std::min(look_ahead, count); i++) {
        ask(i);
    }
    for (std::uint32_t i = 0; i < count; i++) {
        if (i + look_ahead < count) {
            ask(i + look_ahead);
        }
        const std::uint32_t offset = at.offset + i;
        // The block has another name, and this name no other block.
        if (number_at(at.run, shared, offset) == 0 ||
            m_memory.names.find(salted(conflicting[i], m_domain[slot])) != 0) {
            return i;
        }
        std::uint32_t own = plane_of(at.run, private_domain(slot));
        if (own == no_plane) {
            own = add_plane(at.run, private_domain(slot));
        }
        const std::uint32_t k = offset % names_per_line;
        const std::uint32_t line = make_line(at.run, own, offset / names_per_line);
        engine_hash& there = m_memory.lines[line].names[k];
        if (there != 0 || !bind(there, salted(conflicting[i], private_domain(slot)), line * 8 + 1 + k)) {
            return i;
        }
        m_own[slot]++;
        conflicts++;
    }
    return count;
}

} // namespace kvindex::index
