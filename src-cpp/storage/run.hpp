/// A run: consecutive blocks of some prompt, stored once for all who hold any of them.
///
/// A run never splits. It grows and shrinks at its end only, so a block's place (run, offset) is its name
/// for as long as anyone holds the block. Prompts that part inside a run continue in child runs, which
/// hang at the offset of the last common block.
#pragma once

#include "base/memory_account.hpp"
#include "base/types.hpp"

#include <cstdint>

namespace kvindex::storage {

enum class run_id : std::uint32_t { none = 0xffffffffu };

/// Longest run. A bound on the copy when a run grows; a name keeps the offset in 28 bits.
inline constexpr std::uint32_t max_run_blocks = 1u << 24;

/// One block of the tree, or with run_id::none the root before every first block.
struct place {
    run_id run = run_id::none;
    std::uint32_t offset = 0;

    bool operator==(const place&) const = default;
};

inline constexpr place root{};

constexpr std::uint64_t pack(place p) {
    return std::uint64_t{static_cast<std::uint32_t>(p.run)} << 32 | p.offset;
}

/// One slot holds the blocks [begin, end) of a run in exactly these tiers, never none.
struct segment {
    std::uint16_t slot = 0;
    tier_mask tiers = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    bool operator==(const segment&) const = default;
};

static_assert(max_slots <= 0x10000, "segment::slot");

/// How many child runs hang behind one block.
struct branch {
    std::uint32_t offset = 0;
    std::uint32_t children = 0;
};

struct run {
    explicit run(memory_account& account)
        : locals(tracked_allocator<local_hash>(account)), holders(tracked_allocator<std::uint16_t>(account)),
          segments(tracked_allocator<segment>(account)), branches(tracked_allocator<branch>(account)) {
    }

    std::uint32_t size() const {
        return static_cast<std::uint32_t>(locals.size());
    }

    bool has_child_at(std::uint32_t offset) const {
        for (auto b = branches.rbegin(); b != branches.rend() && b->offset >= offset; ++b) {
            if (b->offset == offset) {
                return true;
            }
        }
        return false;
    }

    tracked_vector<local_hash> locals;     ///< content, one per block
    tracked_vector<std::uint16_t> holders; ///< slots that hold the block in any tier, one per block
    tracked_vector<segment> segments;      ///< ascending by (slot, begin), disjoint, equal neighbours joined
    tracked_vector<branch> branches;       ///< ascending by offset
    place parent;                          ///< the block before the first one
    run_id next = run_id::none;            ///< in the list of free or of marked runs
    bool live = false;
    bool marked = false; ///< may have an end that nobody needs
};

static_assert(max_slots <= 0xffff, "run::holders");

} // namespace kvindex::storage
