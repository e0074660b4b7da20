/// Questions beyond one look-up: several at once, the best slots by cost, a bound on the work.
#pragma once

#include "base/cost.hpp"
#include "base/types.hpp"

#include <span>

namespace kvindex {

/// One prompt that is asked for.
struct query {
    std::span<const local_hash> locals{};
    std::uint16_t name_space = 0;
    std::uint32_t budget = 0; ///< steps, see options::query_budget; 0 = the index's
};

/// How a look-up went.
struct looked {
    std::uint32_t cut_short = 0; ///< 1: the budget was used up, depths may be too small
    std::uint32_t steps = 0;     ///< spent, in all cores
};

/// How best() went for one query.
struct best_found {
    std::uint32_t count = 0; ///< choices written
    std::uint32_t ties = 0;  ///< eligible slots that share the least cost
    looked how{};
};

} // namespace kvindex
