#include "index/residency.hpp"

#include <algorithm>

namespace kvindex::index {
namespace {

void append(residency& out, std::uint32_t begin, std::uint32_t end, tier_mask tiers) {
    if (begin >= end || tiers == 0) {
        return;
    }
    if (!out.empty() && out.back().end == begin && out.back().tiers == tiers) {
        out.back().end = end;
    } else {
        out.push_back({begin, end, tiers});
    }
}

} // namespace

residency_change change(residency& r, std::uint32_t begin, std::uint32_t end, tier_mask bit, bool add) {
    residency_change done;
    residency out;
    out.reserve(r.size() + 3);
    std::uint32_t at = begin; // [at, end) is still to be dealt with
    const auto gap_until = [&](std::uint32_t limit) {
        if (add && at < std::min(limit, end)) {
            const std::uint32_t to = std::min(limit, end);
            append(out, at, to, bit);
            done.touched += to - at;
            done.held += static_cast<std::int32_t>(to - at);
            at = to;
        }
    };
    for (const stretch& s : r) {
        if (s.end <= begin || s.begin >= end) {
            if (s.begin >= end) {
                gap_until(end);
            }
            append(out, s.begin, s.end, s.tiers);
            continue;
        }
        gap_until(s.begin);
        const std::uint32_t from = std::max(s.begin, begin);
        const std::uint32_t to = std::min(s.end, end);
        const auto after = static_cast<tier_mask>(add ? s.tiers | bit : s.tiers & ~bit);
        append(out, s.begin, from, s.tiers);
        append(out, from, to, after);
        append(out, to, s.end, s.tiers);
        done.touched += after != s.tiers ? to - from : 0;
        done.held -= after == 0 ? static_cast<std::int32_t>(to - from) : 0;
        at = to;
    }
    gap_until(end);
    r.swap(out);
    return done;
}

std::array<std::uint32_t, tier_count> ends_of(const residency& r) {
    std::array<std::uint32_t, tier_count> ends{};
    for (std::uint32_t t = 0; t < tier_count; t++) {
        for (const stretch& s : r) {
            if (s.begin != ends[t] || (s.tiers & mask_up_to(t)) == 0) {
                break;
            }
            ends[t] = s.end;
        }
    }
    return ends;
}

tier_mask tiers_at(const residency& r, std::uint32_t block) {
    for (const stretch& s : r) {
        if (block >= s.begin && block < s.end) {
            return s.tiers;
        }
    }
    return 0;
}

} // namespace kvindex::index
