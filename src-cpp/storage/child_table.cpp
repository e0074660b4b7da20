#include "storage/child_table.hpp"

namespace kvindex::storage {
namespace {

constexpr std::uint32_t granules_for_directory(std::uint32_t depth) {
    return ((1u << depth) + 1 + 7) / 8;
}

} // namespace

child_table::child_table(granule_arena& memory, reclaimer& reclaim, const run_head* runs)
    : m_memory(memory), m_reclaim(reclaim), m_runs(runs) {
    m_segments.push_back(make(first_lines, 0));
    m_numbers.push_back(0);
    const std::uint32_t at = m_memory.take(granules_for_directory(0));
    words(at)[0].store(0, std::memory_order_relaxed);
    m_directory.store(at, std::memory_order_relaxed);
    point_at(0, 1, m_segments[0], 0);
}

child_table::segment child_table::make(std::uint32_t lines, std::uint32_t depth) {
    const segment s{.at = m_memory.take(lines), .lines = lines, .used = 0, .depth = depth};
    std::atomic<std::uint64_t>* w = words(s.at);
    for (std::uint32_t i = 0; i < lines * 8; i++) {
        w[i].store(0, std::memory_order_relaxed);
    }
    return s;
}

std::uint64_t child_table::hash_of_run(std::uint32_t run) const {
    const run_head& r = m_runs[run];
    return hash_of({r.parent.load(std::memory_order_relaxed), r.parent_at.load(std::memory_order_relaxed)},
                   r.first.load(std::memory_order_relaxed));
}

void child_table::put(segment& s, std::uint64_t hash, std::uint32_t run) {
    s.used++;
    std::atomic<std::uint64_t>* const w = words(s.at);
    for (std::uint64_t at = hash & (s.lines - 1);; at = (at + 1) & (s.lines - 1)) {
        std::atomic<std::uint64_t>* line = w + at * 8;
        for (std::uint32_t i = 0; i < per_line; i++) {
            if (line[i].load(std::memory_order_relaxed) == 0) {
                // Release: pairs with find(); the run's head was written before.
                line[i].store(hash >> 32 << 32 | run, std::memory_order_release);
                return;
            }
        }
        // Release, before the entry itself: whoever finds the entry's line was told to look on.
        line[per_line].store(line[per_line].load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
}

void child_table::insert(place parent, local_hash local, std::uint32_t run) {
    const std::uint64_t hash = hash_of(parent, local);
    for (;;) {
        const std::uint32_t which = m_numbers[hash >> 1 >> (63 - depth())];
        segment& s = m_segments[which];
        const bool grown_up = s.lines == most_lines && s.depth == most_depth;
        // Seven tenths full at most, unless there is no other way.
        if ((s.used + 1) * 10 <= s.lines * (per_line * 7) || (grown_up && s.used < s.lines * per_line)) {
            put(s, hash, run);
            m_size++;
            return;
        }
        if (grown_up) {
            throw std::bad_alloc();
        }
        grow(which);
    }
}

void child_table::erase(place parent, local_hash local, std::uint32_t run) {
    const std::uint64_t hash = hash_of(parent, local);
    segment& s = m_segments[m_numbers[hash >> 1 >> (63 - depth())]];
    std::atomic<std::uint64_t>* const w = words(s.at);
    for (std::uint64_t at = hash & (s.lines - 1);; at = (at + 1) & (s.lines - 1)) {
        std::atomic<std::uint64_t>* line = w + at * 8;
        for (std::uint32_t i = 0; i < per_line; i++) {
            if (static_cast<std::uint32_t>(line[i].load(std::memory_order_relaxed)) == run) {
                line[i].store(0, std::memory_order_release);
                s.used--;
                m_size--;
                for (std::uint64_t back = hash & (s.lines - 1); back != at; back = (back + 1) & (s.lines - 1)) {
                    std::atomic<std::uint64_t>& passed = w[back * 8 + per_line];
                    passed.store(passed.load(std::memory_order_relaxed) - 1, std::memory_order_release);
                }
                return;
            }
        }
        if (line[per_line].load(std::memory_order_relaxed) == 0 || at == ((hash - 1) & (s.lines - 1))) {
            return;
        }
    }
}

void child_table::point_at(std::uint32_t first, std::uint32_t count, const segment& s, std::uint32_t number) {
    std::atomic<std::uint64_t>* d = words(m_directory.load(std::memory_order_relaxed)) + 1;
    const std::uint64_t ref = std::uint64_t{s.at} << 8 | static_cast<std::uint32_t>(std::countr_zero(s.lines));
    for (std::uint32_t i = first; i < first + count; i++) {
        m_numbers[i] = number;
        // Release: pairs with of(); the segment was filled before.
        d[i].store(ref, std::memory_order_release);
    }
}

void child_table::double_directory() {
    const std::uint32_t old_depth = depth();
    const std::uint32_t old = m_directory.load(std::memory_order_relaxed);
    std::vector<std::uint32_t> numbers(m_numbers.size() * 2);
    const std::uint32_t made = m_memory.take(granules_for_directory(old_depth + 1));
    words(made)[0].store(old_depth + 1, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < numbers.size(); i++) {
        numbers[i] = m_numbers[i / 2];
        words(made)[1 + i].store(words(old)[1 + i / 2].load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
    }
    m_numbers.swap(numbers);
    // Release: pairs with of().
    m_directory.store(made, std::memory_order_release);
    m_reclaim.retire(m_memory, old, granules_for_directory(old_depth));
}

/// Twice the lines, or two segments in the place of one; the old lines are left as they are for readers.
void child_table::grow(std::uint32_t which) {
    const segment old = m_segments[which];
    const bool split = old.lines == most_lines;
    m_reclaim.make_room(2); // all that may fail comes first
    m_segments.reserve(m_segments.size() + 1);
    if (split && old.depth == depth()) {
        double_directory();
    }
    segment lower = make(split ? old.lines : old.lines * 2, old.depth + (split ? 1 : 0));
    segment upper;
    if (split) {
        try {
            upper = make(old.lines, old.depth + 1);
        } catch (...) {
            m_memory.give_back(lower.at, lower.lines);
            throw;
        }
    }
    const std::atomic<std::uint64_t>* w = words(old.at);
    for (std::uint32_t i = 0; i < old.lines * 8; i++) {
        const auto run = static_cast<std::uint32_t>(w[i].load(std::memory_order_relaxed));
        if (i % 8 != per_line && run != 0) {
            const std::uint64_t hash = hash_of_run(run);
            put(split && (hash >> (64 - lower.depth) & 1) != 0 ? upper : lower, hash, run);
        }
    }
    m_segments[which] = lower;
    std::uint32_t first = 0;
    while (m_numbers[first] != which) {
        first++;
    }
    const std::uint32_t span = 1u << (depth() - lower.depth);
    point_at(first, span, lower, which);
    if (split) {
        m_segments.push_back(upper);
        point_at(first + span, span, upper, static_cast<std::uint32_t>(m_segments.size() - 1));
    }
    m_reclaim.retire(m_memory, old.at, old.lines);
}

std::uint64_t child_table::bytes() const {
    std::uint64_t lines = granules_for_directory(depth());
    for (const segment& s : m_segments) {
        lines += s.lines;
    }
    return lines * sizeof(granule) + m_segments.capacity() * sizeof(segment) +
           m_numbers.capacity() * sizeof(std::uint32_t);
}

} // namespace kvindex::storage
