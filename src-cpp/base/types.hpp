/// Values that every layer speaks: hashes, tiers, slots, events, answers. No behaviour.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>

namespace kvindex {

/// Name that an engine gives to a block. Opaque; unique within a slot, not between slots.
using engine_hash = std::uint64_t;

/// XXH3-64 of one block's tokens, the same for every engine. See hashing.hpp.
using local_hash = std::uint64_t;

/// Where a block lies on a worker, fastest first.
enum class tier : std::uint8_t { gpu = 0, host = 1, disk = 2, external = 3 };

inline constexpr std::uint32_t tier_count = 4;

/// A set of tiers, one bit per tier number.
using tier_mask = std::uint8_t;

inline constexpr tier_mask all_tiers = (1u << tier_count) - 1u;

constexpr tier_mask mask_of(tier t) {
    return static_cast<tier_mask>(1u << static_cast<unsigned>(t));
}

/// Tier number `t` and every faster one.
constexpr tier_mask mask_up_to(std::uint32_t t) {
    return static_cast<tier_mask>((2u << t) - 1u);
}

/// 1 when the set holds tier number `t`, else 0.
constexpr std::uint32_t count_in(tier_mask tiers, std::uint32_t t) {
    return (tiers & (1u << t)) != 0 ? 1 : 0;
}

/// One incarnation of one (worker, dp rank): slot number in the low bits, above it how often that number was
/// given out before. Events of an older incarnation change nothing.
enum class slot_id : std::uint32_t {};

inline constexpr std::uint32_t slot_number_bits = 14;
inline constexpr std::uint32_t max_slots = 1u << slot_number_bits;

constexpr std::uint32_t number_of(slot_id slot) {
    return static_cast<std::uint32_t>(slot) & (max_slots - 1);
}

constexpr std::uint32_t incarnation_of(slot_id slot) {
    return static_cast<std::uint32_t>(slot) >> slot_number_bits;
}

/// Consecutive blocks now lie in a tier; `names` and `locals` are equally long, at least 1.
struct stored_event {
    slot_id slot{};
    tier where = tier::gpu;
    bool has_parent = false;
    engine_hash parent = 0; ///< the block before the first one; meaningless without has_parent
    std::span<const engine_hash> names{};
    std::span<const local_hash> locals{};
};

/// These blocks left one tier.
struct removed_event {
    slot_id slot{};
    tier where = tier::gpu;
    std::span<const engine_hash> names{};
};

/// Every block of these tiers of the slot is gone, the waiting ones too.
struct cleared_event {
    slot_id slot{};
    tier_mask tiers = all_tiers;
};

using event = std::variant<stored_event, removed_event, cleared_event>;

inline slot_id slot_of(const event& e) {
    return std::visit([](const auto& kind) { return kind.slot; }, e);
}

/// What became of some events.
struct applied_counts {
    std::uint64_t applied = 0;         ///< events that changed or confirmed the index
    std::uint64_t orphans = 0;         ///< stored events kept aside for want of their parent
    std::uint64_t unknown_removed = 0; ///< hashes to remove that were not in that tier
    std::uint64_t ignored = 0;         ///< events of a slot that is not open, or that takes none

    applied_counts& operator+=(const applied_counts& o) {
        applied += o.applied;
        orphans += o.orphans;
        unknown_removed += o.unknown_removed;
        ignored += o.ignored;
        return *this;
    }
};

/// Depths of one slot in blocks: depth[t] counts the blocks from the start that lie, without a gap,
/// in tier t or a faster one.
struct hit {
    std::uint32_t slot = 0; ///< number
    std::array<std::uint32_t, tier_count> depth{};
};

/// Blocks that one slot holds in each tier; a block that lies in two counts in both.
using tier_blocks = std::array<std::uint64_t, tier_count>;

struct match_result {
    bool fits = true;         ///< false: more hits than room, nothing was written
    std::uint32_t hits = 0;   ///< written, ascending by slot
    std::uint32_t walked = 0; ///< blocks looked at until nobody was left; all of them = undecided
};

struct statistics {
    std::uint64_t slots = 0;
    std::uint64_t blocks = 0;      ///< distinct blocks in the tree, those kept for nobody included
    std::uint64_t ghosts = 0;      ///< blocks kept for a while though nobody holds them or what follows
    std::uint64_t residencies = 0; ///< (slot, block) pairs, once however many tiers or names
    std::uint64_t runs = 0;
    std::uint64_t orphans = 0;          ///< blocks of waiting events
    std::uint64_t bytes = 0;            ///< memory of the tables
    std::uint64_t bytes_in_use = 0;     ///< of that, what holds something now; the byte budget is about this
    std::uint64_t refused = 0;          ///< blocks not stored for want of budget, since the beginning
    std::uint64_t conflicts = 0;        ///< names that a slot has for itself, since the beginning
    std::uint64_t moves = 0;            ///< names stored again at another place, since the beginning
    std::uint64_t orphans_given_up = 0; ///< waiting blocks dropped at the limit, since the beginning
    std::uint64_t decisions = 0;        ///< not ended, and not superseded by a later one
    std::uint64_t decisions_ended_by_time = 0;     ///< since the beginning
    std::uint64_t decisions_ended_by_capacity = 0; ///< since the beginning

    statistics& operator+=(const statistics& o) {
        slots += o.slots;
        blocks += o.blocks;
        ghosts += o.ghosts;
        residencies += o.residencies;
        runs += o.runs;
        orphans += o.orphans;
        bytes += o.bytes;
        bytes_in_use += o.bytes_in_use;
        refused += o.refused;
        conflicts += o.conflicts;
        moves += o.moves;
        orphans_given_up += o.orphans_given_up;
        decisions += o.decisions;
        decisions_ended_by_time += o.decisions_ended_by_time;
        decisions_ended_by_capacity += o.decisions_ended_by_capacity;
        return *this;
    }
};

} // namespace kvindex
