/// What it would cost to send a prompt to each slot, and which slots cost least. Plain arithmetic over rows.
///
/// The form is that of the router (src/docs/explanation/routing.md), which has it from Dynamo's cost function:
/// prefill work that is left after what is cached, by weight, and the blocks that decode.
///
///     d[t]   = min(depth[t], most_cached)
///     cached = credit[0] * d[0] + credit[1] * (d[1] - d[0]) + credit[2] * (d[2] - d[1])
///              + credit[3] * (d[3] - d[2]) + pool_credit * max(0, min(pool, most_cached) - d[0])
///     cost   = weight * (max(0, prefill[slot] + prompt - cached * block) / unit) + (base[slot] + added)
///
/// Every operation is in double and rounded by itself (-ffp-contract=off), in the order written, from the left.
/// When the last two credits are equal they are one term, credit[2] * (d[3] - d[1]): the source weighs disk and
/// external blocks together. So the numbers are the router's own, to the last bit.
#pragma once

#include "base/types.hpp"

#include <limits>
#include <vector>

namespace kvindex {

struct cost_terms {
    std::array<double, tier_count> credit{}; ///< what a cached block is worth of a computed one
    double pool_credit = 0;                  ///< the same for a block of the shared pool
    double prompt = 0;                       ///< prefill work of the prompt, as if nothing were cached
    double block = 1;                        ///< prefill work of one block
    double unit = 1;                         ///< prefill work is divided by this
    double weight = 1;
    double added = 0;                        ///< to every cost
    std::uint32_t most_cached = 0xffffffffu; ///< blocks that may come from a cache, at most
    std::uint32_t pool = 0;                  ///< blocks from the start that the shared pool has
};

/// Numbers of this size cannot run over to infinity on the way; with them, no cost is NaN.
inline constexpr double greatest_term = 1e30;

/// From a row of prefill work or of base costs: finite, or +inf for a slot that does not take part.
inline constexpr double not_eligible = std::numeric_limits<double>::infinity();

/// False: a number is not finite, negative where that means nothing, too great, or the unit is too small.
bool usable(const cost_terms& terms);

/// Whether all `n` numbers are finite and not too great; `or_infinite`: or +inf.
bool usable(const double* row, std::size_t n, bool or_infinite);

/// One slot, with its cost. Low cost first, then low slot.
struct choice {
    double cost = 0;
    std::uint32_t slot = 0;
    std::array<std::uint32_t, tier_count> depth{};
    std::uint32_t reserved = 0;

    bool before(const choice& o) const {
        return cost < o.cost || (cost == o.cost && slot < o.slot);
    }
};

/// out[slot] for slots below `n`. Depths of tier t begin at depth + t * stride and are below 2^31.
void costs_of(const cost_terms& terms, const std::uint32_t* depth, std::uint32_t stride, const double* prefill,
              const double* base, std::uint32_t n, double* out);

struct least {
    std::uint32_t count = 0; ///< chosen, at most k
    std::uint32_t ties = 0;  ///< eligible slots that share the least cost
};

/// The k slots of least finite cost, ascending, into `out` (cost and slot only). O(n + found * log k).
least choose(const double* cost, std::uint32_t n, std::uint32_t k, choice* out);

} // namespace kvindex
