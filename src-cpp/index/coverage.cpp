#include "index/coverage.hpp"

#include <algorithm>

namespace kvindex::index {
namespace {

struct touched {
    std::size_t first = 0;
    std::size_t last = 0; // one past
};

bool before(const segment& s, std::uint32_t slot, std::uint32_t end) {
    return s.slot != slot ? s.slot < slot : s.end < end;
}

/// The slot's intervals that overlap or touch [begin, end).
touched find_touched(const run& r, slot_id slot, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t number = number_of(slot);
    const auto first = std::partition_point(r.segments.begin(), r.segments.end(),
                                            [&](const segment& s) { return before(s, number, begin); });
    auto last = first;
    while (last != r.segments.end() && last->slot == number && last->begin <= end) {
        ++last;
    }
    return {static_cast<std::size_t>(first - r.segments.begin()),
            static_cast<std::size_t>(last - r.segments.begin())};
}

} // namespace

std::span<const segment> segments_of(const run& r, slot_id slot) {
    const std::uint32_t number = number_of(slot);
    const auto first = std::partition_point(r.segments.begin(), r.segments.end(),
                                            [&](const segment& s) { return s.slot < number; });
    auto last = first;
    while (last != r.segments.end() && last->slot == number) {
        ++last;
    }
    return {first, last};
}

tier_mask tiers_at(const run& r, slot_id slot, std::uint32_t offset) {
    const touched t = find_touched(r, slot, offset, offset + 1);
    for (std::size_t i = t.first; i < t.last; i++) {
        const segment& s = r.segments[i];
        if (s.begin <= offset && offset < s.end) {
            return s.tiers;
        }
    }
    return 0;
}

bool holds_any(const run& r, slot_id slot, std::uint32_t begin, std::uint32_t end) {
    const touched t = find_touched(r, slot, begin, end);
    for (std::size_t i = t.first; i < t.last; i++) {
        if (r.segments[i].begin < end && begin < r.segments[i].end) {
            return true;
        }
    }
    return false;
}

coverage::coverage(memory_account& account) : m_scratch(tracked_allocator<segment>(account)) {
}

void coverage::reserve(run& r, slot_id slot, std::uint32_t begin, std::uint32_t end) {
    const touched t = find_touched(r, slot, begin, end);
    // n touched intervals have n + 1 gaps, and the two outer ones may be cut.
    const std::size_t replaced = t.last - t.first;
    const std::size_t most = 2 * replaced + 3;
    m_scratch.clear();
    make_room(m_scratch, most);
    make_room(r.segments, most - replaced);
}

void coverage::change(run& r, slot_id slot, std::uint32_t begin, std::uint32_t end, tier_mask add,
                      tier_mask drop) noexcept {
    const touched t = find_touched(r, slot, begin, end);
    const auto number = static_cast<std::uint16_t>(number_of(slot));
    m_scratch.clear();
    std::uint32_t done = begin; // [begin, done) is settled
    const auto fill_gap = [&](std::uint32_t until) {
        if (add != 0 && done < until) {
            emit({number, add, done, until});
            gain(r, done, until);
        }
        done = std::max(done, until);
    };
    for (std::size_t i = t.first; i < t.last; i++) {
        const segment s = r.segments[i];
        if (s.begin < begin) {
            emit({number, s.tiers, s.begin, std::min(s.end, begin)});
        }
        fill_gap(std::clamp(s.begin, begin, end));
        const std::uint32_t from = std::max(s.begin, begin);
        const std::uint32_t to = std::min(s.end, end);
        if (from < to) {
            const auto tiers = static_cast<tier_mask>((s.tiers | add) & ~drop);
            if (tiers != 0) {
                emit({number, tiers, from, to});
            } else {
                lose(r, from, to);
            }
            done = to;
        }
        if (s.end > end) {
            emit({number, s.tiers, std::max(s.begin, end), s.end});
        }
    }
    fill_gap(end);

    const auto at = [&](std::size_t i) { return r.segments.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t was = t.last - t.first;
    const std::size_t same = std::min(was, m_scratch.size());
    std::copy_n(m_scratch.begin(), same, at(t.first));
    if (m_scratch.size() > was) {
        const auto rest = m_scratch.begin() + static_cast<std::ptrdiff_t>(same);
        r.segments.insert(at(t.last), rest, m_scratch.end());
    } else {
        r.segments.erase(at(t.first + same), at(t.last));
    }
}

void coverage::forget(run& r, slot_id slot) noexcept {
    const std::span<const segment> own = segments_of(r, slot);
    for (const segment& s : own) {
        lose(r, s.begin, s.end);
    }
    const auto first = r.segments.begin() + (own.data() - r.segments.data());
    r.segments.erase(first, first + static_cast<std::ptrdiff_t>(own.size()));
    trim_room(r.segments);
}

void coverage::gain(run& r, std::uint32_t begin, std::uint32_t end) noexcept {
    for (std::uint32_t i = begin; i < end; i++) {
        m_blocks += r.holders[i]++ == 0 ? 1u : 0u;
    }
    m_residencies += end - begin;
}

void coverage::lose(run& r, std::uint32_t begin, std::uint32_t end) noexcept {
    for (std::uint32_t i = begin; i < end; i++) {
        m_blocks -= --r.holders[i] == 0 ? 1u : 0u;
    }
    m_residencies -= end - begin;
}

void coverage::emit(segment s) noexcept {
    if (!m_scratch.empty() && m_scratch.back().end == s.begin && m_scratch.back().tiers == s.tiers) {
        m_scratch.back().end = s.end;
    } else {
        m_scratch.push_back(s);
    }
}

} // namespace kvindex::index
