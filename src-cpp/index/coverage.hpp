/// Who holds which blocks of a run, in which tiers: intervals per slot, any number of them, so a hole in
/// the middle of a chain is one more interval and nothing else moves.
///
/// coverage keeps the two sums over all runs that change with it. Not thread-safe; the free functions read
/// and may run in many threads.
#pragma once

#include "storage/run.hpp"

#include <array>
#include <span>

namespace kvindex::index {

using storage::run;
using storage::segment;

/// The intervals of one slot, ascending.
std::span<const segment> segments_of(const run& r, slot_id slot);

/// Tiers in which `slot` holds one block; 0 = not at all.
tier_mask tiers_at(const run& r, slot_id slot, std::uint32_t offset);

/// Whether `slot` holds any block of [begin, end).
bool holds_any(const run& r, slot_id slot, std::uint32_t begin, std::uint32_t end);

class coverage {
public:
    explicit coverage(memory_account& account);

    /// Makes room for one change() of this interval. Throws std::bad_alloc without effect.
    void reserve(run& r, slot_id slot, std::uint32_t begin, std::uint32_t end);

    /// The blocks [begin, end) gain the tiers `add` and lose `drop`. Needs reserve() of the same interval
    /// directly before.
    void change(run& r, slot_id slot, std::uint32_t begin, std::uint32_t end, tier_mask add,
                tier_mask drop) noexcept;

    /// The slot holds nothing of this run any more.
    void forget(run& r, slot_id slot) noexcept;

    /// Distinct blocks that somebody holds.
    std::uint64_t blocks() const {
        return m_blocks;
    }

    /// (slot, block) pairs.
    std::uint64_t residencies() const {
        return m_residencies;
    }

private:
    void gain(run& r, std::uint32_t begin, std::uint32_t end) noexcept;
    void lose(run& r, std::uint32_t begin, std::uint32_t end) noexcept;
    void emit(segment s) noexcept;

    std::uint64_t m_blocks = 0;
    std::uint64_t m_residencies = 0;
    tracked_vector<segment> m_scratch; // the intervals that replace the touched ones
};

} // namespace kvindex::index
