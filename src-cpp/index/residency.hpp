/// What one slot holds of one run, in full: any blocks, in any tiers. Most holders need only one number (the
/// end of a prefix in GPU memory); this is for the others.
#pragma once

#include "base/types.hpp"

#include <array>
#include <vector>

namespace kvindex::index {

/// Blocks [begin, end), in exactly these tiers, never none.
struct stretch {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    tier_mask tiers = 0;

    bool operator==(const stretch&) const = default;
};

/// Ascending, disjoint, equal neighbours joined.
using residency = std::vector<stretch>;

/// How many blocks changed.
struct residency_change {
    std::uint32_t touched = 0; ///< blocks that got, or lost, the tier
    std::int32_t held = 0;     ///< blocks more (or less) that are held in any tier
};

/// Adds a tier to [begin, end), or takes it away.
residency_change change(residency& r, std::uint32_t begin, std::uint32_t end, tier_mask bit, bool add);

/// Contiguous blocks from the start in tier t or a faster one.
std::array<std::uint32_t, tier_count> ends_of(const residency& r);

tier_mask tiers_at(const residency& r, std::uint32_t block);

/// Only a prefix, only in GPU memory, or nothing: one number says it all.
inline bool is_simple(const residency& r) {
    return r.empty() || (r.size() == 1 && r[0].begin == 0 && r[0].tiers == mask_of(tier::gpu));
}

} // namespace kvindex::index
