/// The prefix index: which slot holds which prefix, in which tiers. Exact, for any order of events.
///
/// Rules (the literal oracle in tests/oracle.hpp says the same without a tree):
///   - A slot maps engine hash to (place, tiers). A place is the chain of local hashes from the start.
///   - A stored event continues at the place of its parent, if the slot holds the parent in some tier now;
///     else it waits and is applied when the parent comes, as if it came then.
///   - A hash stored again at its place gains the tier. Stored at another place it moves there and is
///     forgotten at the old one; what lies behind it stays where it is.
///   - Two hashes of one slot with one place: the slot holds the block while either stays.
///   - Removing a block leaves those behind it: they count again when the hole is filled.
///
/// Not thread-safe: match() and stats() may run in many threads beside each other, nothing beside a change.
///
/// On std::bad_alloc from apply(): what lies before the failing stretch of blocks is applied, the rest is
/// not, every invariant holds, and the same event applied again completes it (an event that moves names may
/// leave a name that moves twice at the other of its two places).
#pragma once

#include "index/content_tree.hpp"
#include "index/coverage.hpp"
#include "index/orphan_store.hpp"

#include <memory>
#include <optional>
#include <string>

namespace kvindex::index {

/// One open slot.
struct slot_state {
    slot_state(memory_account& account, std::uint64_t worker_id, std::uint32_t rank)
        : worker(worker_id), dp_rank(rank), names(account), twins(account) {
    }

    std::uint64_t worker;
    std::uint32_t dp_rank;
    storage::name_table names;
    storage::twin_table twins;
};

class tree_index {
public:
    /// `account` outlives the index. `orphan_limit`: most blocks that wait for a parent.
    tree_index(memory_account& account, std::uint64_t orphan_limit);

    /// The lowest free slot; empty when all are taken.
    std::optional<slot_id> open_slot(std::uint64_t worker, std::uint32_t dp_rank);

    /// False when it was not open. O(blocks of the slot).
    bool close_slot(slot_id slot) noexcept;

    /// O(blocks of the event).
    applied_counts apply(const event& e);

    /// Depths of every slot that holds the first block. Does not allocate. O(runs on the way * holders).
    match_result match(std::span<const local_hash> locals, std::span<hit> out) const;

    statistics stats() const;

    /// Checks everything against everything, slowly; the first thing that is wrong, or empty. For tests.
    std::string first_broken_invariant() const;

private:
    friend class invariant_check;

    slot_state* state_of(slot_id slot) {
        return number_of(slot) < m_slots.size() ? m_slots[number_of(slot)].get() : nullptr;
    }

    applied_counts store(slot_state& s, const stored_event& e);
    applied_counts remove(slot_state& s, const removed_event& e);
    void clear(slot_state& s, slot_id slot) noexcept;

    void apply_ready();
    place lay(slot_state& s, slot_id slot, tier where, place at, std::span<const engine_hash> names,
              std::span<const local_hash> locals);
    void hold(slot_state& s, slot_id slot, tier where, place first, std::span<const engine_hash> names);
    std::size_t hold_some(slot_state& s, slot_id slot, tier where, place first,
                          std::span<const engine_hash> names);
    void add_twin(slot_state& s, place where, tier_mask held, tier_mask bit) noexcept;
    tier_mask drop_twin(slot_state& s, place where, tier_mask tiers, bool last) noexcept;
    void release(slot_state& s, slot_id slot, storage::name_entry& e);
    std::size_t drop_some(slot_state& s, slot_id slot, tier where, std::span<const engine_hash> names);

    memory_account& m_account;
    content_tree m_tree;
    coverage m_coverage;
    orphan_store m_orphans;
    tracked_vector<std::unique_ptr<slot_state>> m_slots;
    tracked_vector<engine_hash> m_names; // scratch: names of the waiting event that is being applied
    std::uint64_t m_open = 0;
    std::uint64_t m_moves = 0;
};

} // namespace kvindex::index
