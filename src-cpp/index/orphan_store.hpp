/// Stored events whose slot does not hold their parent, waiting for it, oldest first.
///
/// Bounded: past the limit the oldest events are given up, which costs a cold prefill later and never a
/// wrong answer. A waiting event is applied when its parent comes, as if it came then. Removals strike
/// blocks out of waiting events; a struck block keeps its place, so those behind it stay behind it.
///
/// Not thread-safe.
#pragma once

#include "base/memory_account.hpp"
#include "base/types.hpp"
#include "storage/split_table.hpp"

#include <list>

namespace kvindex::index {

struct orphan;

struct orphan_block {
    engine_hash name = 0;
    bool struck = false;
    orphan* owner = nullptr;
    orphan_block* next = nullptr; // waiting blocks of the same (slot, tier, name)
    orphan_block* previous = nullptr;
};

struct orphan {
    explicit orphan(memory_account& account)
        : blocks(tracked_allocator<orphan_block>(account)), locals(tracked_allocator<local_hash>(account)) {
    }

    slot_id slot{};
    tier where = tier::gpu;
    engine_hash parent = 0;
    tracked_vector<orphan_block> blocks; ///< never resized once the event waits: blocks point at each other
    tracked_vector<local_hash> locals;
    std::uint64_t waiting = 0;      ///< blocks not struck
    orphan* next_sibling = nullptr; ///< waits for the same parent, younger
    orphan* previous_sibling = nullptr;
    orphan* next_ready = nullptr;
    bool ready = false;
    std::list<orphan, tracked_allocator<orphan>>::iterator self;
};

class orphan_store {
public:
    orphan_store(memory_account& account, std::uint64_t limit);

    /// Keeps a copy of the event. Throws std::bad_alloc without effect.
    void park(const stored_event& e);

    /// Strikes one name out of the slot's waiting events of this tier; false when there was none.
    bool strike(slot_id slot, tier where, engine_hash name) noexcept;

    /// The slot holds `name` now: what waits for it becomes ready, in the order in which it came.
    void wake(slot_id slot, engine_hash name) noexcept;

    /// The event that became ready first, or null. It stays the store's until settle() or postpone().
    orphan* first_ready() noexcept {
        return m_first_ready;
    }

    /// The first ready event was applied: forgets it.
    void settle() noexcept;

    /// The first ready event has no parent after all: waits on.
    void postpone() noexcept;

    /// Forgets the slot's waiting events of these tiers.
    void clear(slot_id slot, tier_mask tiers) noexcept;

    /// Gives up everything that waits and is not ready.
    void give_up_all() noexcept;

    /// Blocks that wait, not counting struck ones.
    std::uint64_t blocks() const {
        return m_blocks;
    }

    std::uint64_t given_up() const {
        return m_given_up;
    }

    bool empty() const {
        return m_by_age.empty();
    }

    template <typename F>
    void for_each(F&& f) const {
        for (const orphan& o : m_by_age) {
            f(o);
        }
    }

private:
    struct key {
        slot_id slot{};
        std::uint32_t kind = 0; // tier number; 0 in the table of parents
        engine_hash name = 0;

        bool operator==(const key&) const = default;
    };

    template <typename T>
    struct chain_traits {
        struct entry {
            key k;
            T* first = nullptr;
            T* last = nullptr;
        };
        using key = orphan_store::key;

        static const key& key_of(const entry& e) {
            return e.k;
        }

        static bool used(const entry& e) {
            return e.first != nullptr;
        }

        static std::uint64_t hash(const key& k) {
            return mix(mix(k.name) ^ (std::uint64_t{number_of(k.slot)} << 8 | k.kind));
        }
    };

    using block_chains = storage::split_table<chain_traits<orphan_block>>;
    using sibling_chains = storage::split_table<chain_traits<orphan>>;

    static key block_key(const orphan_block& b);
    static key parent_key(const orphan& o);
    void link(orphan_block& b) noexcept;
    void unlink(orphan_block& b) noexcept;
    void join_siblings(orphan& o) noexcept;
    void leave_siblings(orphan& o) noexcept;
    void drop(orphan& o) noexcept;
    void give_up_oldest() noexcept;
    void pop_ready() noexcept;
    void leave_ready(orphan& o) noexcept;

    memory_account& m_account;
    std::uint64_t m_limit;
    std::uint64_t m_blocks = 0;
    std::uint64_t m_given_up = 0;
    std::list<orphan, tracked_allocator<orphan>> m_by_age;
    block_chains m_named;
    sibling_chains m_waiting;
    tracked_vector<std::uint32_t> m_of_slot; // waiting events
    orphan* m_first_ready = nullptr;
    orphan* m_last_ready = nullptr;
};

} // namespace kvindex::index
