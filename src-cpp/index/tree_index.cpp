/// Opening, closing, counting, and what one event does at large. How blocks come and go: hold.cpp.
#include "index/tree_index.hpp"

namespace kvindex::index {
namespace {

/// Sweeps when an event ends, also when it ends by an exception: what was laid and is held by nobody goes.
class sweep_at_end {
public:
    explicit sweep_at_end(content_tree& tree) : m_tree(tree) {
    }
    sweep_at_end(const sweep_at_end&) = delete;
    sweep_at_end& operator=(const sweep_at_end&) = delete;

    ~sweep_at_end() {
        m_tree.sweep();
    }

private:
    content_tree& m_tree;
};

} // namespace

tree_index::tree_index(memory_account& account, std::uint64_t orphan_limit)
    : m_account(account), m_tree(account), m_coverage(account), m_orphans(account, orphan_limit),
      m_slots(tracked_allocator<std::unique_ptr<slot_state>>(account)),
      m_names(tracked_allocator<engine_hash>(account)) {
}

std::optional<slot_id> tree_index::open_slot(std::uint64_t worker, std::uint32_t dp_rank) {
    std::uint32_t number = 0;
    while (number < m_slots.size() && m_slots[number] != nullptr) {
        number++;
    }
    if (number == max_slots) {
        return std::nullopt;
    }
    auto state = std::make_unique<slot_state>(m_account, worker, dp_rank);
    if (number == m_slots.size()) {
        make_room(m_slots, 1);
        m_slots.push_back(std::move(state));
    } else {
        m_slots[number] = std::move(state);
    }
    m_open++;
    return slot_id{number};
}

bool tree_index::close_slot(slot_id slot) noexcept {
    slot_state* s = state_of(slot);
    if (s == nullptr) {
        return false;
    }
    clear(*s, slot);
    m_slots[number_of(slot)].reset();
    m_open--;
    return true;
}

applied_counts tree_index::apply(const event& e) {
    const slot_id slot = std::visit([](const auto& kind) { return kind.slot; }, e);
    slot_state* s = state_of(slot);
    if (s == nullptr) {
        return {.ignored = 1};
    }
    if (m_orphans.first_ready() != nullptr) {
        const sweep_at_end sweep(m_tree); // an event before this one ran out of memory here
        apply_ready();
    }
    if (const auto* stored = std::get_if<stored_event>(&e)) {
        return store(*s, *stored);
    }
    if (const auto* removed = std::get_if<removed_event>(&e)) {
        return remove(*s, *removed);
    }
    clear(*s, slot);
    return {.applied = 1};
}

applied_counts tree_index::store(slot_state& s, const stored_event& e) {
    place at = root;
    if (e.has_parent) {
        const storage::name_entry* parent = s.names.find(e.parent);
        if (parent == nullptr) {
            m_orphans.park(e);
            return {.orphans = 1};
        }
        at = parent->where();
    }
    const sweep_at_end sweep(m_tree);
    lay(s, e.slot, e.where, at, e.names, e.locals);
    if (!m_orphans.empty()) {
        for (const engine_hash name : e.names) {
            m_orphans.wake(e.slot, name);
        }
        apply_ready();
    }
    return {.applied = 1};
}

void tree_index::apply_ready() {
    while (orphan* o = m_orphans.first_ready()) {
        slot_state& s = *state_of(o->slot);
        const storage::name_entry* parent = s.names.find(o->parent);
        if (parent == nullptr) {
            m_orphans.postpone(); // only when memory ran out while the parent moved: it is at neither place
            continue;
        }
        // A struck block is not stored, but its content is laid: those behind it stay behind it.
        place at = parent->where();
        std::size_t i = 0;
        while (i < o->blocks.size()) {
            const bool struck = o->blocks[i].struck;
            std::size_t end = i;
            while (end < o->blocks.size() && o->blocks[end].struck == struck) {
                end++;
            }
            const std::span<const local_hash> locals{o->locals.data() + i, end - i};
            if (struck) {
                at = lay(s, o->slot, o->where, at, {}, locals);
            } else {
                m_names.clear();
                make_room(m_names, end - i);
                for (std::size_t k = i; k < end; k++) {
                    m_names.push_back(o->blocks[k].name);
                }
                at = lay(s, o->slot, o->where, at, m_names, locals);
            }
            i = end;
        }
        for (const orphan_block& b : o->blocks) {
            if (!b.struck) {
                m_orphans.wake(o->slot, b.name);
            }
        }
        m_orphans.settle();
    }
}

applied_counts tree_index::remove(slot_state& s, const removed_event& e) {
    const sweep_at_end sweep(m_tree);
    applied_counts counts{.applied = 1};
    const tier_mask bit = mask_of(e.where);
    std::size_t i = 0;
    while (i < e.names.size()) {
        const std::size_t dropped = drop_some(s, e.slot, e.where, e.names.subspan(i));
        for (std::size_t k = i; k < i + dropped && !m_orphans.empty(); k++) {
            m_orphans.strike(e.slot, e.where, e.names[k]);
        }
        i += dropped;
        // The next name, if any, is not in the tier, or begins another stretch.
        while (i < e.names.size()) {
            const storage::name_entry* held = s.names.find(e.names[i]);
            if (held != nullptr && (held->tiers() & bit) != 0) {
                break;
            }
            const bool waited = !m_orphans.empty() && m_orphans.strike(e.slot, e.where, e.names[i]);
            counts.unknown_removed += waited ? 0 : 1;
            i++;
        }
    }
    s.names.shrink();
    s.twins.shrink();
    return counts;
}

void tree_index::clear(slot_state& s, slot_id slot) noexcept {
    s.names.for_each([&](const storage::name_entry& e) {
        run& r = m_tree[e.run];
        if (!segments_of(r, slot).empty()) {
            m_coverage.forget(r, slot);
            m_tree.mark(e.run);
        }
    });
    s.names.clear();
    s.twins.clear();
    m_orphans.clear(slot);
    m_tree.sweep();
}

statistics tree_index::stats() const {
    return {.slots = m_open,
            .blocks = m_coverage.blocks(),
            .residencies = m_coverage.residencies(),
            .runs = m_tree.runs(),
            .orphans = m_orphans.blocks(),
            .bytes = m_account.bytes(),
            .moves = m_moves,
            .orphans_given_up = m_orphans.given_up()};
}

} // namespace kvindex::index
