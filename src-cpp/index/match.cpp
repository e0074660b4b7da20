/// The read path: one walk down the tree, run by run.
#include "index/tree_index.hpp"

#include "base/common_prefix.hpp"

#include <algorithm>

namespace kvindex::index {
namespace {

/// How far the intervals of one slot reach from the start of a run, at most `limit` blocks, per tier.
/// `s` is left behind the slot's intervals.
std::array<std::uint32_t, tier_count> reach(const segment*& s, const segment* end, std::uint32_t limit) {
    std::array<std::uint32_t, tier_count> reached{};
    const std::uint16_t slot = s->slot;
    tier_mask open = all_tiers;
    std::uint32_t contiguous = 0;
    for (; s != end && s->slot == slot; ++s) {
        if (s->begin != contiguous || contiguous >= limit || open == 0) {
            open = 0;
            continue;
        }
        for (std::uint32_t t = 0; t < tier_count; t++) {
            const auto bit = static_cast<tier_mask>(1u << t);
            if ((open & bit) != 0 && (s->tiers & mask_up_to(t)) != 0) {
                reached[t] = std::min(s->end, limit);
            } else {
                open = static_cast<tier_mask>(open & ~bit);
            }
        }
        contiguous = s->end;
    }
    return reached;
}

/// Slots that hold the first block of a run.
std::size_t holders_of_start(const run& r) {
    return static_cast<std::size_t>(
        std::count_if(r.segments.begin(), r.segments.end(), [](const segment& s) { return s.begin == 0; }));
}

/// Numbers of the hits that reach as deep as the walk, ascending. On the stack: a match does not allocate.
struct alive_hits {
    std::array<std::uint16_t, max_slots> hit; // NOLINT: written before it is read
    std::uint32_t count = 0;
};

/// The slots that hold the prompt's first run, the only ones that can have a hit.
std::uint32_t start_hits(const run& r, std::uint32_t matched, std::span<hit> out, alive_hits& alive) {
    std::uint32_t hits = 0;
    const segment* end = r.segments.data() + r.segments.size();
    for (const segment* s = r.segments.data(); s != end;) {
        const std::uint32_t slot = s->slot;
        const auto reached = reach(s, end, matched);
        if (reached[tier_count - 1] == 0) {
            continue;
        }
        if (reached[tier_count - 1] == matched) {
            alive.hit[alive.count++] = static_cast<std::uint16_t>(hits);
        }
        out[hits++] = {slot, reached};
    }
    return hits;
}

/// Extends the hits that reached `depth` by the `matched` blocks of the next run.
void extend_hits(const run& r, std::uint32_t depth, std::uint32_t matched, std::span<hit> out,
                 alive_hits& alive) {
    const segment* s = r.segments.data();
    const segment* const end = s + r.segments.size();
    const bool sparse = alive.count < r.segments.size() / 16; // then searching beats passing over
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < alive.count; i++) {
        hit& h = out[alive.hit[i]];
        const auto before = [&](const segment& x) { return x.slot < h.slot; };
        if (sparse) {
            s = std::partition_point(s, end, before);
        } else {
            while (s != end && before(*s)) {
                ++s;
            }
        }
        if (s == end) {
            break;
        }
        if (s->slot != h.slot) {
            continue;
        }
        const auto reached = reach(s, end, matched);
        for (std::uint32_t t = 0; t < tier_count; t++) {
            if (h.depth[t] == depth) {
                h.depth[t] += reached[t];
            }
        }
        if (reached[tier_count - 1] == matched) {
            alive.hit[left++] = alive.hit[i];
        }
    }
    alive.count = left;
}

} // namespace

match_result tree_index::match(std::span<const local_hash> locals, std::span<hit> out) const {
    match_result result;
    if (locals.empty()) {
        return result;
    }
    alive_hits alive;
    run_id id = m_tree.find_child(root, locals[0]);
    while (id != run_id::none) {
        const run& r = m_tree[id];
        const std::size_t most = std::min<std::size_t>(locals.size() - result.walked, r.size());
        const auto matched =
            static_cast<std::uint32_t>(common_prefix(locals.data() + result.walked, r.locals.data(), most));
        if (result.walked == 0) {
            if (r.segments.size() > out.size() && holders_of_start(r) > out.size()) {
                return {.fits = false};
            }
            result.hits = start_hits(r, matched, out, alive);
        } else {
            extend_hits(r, result.walked, matched, out, alive);
        }
        result.walked += matched;
        if (alive.count == 0 || result.walked == locals.size()) {
            break;
        }
        id = m_tree.find_child({id, matched - 1}, locals[result.walked]);
    }
    return result;
}

} // namespace kvindex::index
