#include "index/names.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::name_line;
using storage::names_per_line;

namespace {

constexpr std::uint32_t ids_per_granule = 16;
constexpr std::uint32_t no_plane = 0xffffffffu;

// Lines of one run lie anywhere: so many of them are asked for ahead of time.
constexpr std::uint32_t lines_ahead = 6;

} // namespace

plane names::plane_at(std::uint32_t run, std::uint32_t index) const {
    if (index == 0) {
        const storage::run_cold& c = m_memory.colds[run];
        return {c.domain, c.names, c.name_lines};
    }
    return m_memory.find_extra(run)->planes[index - 1];
}

/// First plane of the domain, or no_plane.
std::uint32_t names::plane_of(std::uint32_t run, std::uint32_t domain) const {
    if (m_memory.colds[run].domain == domain) {
        return 0;
    }
    if (const run_extra* extra = m_memory.find_extra(run)) {
        for (std::uint32_t i = 0; i < extra->planes.size(); i++) {
            if (extra->planes[i].domain == domain) {
                return i + 1;
            }
        }
    }
    return no_plane;
}

/// Block number of the name that this plane has for the block, 0 = none.
std::uint32_t names::number_at(std::uint32_t run, std::uint32_t index, std::uint32_t offset) const {
    const plane p = plane_at(run, index);
    const std::uint32_t step = offset / names_per_line;
    if (step >= p.lines) {
        return 0;
    }
    const auto* ids = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names));
    const std::uint32_t line = ids[step];
    const std::uint32_t i = offset % names_per_line;
    return line == 0 || m_memory.lines[line].names[i] == 0 ? 0 : line * 8 + 1 + i;
}

std::optional<named_place> names::find(std::uint32_t slot, engine_hash name) const {
    bool own = m_own[slot] != 0;
    std::uint32_t number = own ? m_memory.names.find(salted(name, private_domain(slot))) : 0;
    if (number == 0) {
        own = false;
        number = m_memory.names.find(salted(name, m_domain[slot]));
    }
    if (number == 0) {
        return std::nullopt;
    }
    const name_line& line = m_memory.lines[number >> 3];
    return named_place{{line.run, line.step * names_per_line + (number & 7) - 1}, line.plane, own};
}

/// Plane of the name under which the slot holds the block unless a spare says otherwise; no_plane when the
/// block has no name that the slot would use.
std::uint32_t names::usual_plane(std::uint32_t slot, place at) const {
    if (m_own[slot] != 0) {
        const std::uint32_t own = plane_of(at.run, private_domain(slot));
        if (own != no_plane && number_at(at.run, own, at.offset) != 0) {
            return own;
        }
    }
    const std::uint32_t shared = plane_of(at.run, m_domain[slot]);
    return shared != no_plane && number_at(at.run, shared, at.offset) != 0 ? shared : no_plane;
}

tier_mask names::held_as(std::uint32_t slot, engine_hash name, const named_place& at) const {
    if (const run_extra* extra = m_memory.find_extra(at.at.run); extra != nullptr && !extra->spares.empty()) {
        bool spared = false;
        for (const spare_name& s : extra->spares) {
            if (s.slot == slot && s.offset == at.at.offset) {
                spared = true;
                if (s.name == name) {
                    return s.tiers;
                }
            }
        }
        if (spared) {
            return 0;
        }
    }
    if (m_memory.colds[at.at.run].extra != 0 && usual_plane(slot, at.at) != at.plane) {
        return 0;
    }
    return m_holders.tiers_at(at.at.run, slot, at.at.offset);
}

std::uint32_t names::usual(std::uint32_t slot, place at, std::span<const engine_hash> wanted) const {
    const run_extra* extra = m_memory.find_extra(at.run);
    if ((extra != nullptr && !extra->spares.empty()) || m_own[slot] != 0) {
        return 0; // one by one
    }
    const std::uint32_t index = plane_of(at.run, m_domain[slot]);
    if (index == no_plane) {
        return 0;
    }
    const plane p = plane_at(at.run, index);
    const auto* ids = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names));
    const engine_hash salt = salted(0, m_domain[slot]);
    std::uint32_t same = 0;
    std::uint32_t step = at.offset / names_per_line;
    std::uint32_t i = at.offset % names_per_line;
    const auto last = static_cast<std::uint32_t>((at.offset + wanted.size() - 1) / names_per_line);
    for (std::uint32_t k = step; k < std::min({step + lines_ahead, last + 1, p.lines}); k++) {
        kvindex::prefetch(&m_memory.lines[ids[k]]);
    }
    while (same < wanted.size() && step < p.lines && ids[step] != 0) {
        if (step + lines_ahead <= last && step + lines_ahead < p.lines) {
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
    const run_extra* extra = m_memory.find_extra(at.run);
    if ((extra != nullptr && !extra->spares.empty()) || m_own[slot] != 0) {
        return 0;
    }
    const std::uint32_t index = plane_of(at.run, m_domain[slot]);
    if (index == no_plane) {
        return 0;
    }
    const plane p = plane_at(at.run, index);
    const auto* ids = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names));
    const engine_hash salt = salted(0, m_domain[slot]);
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(wanted.size(), at.offset + 1));
    std::uint32_t step = at.offset / names_per_line;
    std::uint32_t i = at.offset % names_per_line;
    const std::uint32_t last = (at.offset + 1 - most) / names_per_line; // the lowest
    for (std::uint32_t k = 0; k < lines_ahead && step >= last + k && step < p.lines; k++) {
        kvindex::prefetch(&m_memory.lines[ids[step - k]]);
    }
    for (std::uint32_t same = 0; same < most;) {
        if (step >= p.lines || ids[step] == 0) {
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

std::uint32_t names::make_line(std::uint32_t run, std::uint32_t index, std::uint32_t step) {
    storage::run_cold& c = m_memory.colds[run];
    plane p = plane_at(run, index);
    if (step >= p.lines) {
        const std::uint32_t wanted = std::max(step + 1, p.lines + p.lines / 2);
        const std::uint32_t granules =
            storage::granule_arena::rounded((wanted + ids_per_granule - 1) / ids_per_granule);
        const std::uint32_t made = m_memory.lists.take(granules);
        auto* to = reinterpret_cast<std::uint32_t*>(m_memory.lists.words(made));
        const auto* from = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names));
        std::copy_n(from, p.lines, to);
        std::fill(to + p.lines, to + granules * ids_per_granule, 0u);
        if (p.lines != 0) {
            m_memory.lists.give_back(p.names, p.lines / ids_per_granule);
        }
        p.names = made;
        p.lines = granules * ids_per_granule;
        if (index == 0) {
            c.names = p.names;
            c.name_lines = p.lines;
        } else {
            m_memory.find_extra(run)->planes[index - 1] = p;
        }
    }
    auto* ids = reinterpret_cast<std::uint32_t*>(m_memory.lists.words(p.names));
    if (ids[step] == 0) {
        std::uint32_t line = m_top;
        if (!m_free_lines.empty()) {
            line = m_free_lines.back();
            m_free_lines.pop_back();
        } else if (m_top == m_memory.lines.capacity() || m_top >= 1u << 29) {
            throw std::bad_alloc();
        } else {
            m_top++;
        }
        name_line& l = m_memory.lines[line];
        l.run = run;
        l.step = static_cast<std::uint16_t>(step);
        l.plane = static_cast<std::uint16_t>(index);
        l.names.fill(0);
        ids[step] = line;
    }
    return ids[step];
}

void names::write_in(std::uint32_t index, place at, engine_hash salted_name) {
    const std::uint32_t line = make_line(at.run, index, at.offset / names_per_line);
    const std::uint32_t i = at.offset % names_per_line;
    engine_hash& there = m_memory.lines[line].names[i];
    there = salted_name;
    try {
        m_memory.names.insert(salted_name, line * 8 + 1 + i);
    } catch (...) {
        there = 0;
        throw;
    }
}

/// Gives the block this name in the first plane of the domain that has none for it.
void names::write(std::uint32_t domain, place at, engine_hash name) {
    std::uint32_t index = plane_of(at.run, domain);
    if (index == no_plane || number_at(at.run, index, at.offset) != 0) {
        auto& planes = m_memory.extra_of(at.run).planes;
        index = 0;
        for (std::uint32_t i = 0; i < planes.size() && index == 0; i++) {
            if (planes[i].domain == domain && number_at(at.run, i + 1, at.offset) == 0) {
                index = i + 1;
            }
        }
        if (index == 0) {
            planes.push_back({.domain = domain});
            index = static_cast<std::uint32_t>(planes.size());
        }
    }
    write_in(index, at, salted(name, domain));
}

void names::unbind(std::uint32_t number) {
    engine_hash& name = m_memory.lines[number >> 3].names[(number & 7) - 1];
    m_memory.names.erase(name, number);
    name = 0;
}

void names::erase_own(std::uint32_t slot, engine_hash name) {
    const std::uint32_t number = m_memory.names.find(salted(name, private_domain(slot)));
    if (number != 0) {
        unbind(number);
        m_own[slot]--;
    }
}

engine_hash names::usual_name(std::uint32_t slot, place at) const {
    const std::uint32_t index = usual_plane(slot, at);
    const std::uint32_t number = number_at(at.run, index, at.offset);
    const plane p = plane_at(at.run, index);
    const engine_hash s = m_memory.lines[number >> 3].names[(number & 7) - 1];
    return s ^ salted(0, p.domain);
}

/// Before a block gets a further name: says under which name the slot holds it so far, if it does.
void names::spell_out(std::uint32_t slot, place at) {
    const tier_mask held = m_holders.tiers_at(at.run, slot, at.offset);
    if (held == 0 || usual_plane(slot, at) == no_plane) {
        return;
    }
    auto& spares = m_memory.extra_of(at.run).spares;
    if (std::none_of(spares.begin(), spares.end(),
                     [&](const spare_name& s) { return s.slot == slot && s.offset == at.offset; })) {
        spares.push_back({slot, at.offset, usual_name(slot, at), held});
    }
}

void names::name_privately(std::uint32_t slot, engine_hash name, place at) {
    spell_out(slot, at);
    write(private_domain(slot), at, name);
    m_own[slot]++;
    conflicts++;
}

void names::hold(std::uint32_t slot, engine_hash name, place at, tier where) {
    std::optional<named_place> known = find(slot, name);
    if (known && known->at != at) {
        if (held_as(slot, name, *known) != 0) {
            release(slot, name, *known);
            moves++;
        }
        if (known->own) {
            erase_own(slot, name);
        }
        // The domain's name may still be there, for others.
        known = find(slot, name);
        if (known && !m_holders.anyone_at(known->at.run, known->at.offset)) {
            unbind(m_memory.names.find(salted(name, m_domain[slot])));
            known.reset();
        }
        if (known && known->at == at) {
            // The domain's name is for this very block.
        } else if (known) {
            known.reset();
            name_privately(slot, name, at);
            known = find(slot, name);
        }
    }
    if (!known) {
        const std::uint32_t shared = plane_of(at.run, m_domain[slot]);
        const std::uint32_t there = shared == no_plane ? 0 : number_at(at.run, shared, at.offset);
        const bool renamed = there != 0 && !m_holders.anyone_at(at.run, at.offset);
        if (there != 0 && !renamed) {
            // Others hold the block under the domain's name; this slot has its own for it.
            name_privately(slot, name, at);
        } else {
            spell_out(slot, at);
            if (renamed) {
                unbind(there);
            }
            write(m_domain[slot], at, name);
        }
        known = find(slot, name);
    }
    // The name is bound to the block. Does a spare have to say that the slot holds it under this name?
    run_extra* extra = m_memory.find_extra(at.run);
    bool spared = false;
    spare_name* mine = nullptr;
    if (extra != nullptr) {
        for (spare_name& s : extra->spares) {
            if (s.slot == slot && s.offset == at.offset) {
                spared = true;
                mine = s.name == name ? &s : mine;
            }
        }
    }
    if (!spared && usual_plane(slot, at) != known->plane) {
        spell_out(slot, at);
        spared = true;
    }
    if (mine != nullptr) {
        mine->tiers |= mask_of(where);
    } else if (spared) {
        m_memory.extra_of(at.run).spares.push_back({slot, at.offset, name, mask_of(where)});
    }
    m_holders.change(at.run, slot, at.offset, at.offset + 1, where, true);
}

void names::drop(std::uint32_t slot, engine_hash name, const named_place& at, tier where) {
    run_extra* extra = m_memory.find_extra(at.at.run);
    const tier_mask bit = mask_of(where);
    bool last_of_name = (held_as(slot, name, at) & ~bit) == 0;
    bool covered = false; // by another name
    if (extra != nullptr && !extra->spares.empty()) {
        auto& spares = extra->spares;
        std::uint32_t left = 0;
        spare_name* other = nullptr;
        for (spare_name& s : spares) {
            if (s.slot != slot || s.offset != at.at.offset) {
                continue;
            }
            if (s.name == name) {
                s.tiers &= static_cast<tier_mask>(~bit);
            } else {
                covered = covered || (s.tiers & bit) != 0;
            }
            if (s.tiers != 0) {
                left++;
                other = &s;
            }
        }
        const bool same = other != nullptr && other->name == name;
        const engine_hash last_name = other != nullptr ? other->name : 0;
        std::erase_if(spares, [&](const spare_name& s) { return s.tiers == 0; });
        if (left == 1 && !same) {
            // One name is left: no spare is needed if it is the usual one once this name is gone.
            if (at.own && last_of_name) {
                erase_own(slot, name);
                last_of_name = false;
            }
            if (usual_plane(slot, at.at) != no_plane && usual_name(slot, at.at) == last_name) {
                std::erase_if(spares,
                              [&](const spare_name& s) { return s.slot == slot && s.offset == at.at.offset; });
            }
        }
    }
    if (at.own && last_of_name) {
        erase_own(slot, name);
    }
    if (!covered) {
        m_holders.change(at.at.run, slot, at.at.offset, at.at.offset + 1, where, false);
    }
    m_memory.trim_extra(at.at.run);
}

/// The slot forgets the name, in all tiers.
void names::release(std::uint32_t slot, engine_hash name, const named_place& at) {
    const tier_mask tiers = held_as(slot, name, at);
    lightened.push_back(at.at.run);
    for (std::uint32_t t = 0; t < tier_count; t++) {
        if (count_in(tiers, t) != 0) {
            drop(slot, name, at, tier{static_cast<std::uint8_t>(t)});
        }
    }
}

std::uint32_t names::introduce(std::uint32_t slot, place at, std::span<const engine_hash> fresh) {
    constexpr std::uint32_t look_ahead = 16;
    const std::uint32_t domain = m_domain[slot];
    const std::uint32_t index = plane_of(at.run, domain);
    if (m_own[slot] != 0 || index == no_plane) {
        return 0;
    }
    for (std::uint32_t i = 0; fresh.size() > 1 && i < std::min<std::size_t>(look_ahead, fresh.size()); i++) {
        m_memory.names.prefetch_room(salted(fresh[i], domain));
    }
    std::uint32_t line = 0;
    for (std::uint32_t i = 0; i < fresh.size(); i++) {
        if (i + look_ahead < fresh.size()) {
            m_memory.names.prefetch_room(salted(fresh[i + look_ahead], domain));
        }
        const engine_hash name = salted(fresh[i], domain);
        const std::uint32_t offset = at.offset + i;
        if (line == 0 || offset % names_per_line == 0) {
            line = make_line(at.run, index, offset / names_per_line);
        }
        const std::uint32_t k = offset % names_per_line;
        engine_hash& there = m_memory.lines[line].names[k];
        there = name;
        std::uint32_t known = 0;
        try {
            known = m_memory.names.find_or_insert(name, line * 8 + 1 + k);
        } catch (...) {
            there = 0;
            throw;
        }
        if (known != 0) {
            there = 0;
            return i;
        }
    }
    return static_cast<std::uint32_t>(fresh.size());
}

void names::forget(std::uint32_t run, std::uint32_t slot, tier_mask tiers) {
    run_extra* extra = m_memory.find_extra(run);
    if (extra == nullptr) {
        return;
    }
    for (spare_name& s : extra->spares) {
        if (s.slot == slot && (s.tiers &= static_cast<tier_mask>(~tiers)) == 0) {
            erase_own(slot, s.name);
        }
    }
    std::erase_if(extra->spares, [](const spare_name& s) { return s.tiers == 0; });
    const std::uint32_t len = m_memory.heads[run].len.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; m_own[slot] != 0 && i < extra->planes.size(); i++) {
        for (std::uint32_t o = 0; extra->planes[i].domain == private_domain(slot) && o < len; o++) {
            const std::uint32_t number = number_at(run, i + 1, o);
            if (number != 0 && m_holders.tiers_at(run, slot, o) == 0) {
                unbind(number);
                m_own[slot]--;
            }
        }
    }
    m_memory.trim_extra(run);
}

void names::cut(std::uint32_t run, std::uint32_t from, std::uint32_t len) {
    run_extra* extra = m_memory.find_extra(run);
    const std::uint32_t planes = extra == nullptr ? 1 : static_cast<std::uint32_t>(extra->planes.size() + 1);
    const std::uint32_t kept = (from + names_per_line - 1) / names_per_line; // lines
    for (std::uint32_t index = 0; index < planes; index++) {
        const plane p = plane_at(run, index);
        auto* ids = reinterpret_cast<std::uint32_t*>(m_memory.lists.words(p.names));
        const std::uint32_t end = std::min(p.lines, (len + names_per_line - 1) / names_per_line);
        for (std::uint32_t k = from / names_per_line; k < std::min(end, from / names_per_line + lines_ahead);
             k++) {
            kvindex::prefetch_to_write(&m_memory.lines[ids[k]]);
        }
        for (std::uint32_t step = from / names_per_line; step < end; step++) {
            if (step + lines_ahead < end) {
                kvindex::prefetch_to_write(&m_memory.lines[ids[step + lines_ahead]]);
            }
            if (step + 3 < end) {
                for (const engine_hash n : m_memory.lines[ids[step + 3]].names) {
                    m_memory.names.prefetch(n);
                }
            }
            if (ids[step] == 0) {
                continue;
            }
            name_line& line = m_memory.lines[ids[step]];
            const std::uint32_t first = step * names_per_line < from ? from - step * names_per_line : 0;
            for (std::uint32_t i = first; i < names_per_line; i++) {
                if (line.names[i] != 0) {
                    m_memory.names.erase(line.names[i], ids[step] * 8 + 1 + i);
                    line.names[i] = 0;
                    if (p.domain >= private_domains) {
                        m_own[p.domain - private_domains]--;
                    }
                }
            }
            if (step >= kept) {
                m_free_lines.push_back(ids[step]);
                ids[step] = 0;
            }
        }
        if (from == 0 && p.lines != 0) {
            m_memory.lists.give_back(p.names, p.lines / ids_per_granule);
        }
    }
    if (from == 0) {
        m_memory.colds[run].names = 0;
        m_memory.colds[run].name_lines = 0;
        if (extra != nullptr) {
            extra->planes.clear();
            extra->spares.clear();
        }
    }
    m_memory.trim_extra(run);
}

} // namespace kvindex::index
