/// One index core: up to core_slots slots, one writer, any number of readers.
///
/// walk() any thread, never waits. The rest: one thread at a time. apply() may throw std::bad_alloc: then the
/// event's start is applied and the rest is not; the same event, applied again, completes it.
#pragma once

#include "index/content.hpp"
#include "index/decisions.hpp"
#include "index/orphan_store.hpp"
#include "index/walk.hpp"

#include <optional>

namespace kvindex::index {

class core {
public:
    core(const limits& l, std::uint64_t orphan_limit, const decision_limits& d = {});

    /// `slot` is free and below core_slots.
    void open_slot(std::uint32_t slot, std::uint32_t domain, std::uint32_t name_space);

    /// Forgets everything of the slot; look-ups see nothing of it at once. O(runs that it holds).
    void close_slot(std::uint32_t slot);

    /// Event slots are core slots here.
    void apply(std::span<const event> events, applied_counts& counts);

    /// A slot that holds what decide() says; of events only CLEARED counts for it.
    void open_approximate_slot(std::uint32_t slot, std::uint32_t domain, std::uint32_t name_space);

    /// A request with these blocks went to the approximate slot at `now` (milliseconds). Answers how many
    /// blocks are new to the slot. Ends at most 16 decisions that are due, and what is above the capacity. May
    /// throw std::bad_alloc: then the decision is as long as memory lasted.
    std::uint64_t decide(std::uint32_t slot, std::span<const local_hash> locals, std::uint64_t now);

    /// Ends decisions that are due at `now`, at most `most`; answers how many.
    std::uint32_t expire(std::uint64_t now, std::uint32_t most);

    bool is_approximate(std::uint32_t slot) const {
        return m_decisions.is_approximate(slot);
    }

    /// For tests: look-ups by another instruction set, before any; false when this machine lacks it.
    bool use(isa wanted) {
        return m_view.use(wanted);
    }

    /// What look-ups need.
    const reader_view& view() const {
        return m_view;
    }

    statistics stats() const;
    std::string first_broken_invariant() const;

private:
    friend class invariant_check;
    friend struct snapshot::core_access;

    applied_counts apply_one(const event& e);
    applied_counts store(const stored_event& e);
    applied_counts remove(const removed_event& e);
    void clear(std::uint32_t slot, tier_mask tiers);
    bool lay(std::uint32_t slot, tier where, place& at, std::span<const engine_hash> names,
             std::span<const local_hash> locals);
    void hold(std::uint32_t slot, tier where, const laid_blocks& blocks, std::span<const engine_hash> names);
    void review_changed(std::uint32_t run) noexcept;
    void apply_ready();
    void tidy_if_due();
    void tidy();
    void keep_to_budget();
    std::uint64_t bytes_in_use() const;

    memory_account m_account;
    memory m_memory;
    holders m_holders;
    names m_names;
    content m_content;
    decisions m_decisions;
    orphan_store m_orphans;
    reader_view m_view;
    std::array<bool, storage::core_slots> m_open{};
    std::array<std::uint32_t, storage::core_slots> m_space{};
    std::vector<engine_hash> m_scratch;
    std::uint32_t m_since_tidy = 0;
    std::uint64_t m_budget;
    std::uint64_t m_refused = 0;
    bool m_full = false; // over budget with nothing left to give way
    std::uint32_t m_slots = 0;

    /// Events are looked at ahead of time, five times each, so many events before their turn: for the line of
    /// the name in the map, for the name's line, for its run, for what the run points to, for the names around.
    /// A batch of small events is otherwise a chain of cache misses each.
    struct look_ahead {
        static constexpr std::size_t first = 16;
        static constexpr std::size_t line = 12;
        static constexpr std::size_t run = 8;
        static constexpr std::size_t parts = 5;
        static constexpr std::size_t names = 2;
    };

    /// What is known of an event before its turn.
    struct glimpse {
        engine_hash name = 0;     ///< the first it looks for, salted
        std::uint32_t number = 0; ///< of the block that this seems to be
        place where{0, 0};
    };
    void look_for_name(const event& e, glimpse& g);
    void look_for_room(const event& e, const glimpse& g) const;
    void apply_and_tidy(const event& e, applied_counts& counts);
    std::array<glimpse, look_ahead::first> m_ahead{};
};

} // namespace kvindex::index
