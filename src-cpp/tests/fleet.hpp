/// A prefix index with short ways to say events, for tests that tell a story.
#pragma once

#include "kvindex/prefix_index.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kvindex::tests {

using names = std::vector<engine_hash>;
using locals = std::vector<local_hash>;
using depths = std::array<std::uint32_t, tier_count>;

class fleet {
public:
    explicit fleet(std::uint64_t orphan_limit = 0) : index(orphan_limit) {
    }

    slot_id open() {
        const auto slot = index.open_slot(1, 0);
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

    applied_counts clear(slot_id slot) {
        return apply(cleared_event{slot});
    }

    applied_counts apply(const event& e) {
        const applied_counts counts = index.apply({&e, 1});
        EXPECT_EQ(index.first_broken_invariant(), "");
        return counts;
    }

    /// Depths of one slot; all 0 without a hit.
    depths depth(slot_id slot, const locals& l) const {
        std::vector<hit> hits(max_slots);
        const match_result result = index.match(l, hits);
        EXPECT_TRUE(result.fits);
        for (std::uint32_t i = 0; i < result.hits; i++) {
            if (hits[i].slot == number_of(slot)) {
                return hits[i].depth;
            }
        }
        return {};
    }

    std::uint32_t gpu_depth(slot_id slot, const locals& l) const {
        return depth(slot, l)[0];
    }

    prefix_index index;
};

} // namespace kvindex::tests
