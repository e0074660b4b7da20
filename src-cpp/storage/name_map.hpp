/// Engine hash -> block, for all slots together: one entry per name, not per holder.
///
/// Lines of 64 bytes: ten tags of 16 bits, the number of entries that found this line full with a filter of
/// their tags (so that a search rarely needs a second line, a second cache miss), ten block numbers.
/// The names themselves are in the name lines; a tag that fits is checked there. A block number is
/// name line * 8 + 1 + index in the line, never 0.
///
/// Grows by splitting one segment of at most 8,192 lines at a time (extendible hashing), so that no insert
/// takes longer than some hundred microseconds however many names there are. Writer only; not thread-safe.
#pragma once

#include "base/mix.hpp"
#include "base/prefetch.hpp"
#include "storage/granules.hpp"
#include "storage/layout.hpp"

#include <vector>

namespace kvindex::storage {

class name_map {
public:
    /// `memory` is the map's alone, so that pairs of lines are aligned. `lines` is where names are checked:
    /// name_lines[number / 8].names[number % 8 - 1].
    name_map(granule_arena& memory, const name_line* lines);

    void prefetch(std::uint64_t name) const {
        kvindex::prefetch_to_write(home(mix(name)));
    }

    /// The same for a name that will be inserted.
    void prefetch_room(std::uint64_t name) const {
        const std::uint64_t hash = mix(name);
        const segment& s = of(hash);
        kvindex::prefetch_to_write(&s.lines[hash & s.mask]);
        kvindex::prefetch_to_write(&s.lines[(hash & s.mask) ^ 1]);
    }

    /// The first block number whose tag fits, unchecked, or 0: for prefetching what comes next.
    std::uint32_t peek(std::uint64_t name) const;

    /// 0 when there is none.
    std::uint32_t find(std::uint64_t name) const;

    /// `name` must not be there and must be in its name line already. Throws std::bad_alloc without effect.
    void insert(std::uint64_t name, std::uint32_t number) {
        static_cast<void>(find_or_insert(name, number));
    }

    /// The number that the name has already; else gives it this one, whose name line has it, and answers 0.
    std::uint32_t find_or_insert(std::uint64_t name, std::uint32_t number);

    /// A new step begins, an event say: until the next call one segment is split, and others only when they are
    /// nine tenths full.
    void begin_step() {
        m_may_split = true;
    }

    /// Nothing when it is not there.
    void erase(std::uint64_t name, std::uint32_t number);

    std::uint64_t size() const {
        return m_size;
    }

    std::uint64_t bytes() const;

private:
    static constexpr std::uint32_t per_line = 10;
    static constexpr std::uint32_t first_lines = 16;
    static constexpr std::uint32_t most_lines = 1u << 13;

    struct alignas(64) line {
        std::array<std::uint16_t, per_line> tags; // undefined where numbers[] is 0
        std::uint16_t passed : 6;                 // entries that found the line full; 63 = that or more
        std::uint16_t displaced : 10;             // bit set of entries here that did
        std::uint16_t filter;                     // bit tag % 16 of each of them; 0 when there are none
        std::array<std::uint32_t, per_line> numbers;
    };
    static_assert(sizeof(line) == 64);

    struct segment {
        line* lines = nullptr;
        std::uint32_t at = 0;   // granule
        std::uint32_t mask = 0; // lines - 1
        std::uint32_t used = 0;
        std::uint32_t depth = 0;
    };

    static std::uint16_t tag(std::uint64_t hash) {
        return static_cast<std::uint16_t>(hash >> 48);
    }

    const segment& of(std::uint64_t hash) const {
        return m_segments[m_directory[hash >> 1 >> (63 - m_depth)]];
    }

    const line* home(std::uint64_t hash) const {
        const segment& s = of(hash);
        return &s.lines[hash & s.mask];
    }

    std::uint64_t name_of(std::uint32_t number) const {
        return m_names[number >> 3].names[(number & 7) - 1];
    }

    static constexpr std::uint32_t most_depth = 16; // of the directory: the tag has no more bits to split by
    static constexpr std::uint32_t most_passed = 63;

    /// The line after `at` in the search for this hash: first the other one of the pair (the two are fetched
    /// together), then in steps of an odd length of its own, so that full lines do not grow into long full
    /// stretches when names come and go for days. Meets every line before it meets one again.
    static std::uint64_t following(std::uint64_t at, std::uint64_t hash, std::uint64_t mask) {
        const bool first = ((at ^ hash) & 1) == 0;
        return first ? at ^ 1 : ((at ^ 1) + (hash >> 40 | 1) * 2) & mask;
    }

    static std::uint16_t filter_bit(std::uint64_t hash) {
        return static_cast<std::uint16_t>(1u << (tag(hash) % 16));
    }

    [[gnu::always_inline]] static std::uint32_t unused_in(const line& l);
    [[gnu::always_inline]] static std::uint32_t with_bit(const line& l, std::uint32_t bit);
    [[gnu::always_inline]] static std::uint32_t fitting(const line& l, std::uint16_t tag);
    [[gnu::always_inline]] static void set(line& l, std::uint32_t i, std::uint16_t tag, std::uint32_t number,
                                           bool displaced);
    static void put(segment& s, std::uint64_t hash, std::uint32_t number);
    segment make(std::uint32_t lines, std::uint32_t depth);
    std::uint32_t room_for(std::uint64_t hash);
    void enlarge(std::uint32_t which);
    void split(std::uint32_t which);

    granule_arena& m_memory;
    const name_line* m_names;
    std::vector<std::uint32_t> m_directory; // 2^m_depth segment numbers
    std::vector<segment> m_segments;
    std::uint32_t m_depth = 0;
    std::uint64_t m_size = 0;
    bool m_may_split = true;
};

} // namespace kvindex::storage
