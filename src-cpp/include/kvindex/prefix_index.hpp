/// The native prefix index: the only header that code outside src-cpp includes (with base/hashing.hpp).
///
/// match*(), stats()                        any thread, any time; never wait
/// open_slot(), close_slot(), apply()       any thread; one at a time, each whole
/// destructor                               not beside another call
///
/// Every depth that a look-up reports was true at some instant inside the call.
/// apply() may throw std::bad_alloc: see index/core.hpp for what holds then.
#pragma once

#include "base/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace kvindex {

struct options {
    std::uint64_t orphan_limit = 1u << 20;             ///< most blocks kept for want of a parent, per 1,024 slots
    std::uint64_t max_blocks = std::uint64_t{1} << 30; ///< reserves addresses (not memory), per 1,024 slots
    std::uint32_t ghost_percent = 15;                  ///< of all blocks may be kept though nobody holds them
    std::uint64_t ghost_floor = 1u << 14;              ///< this many may always
};

class prefix_index {
public:
    explicit prefix_index(const options& o = {});
    ~prefix_index();
    prefix_index(const prefix_index&) = delete;
    prefix_index& operator=(const prefix_index&) = delete;

    /// A new, empty slot with the lowest free number; empty when all max_slots are taken. Slots of one `domain`
    /// share engine hashes; `name_space` separates models.
    std::optional<slot_id> open_slot(std::uint32_t domain = 0, std::uint16_t name_space = 0);

    /// Forgets the slot; false when it was not open.
    bool close_slot(slot_id slot);

    /// Applies events in order. Look-ups may see the state within one of them.
    applied_counts apply(std::span<const event> events);

    /// Depths of every slot that holds the first block.
    match_result match(std::uint16_t name_space, std::span<const local_hash> locals, std::span<hit> out) const;

    /// depth[t * stride + slot number] for t < tiers (1 or all); every entry of open slots is written.
    /// `stride` must be at least slot_bound(). Answers the blocks looked at until nobody was left.
    std::uint32_t match_dense(std::uint16_t name_space, std::span<const local_hash> locals, std::uint32_t tiers,
                              std::uint32_t* depth, std::uint32_t stride) const;

    /// match() from tokens; hashes little more than what is held. `tokens` holds blocks * block_size ids.
    match_result match_tokens(std::uint16_t name_space, const std::uint32_t* tokens, std::uint32_t blocks,
                              std::uint32_t block_size, std::uint64_t seed, std::span<hit> out) const;

    /// Slots that were ever open have numbers below this, a multiple of 64.
    std::uint32_t slot_bound() const;

    statistics stats() const;

    /// For tests: the first invariant that does not hold, or empty.
    std::string first_broken_invariant() const;

private:
    struct state;
    std::unique_ptr<state> m_state;
};

} // namespace kvindex
