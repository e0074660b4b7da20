#include "index/names.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::name_line;
using storage::names_per_line;

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

} // namespace kvindex::index
