#include "base/cost.hpp"

#include <algorithm>
#include <cmath>

namespace kvindex {
namespace {

bool within(double value, double low, double high) {
    return value >= low && value <= high; // false for NaN
}

/// `Together`: disk and external blocks have one credit. A copy of the terms and __restrict: the compiler must
/// see that nothing it reads is written, or it computes one slot at a time.
template <bool Together>
void costs_of_tiers(const cost_terms c, const std::uint32_t* __restrict depth, std::uint32_t stride,
                    const double* __restrict prefill, const double* __restrict base, std::uint32_t n,
                    double* __restrict out) {
    // Depths are below 2^31; signed numbers are what vector units turn into doubles.
    const auto most = static_cast<std::int32_t>(std::min(c.most_cached, 0x7fffffffu));
    const std::int32_t pool = std::min(static_cast<std::int32_t>(std::min(c.pool, 0x7fffffffu)), most);
    const std::uint32_t* __restrict row1 = depth + stride;
    const std::uint32_t* __restrict row2 = depth + 2 * std::size_t{stride};
    const std::uint32_t* __restrict row3 = depth + 3 * std::size_t{stride};
    const auto usable_part = [most](std::uint32_t blocks) {
        const auto signed_blocks = static_cast<std::int32_t>(blocks);
        return signed_blocks < most ? signed_blocks : most;
    };
    for (std::uint32_t i = 0; i < n; i++) {
        const std::int32_t gpu = usable_part(depth[i]);
        const std::int32_t host = usable_part(row1[i]);
        const std::int32_t external = usable_part(row3[i]);
        const std::int32_t pooled = pool - gpu;
        double cached = c.credit[0] * static_cast<double>(gpu) + c.credit[1] * static_cast<double>(host - gpu);
        if constexpr (Together) {
            cached += c.credit[2] * static_cast<double>(external - host);
        } else {
            const std::int32_t disk = usable_part(row2[i]);
            cached += c.credit[2] * static_cast<double>(disk - host);
            cached += c.credit[3] * static_cast<double>(external - disk);
        }
        cached += c.pool_credit * static_cast<double>(pooled > 0 ? pooled : 0);
        const double left = prefill[i] + c.prompt - cached * c.block;
        out[i] = c.weight * ((left > 0 ? left : 0.0) / c.unit) + (base[i] + c.added);
    }
}

} // namespace

bool usable(const cost_terms& c) {
    bool good =
        within(c.unit, 1 / greatest_term, greatest_term) && within(c.added, -greatest_term, greatest_term);
    for (const double value :
         {c.credit[0], c.credit[1], c.credit[2], c.credit[3], c.pool_credit, c.prompt, c.block, c.weight}) {
        good = good && within(value, 0, greatest_term);
    }
    return good;
}

bool usable(const double* row, std::size_t n, bool or_infinite) {
    bool good = true;
    for (std::size_t i = 0; i < n; i++) {
        good &= within(row[i], -greatest_term, greatest_term) || (or_infinite && row[i] == not_eligible);
    }
    return good;
}

void costs_of(const cost_terms& terms, const std::uint32_t* depth, std::uint32_t stride, const double* prefill,
              const double* base, std::uint32_t n, double* out) {
    if (terms.credit[2] == terms.credit[3]) {
        costs_of_tiers<true>(terms, depth, stride, prefill, base, n, out);
    } else {
        costs_of_tiers<false>(terms, depth, stride, prefill, base, n, out);
    }
}

least choose(const double* cost, std::uint32_t n, std::uint32_t k, choice* out) {
    const auto before = [](const choice& a, const choice& b) { return a.before(b); };
    least found;
    double lowest = not_eligible;
    double bar = not_eligible; // what the last of k costs: only less gets in, as slots come ascending
    for (std::uint32_t slot = 0; slot < n; slot++) {
        if (cost[slot] == lowest && lowest != not_eligible) {
            found.ties++;
        }
        if (!(cost[slot] < bar)) {
            continue;
        }
        if (cost[slot] < lowest) {
            lowest = cost[slot];
            found.ties = 1;
        }
        if (found.count == k) {
            std::pop_heap(out, out + k, before);
        } else {
            found.count++;
        }
        out[found.count - 1] = {.cost = cost[slot], .slot = slot};
        std::push_heap(out, out + found.count, before);
        if (found.count == k) {
            bar = out[0].cost;
        }
    }
    std::sort_heap(out, out + found.count, before);
    return found;
}

} // namespace kvindex
