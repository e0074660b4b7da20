/// The native prefix index: the only header that code outside src-cpp includes (with base/hashing.hpp).
///
/// match*(), stats()                        any thread, any time; wait while one part of a buffer is applied
/// open_slot(), close_slot(), apply()       any thread; one at a time, each whole
/// destructor                               not beside another call
///
/// apply() may throw std::bad_alloc: see index/tree_index.hpp for what holds then.
#pragma once

#include "base/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace kvindex {

class prefix_index {
public:
    static constexpr std::uint64_t default_orphan_limit = 1u << 20;

    /// `orphan_limit`: most blocks kept for want of a parent; 0 = default.
    explicit prefix_index(std::uint64_t orphan_limit = 0);
    ~prefix_index();
    prefix_index(const prefix_index&) = delete;
    prefix_index& operator=(const prefix_index&) = delete;

    /// A new, empty slot, the lowest free number; empty when all max_slots are taken.
    std::optional<slot_id> open_slot(std::uint64_t worker, std::uint32_t dp_rank);

    /// Forgets the slot; false when it was not open.
    bool close_slot(slot_id slot);

    /// Applies events in order. Look-ups may see the state between two of them.
    applied_counts apply(std::span<const event> events);

    /// Depths of every slot that holds the first block, at one instant.
    match_result match(std::span<const local_hash> locals, std::span<hit> out) const;

    /// The same from tokens; hashes little more than what is held. `tokens` holds blocks * block_size ids.
    match_result match_tokens(const std::uint32_t* tokens, std::uint32_t blocks, std::uint32_t block_size,
                              std::uint64_t seed, std::span<hit> out) const;

    statistics stats() const;

    /// For tests: the first invariant that does not hold, or empty.
    std::string first_broken_invariant() const;

    /// For tests: the n-th allocation of the tables from now fails, once; 0 = none.
    void fail_allocation(std::uint64_t n);

private:
    struct state;
    std::unique_ptr<state> m_state;
};

} // namespace kvindex
