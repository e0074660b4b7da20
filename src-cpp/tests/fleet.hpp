/// A prefix index with short ways to say events, for tests that tell a story.
#pragma once

#include "kvindex/prefix_index.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kvindex::tests {

using names = std::vector<engine_hash>;
using locals = std::vector<local_hash>;
using depths = std::array<std::uint32_t, tier_count>;

/// A small index that keeps nothing for nobody, so that what is counted is what is held.
inline options small_options() {
    return {.max_blocks = 1u << 18, .ghost_percent = 0, .ghost_floor = 0};
}

inline options with_orphan_limit(std::uint64_t limit) {
    options o = small_options();
    o.orphan_limit = limit;
    return o;
}

class fleet {
public:
    explicit fleet(const options& o = small_options()) : index(o) {
    }

    slot_id open(std::uint32_t domain = 1, std::uint16_t name_space = 0) {
        const auto slot = index.open_slot(domain, name_space);
        EXPECT_TRUE(slot.has_value());
        return *slot;
    }

    /// Blocks from the start of a prompt.
    applied_counts store(slot_id slot, const names& n, const locals& l, tier where = tier::gpu) {
        return apply(stored_event{slot, where, false, 0, n, l});
    }

    applied_counts store_behind(engine_hash parent, slot_id slot, const names& n, const locals& l,
                                tier where = tier::gpu) {
        return apply(stored_event{slot, where, true, parent, n, l});
    }

    applied_counts remove(slot_id slot, const names& n, tier where = tier::gpu) {
        return apply(removed_event{slot, where, n});
    }

    applied_counts clear(slot_id slot, tier_mask tiers = all_tiers) {
        return apply(cleared_event{slot, tiers});
    }

    applied_counts apply(const event& e) {
        const applied_counts counts = index.apply({&e, 1});
        EXPECT_EQ(index.first_broken_invariant(), "");
        return counts;
    }

    /// Depths of one slot; all 0 without a hit.
    depths depth(slot_id slot, const locals& l, std::uint16_t name_space = 0) const {
        std::vector<hit> hits(max_slots);
        const match_result result = index.match(name_space, l, hits);
        EXPECT_TRUE(result.fits);
        for (std::uint32_t i = 0; i < result.hits; i++) {
            if (hits[i].slot == number_of(slot)) {
                return hits[i].depth;
            }
        }
        return {};
    }

    std::uint32_t gpu_depth(slot_id slot, const locals& l, std::uint16_t name_space = 0) const {
        return depth(slot, l, name_space)[0];
    }

    prefix_index index;
};

} // namespace kvindex::tests
