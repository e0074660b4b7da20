/// How blocks come to a slot and leave it: names, twins and coverage change together, stretch by stretch.
/// Each stretch first reserves all memory that it needs and then cannot fail.
#include "index/tree_index.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::name_entry;
using storage::twin_entry;

namespace {

// Stretches are handled in parts of this many names: long enough to hide the misses of the name table, short
// enough that the second look at a name finds it in the cache.
constexpr std::size_t part = 128;
constexpr std::size_t look_ahead = 8;

} // namespace

/// Lays the content behind `at` and lets the slot hold it under `names`, or only lays it when there are none.
/// Answers the last place.
place tree_index::lay(slot_state& s, slot_id slot, tier where, place at, std::span<const engine_hash> names,
                      std::span<const local_hash> locals) {
    std::size_t i = 0;
    while (i < locals.size()) {
        const stretch laid = m_tree.lay(at, locals.subspan(i));
        if (!names.empty()) {
            hold(s, slot, where, laid.first, names.subspan(i, laid.count));
        }
        at = {laid.first.run, laid.first.offset + laid.count - 1};
        i += laid.count;
    }
    return at;
}

void tree_index::hold(slot_state& s, slot_id slot, tier where, place first,
                      std::span<const engine_hash> names) {
    while (!names.empty()) {
        name_entry* e = s.names.find(names[0]);
        if (e != nullptr && e->where() != first) {
            release(s, slot, *e);
            m_moves++;
        }
        const std::size_t held = hold_some(s, slot, where, first, names.first(std::min(names.size(), part)));
        first.offset += static_cast<std::uint32_t>(held);
        names = names.subspan(held);
    }
}

/// Holds names up to the first one that lies elsewhere, at least one.
std::size_t tree_index::hold_some(slot_state& s, slot_id slot, tier where, place first,
                                  std::span<const engine_hash> names) {
    run& r = m_tree[first.run];
    const tier_mask bit = mask_of(where);
    const std::uint32_t begin = first.offset;
    std::size_t count = 0;
    std::size_t absent = 0;
    for (std::size_t i = 0; i < std::min(names.size(), look_ahead); i++) {
        s.names.prefetch(names[i]);
    }
    for (; count < names.size(); count++) {
        if (count + look_ahead < names.size()) {
            s.names.prefetch(names[count + look_ahead]);
        }
        const name_entry* e = s.names.find(names[count]);
        if (e != nullptr && e->where() != place{first.run, begin + static_cast<std::uint32_t>(count)}) {
            break;
        }
        absent += e == nullptr ? 1 : 0;
    }
    const std::uint32_t end = begin + static_cast<std::uint32_t>(count);
    const bool covered = absent != 0 && holds_any(r, slot, begin, end); // then twins may arise

    s.names.reserve(absent);
    if (covered) {
        s.twins.reserve(absent);
    }
    m_coverage.reserve(r, slot, begin, end);

    // From here on nothing fails.
    std::uint32_t offset = begin;
    for (; offset < end; offset++) {
        const place here{first.run, offset};
        const engine_hash name = names[offset - begin];
        name_entry* e = s.names.find(name);
        if (e == nullptr) {
            const tier_mask held = covered ? tiers_at(r, slot, offset) : tier_mask{0};
            if (held != 0) {
                add_twin(s, here, held, bit);
            }
            s.names.insert(name_entry::of(name, here, bit));
        } else if (e->where() != here) {
            break; // the same name twice in one event: the second place wins, by another turn
        } else if ((e->tiers() & bit) == 0) {
            e->set_tiers(e->tiers() | bit);
            if (twin_entry* twins = s.twins.find(here)) {
                twins->in_tier[static_cast<std::size_t>(where)]++;
            }
        }
    }
    m_coverage.change(r, slot, begin, offset, bit, 0);
    return offset - begin;
}

/// One more name, in the tier `bit`, for a place that is held in the tiers `held` already.
void tree_index::add_twin(slot_state& s, place where, tier_mask held, tier_mask bit) noexcept {
    twin_entry* twins = s.twins.find(where);
    if (twins == nullptr) {
        twin_entry first{.where = where, .names = 1};
        for (std::uint32_t t = 0; t < tier_count; t++) {
            first.in_tier[t] = count_in(held, t);
        }
        twins = s.twins.insert(first);
    }
    twins->names++;
    for (std::uint32_t t = 0; t < tier_count; t++) {
        twins->in_tier[t] += count_in(bit, t);
    }
}

/// One name of this place leaves `tiers`, with `last` its last ones. Answers the tiers that nobody else of
/// the slot's names holds.
tier_mask tree_index::drop_twin(slot_state& s, place where, tier_mask tiers, bool last) noexcept {
    twin_entry* twins = s.twins.find(where);
    if (twins == nullptr) {
        return tiers;
    }
    tier_mask gone = 0;
    for (std::uint32_t t = 0; t < tier_count; t++) {
        if (count_in(tiers, t) != 0 && --twins->in_tier[t] == 0) {
            gone |= static_cast<tier_mask>(1u << t);
        }
    }
    if (last && --twins->names == 1) {
        s.twins.erase(twins);
    }
    return gone;
}

/// The slot forgets one name, in all tiers.
void tree_index::release(slot_state& s, slot_id slot, name_entry& e) {
    const place where = e.where();
    run& r = m_tree[where.run];
    m_coverage.reserve(r, slot, where.offset, where.offset + 1);
    const tier_mask gone = drop_twin(s, where, e.tiers(), true);
    s.names.erase(&e);
    m_coverage.change(r, slot, where.offset, where.offset + 1, 0, gone);
    m_tree.mark(where.run);
}

/// Removes from one tier the names that lie beside each other, in either direction; 0 when the first one is
/// not in the tier. Engines evict from the end of a chain, so a whole eviction is one change of coverage.
std::size_t tree_index::drop_some(slot_state& s, slot_id slot, tier where, std::span<const engine_hash> names) {
    const tier_mask bit = mask_of(where);
    const name_entry* e = s.names.find(names[0]);
    if (e == nullptr || (e->tiers() & bit) == 0) {
        return 0;
    }
    const place first = e->where();
    std::uint32_t begin = first.offset;
    std::uint32_t end = begin + 1;
    std::size_t count = 1;
    // With twins, a name that leaves need not uncover its block: one block at a time.
    const std::size_t most = s.twins.empty() ? std::min(names.size(), part) : 1;
    for (std::size_t i = 1; i < std::min(most, look_ahead); i++) {
        s.names.prefetch(names[i]);
    }
    for (; count < most; count++) {
        if (count + look_ahead < most) {
            s.names.prefetch(names[count + look_ahead]);
        }
        e = s.names.find(names[count]);
        if (e == nullptr || (e->tiers() & bit) == 0 || e->run != first.run) {
            break;
        }
        const std::uint32_t offset = e->where().offset;
        if (offset == end) {
            end++;
        } else if (offset + 1 == begin) {
            begin--;
        } else {
            break;
        }
    }
    run& r = m_tree[first.run];
    m_coverage.reserve(r, slot, begin, end);

    // From here on nothing fails.
    tier_mask gone = bit;
    for (const engine_hash name : names.first(count)) {
        name_entry* held = s.names.find(name);
        const auto left = static_cast<tier_mask>(held->tiers() & ~bit);
        gone = drop_twin(s, held->where(), bit, left == 0);
        if (left == 0) {
            s.names.erase(held);
        } else {
            held->set_tiers(left);
        }
    }
    m_coverage.change(r, slot, begin, end, 0, gone);
    m_tree.mark(first.run);
    return count;
}

} // namespace kvindex::index
