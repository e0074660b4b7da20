/// The second half of a build: who holds what, under which names.
#include "snapshot/builder.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace kvindex::snapshot {

using index::private_domain;
using index::residency;
using storage::names_per_line;

void builder::make_holders(std::uint32_t position) {
    const run_record r = record(position);
    index::holders& holders = core_access::holders_of(m_core);
    const bool lost = m_lost.contains(position);
    r.for_each_holder([&](std::uint32_t slot, const residency& in_file) {
        if (!is_open(slot)) {
            conflict(position, "a slot holds it that is not open");
            return;
        }
        if (m_slots[slot]->name_space != m_space[position]) {
            refuse(position, "a slot of another name space holds it");
        }
        if (!is_named(r, slot, in_file)) {
            refuse(position, "a slot holds a block that has no name");
        }
        const residency left = lost ? without_lost(position, slot, in_file) : residency();
        for (const index::stretch& s : lost ? left : in_file) {
            for (std::uint32_t t = 0; t < tier_count; t++) {
                if (count_in(s.tiers, t) != 0) {
                    holders.change(m_made[position], slot, s.begin, s.end, tier{static_cast<std::uint8_t>(t)},
                                   true);
                }
            }
        }
    });
}

bool builder::is_spared(const run_record& r, std::uint32_t slot, std::uint32_t offset) {
    bool found = false;
    r.for_each_spare(
        [&](const index::spare_name& s) { found = found || (s.slot == slot && s.offset == offset); });
    return found;
}

/// Every block that the slot holds has a name that the slot understands.
bool builder::is_named(const run_record& r, std::uint32_t slot, const residency& held) const {
    const auto shared = r.names_of(m_slots[slot]->domain);
    std::span<const std::uint64_t> own;
    bool sought = false;
    for (const index::stretch& s : held) {
        for (std::uint32_t o = s.begin; o < s.end; o++) {
            if (!shared.empty() && shared[o] != 0) {
                continue;
            }
            if (!sought) {
                own = r.names_of(private_domain(slot));
                sought = true;
            }
            if ((own.empty() || own[o] == 0) && !is_spared(r, slot, o)) {
                return false;
            }
        }
    }
    return true;
}

/// What the slot holds without the blocks that it held under names that are elsewhere now.
residency builder::without_lost(std::uint32_t position, std::uint32_t slot, residency held) {
    const run_record r = record(position);
    const std::uint32_t domain = m_slots[slot]->domain;
    const auto& lost = m_lost[position];
    for (const name_at& name : lost) {
        if (name.domain != domain && name.domain != private_domain(slot)) {
            continue;
        }
        bool spared = false;
        tier_mask kept = 0;
        r.for_each_spare([&](const index::spare_name& s) {
            if (s.slot == slot && s.offset == name.offset) {
                spared = true;
                const bool gone = std::any_of(lost.begin(), lost.end(), [&](const name_at& l) {
                    return l.offset == s.offset && l.salted == core_access::salted(s.name, l.domain) &&
                           (l.domain == domain || l.domain == private_domain(slot));
                });
                kept |= gone ? tier_mask{0} : s.tiers;
            }
        });
        if (!spared) {
            const auto own = r.names_of(private_domain(slot));
            const auto usual = !own.empty() && own[name.offset] != 0 ? own : r.names_of(domain);
            if (usual.empty() || usual[name.offset] != name.salted) {
                continue; // held under another name
            }
        }
        for (std::uint32_t t = 0; t < tier_count; t++) {
            if (count_in(kept, t) == 0) {
                index::change(held, name.offset, name.offset + 1, static_cast<tier_mask>(1u << t), false);
            }
        }
    }
    return held;
}

void builder::make_spares(std::uint32_t position) {
    const run_record r = record(position);
    const index::holders& holders = core_access::holders_of(m_core);
    const std::uint32_t run = m_made[position];
    r.for_each_spare([&](const index::spare_name& s) {
        if (!is_open(s.slot)) {
            return;
        }
        const tier_mask held = holders.tiers_at(run, s.slot, s.offset);
        const bool lost = m_lost.contains(position);
        bool bound = false;
        for (const std::uint32_t domain : {m_slots[s.slot]->domain, private_domain(s.slot)}) {
            const std::uint32_t number = m_memory.names.find(core_access::salted(s.name, domain));
            const storage::name_line& line = m_memory.lines[number >> 3];
            bound = bound || (number != 0 && line.run == run &&
                              line.step * names_per_line + (number & 7) - 1 == s.offset);
        }
        if (!bound || (s.tiers & ~held) != 0) {
            if (!lost) {
                refuse(position, "a slot holds a block under a name that is not the block's");
            }
            return;
        }
        m_memory.extra_of(run).spares.push_back(s);
    });
    settle_spares(position);
    m_memory.trim_extra(run);
}

/// Where a block has spares they say together what is held: a tier that none of them has could never be
/// removed.
void builder::settle_spares(std::uint32_t position) {
    const std::uint32_t run = m_made[position];
    const index::run_extra* extra = m_memory.find_extra(run);
    if (extra == nullptr) {
        return;
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, tier_mask> told; // (slot, block)
    for (const index::spare_name& s : extra->spares) {
        told[{s.slot, s.offset}] |= s.tiers;
    }
    index::holders& holders = core_access::holders_of(m_core);
    for (const auto& [block, tiers] : told) {
        const tier_mask held = holders.tiers_at(run, block.first, block.second);
        if (held != tiers && !m_lost.contains(position)) {
            refuse(position, "a slot holds a block in a tier that none of its names says");
        }
        for (std::uint32_t t = 0; t < tier_count; t++) {
            if (count_in(held & ~tiers, t) != 0) {
                holders.change(run, block.first, block.second, block.second + 1,
                               tier{static_cast<std::uint8_t>(t)}, false);
            }
        }
    }
}

/// A slot's own name and the domain's may be the same for two blocks; the slot holds at most one of them under
/// it.
void builder::settle_own_names() {
    index::names& names = core_access::names_of(m_core);
    for (const own_name& mine : m_own) {
        const std::uint32_t number = m_memory.names.find(mine.salted);
        const engine_hash name = mine.salted ^ core_access::salted(0, private_domain(mine.slot));
        const std::uint32_t shared = m_memory.names.find(core_access::salted(name, names.domain_of(mine.slot)));
        if (number == 0 || shared == 0) {
            continue;
        }
        const auto placed = [&](std::uint32_t n, bool own) {
            const storage::name_line& line = m_memory.lines[n >> 3];
            return index::named_place{{line.run, line.step * names_per_line + (n & 7) - 1}, line.plane, own};
        };
        index::named_place here = placed(number, true);
        index::named_place there = placed(shared, false);
        if (here.at == there.at || names.held_as(mine.slot, name, there) == 0) {
            continue;
        }
        const std::uint32_t position = m_position[here.at.run];
        conflict(position, "a slot means two blocks by one name");
        if (m_position[there.at.run] == position) {
            refuse(position, "a slot means two of its blocks by one name");
        }
        m_dropped_names++;
        const index::named_place& older = m_position[there.at.run] < position ? there : here;
        const tier_mask held = names.held_as(mine.slot, name, older);
        for (std::uint32_t t = 0; t < tier_count; t++) {
            if (count_in(held, t) != 0) {
                names.drop(mine.slot, name, older, tier{static_cast<std::uint8_t>(t)});
            }
        }
        if (older.own && held == 0) {
            core_access::erase_own(m_core, mine.slot, name);
        }
        core_access::content_of(m_core).review(older.at.run);
    }
}

} // namespace kvindex::snapshot
