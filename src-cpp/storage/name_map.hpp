/// Engine hash -> block, for all slots together: one entry per name, not per holder.
///
/// Lines of 64 bytes: ten tags of 16 bits, the number of entries that found this line full, ten block numbers.
/// The names themselves are in the name lines; a tag that fits is checked there. A block number is
/// name line * 8 + 1 + index in the line, never 0.
///
/// Grows by splitting one segment of at most 16,384 lines at a time (extendible hashing), so that no insert
/// takes longer than some hundred microseconds however many names there are. Writer only; not thread-safe.
#pragma once

#include "base/mix.hpp"
#include "storage/granules.hpp"
#include "storage/layout.hpp"

#include <vector>

namespace kvindex::storage {

class name_map {
public:
    /// `lines` is where names are checked: name_lines[number / 8].names[number % 8 - 1].
    name_map(granule_arena& memory, const name_line* lines);

    void prefetch(std::uint64_t name) const {
        __builtin_prefetch(home(mix(name)));
    }

    /// The first block number whose tag fits, unchecked, or 0: for prefetching what comes next.
    std::uint32_t peek(std::uint64_t name) const;

    /// 0 when there is none.
    std::uint32_t find(std::uint64_t name) const;

    /// `name` must not be there and must be in its name line already. Throws std::bad_alloc without effect.
    void insert(std::uint64_t name, std::uint32_t number);

    /// Nothing when it is not there.
    void erase(std::uint64_t name, std::uint32_t number);

    std::uint64_t size() const {
        return m_size;
    }

    std::uint64_t bytes() const;

private:
    static constexpr std::uint32_t per_line = 10;
    static constexpr std::uint32_t first_lines = 16;
    static constexpr std::uint32_t most_lines = 1u << 14;

    struct alignas(64) line {
        std::array<std::uint16_t, per_line> tags; // undefined where numbers[] is 0
        std::uint16_t passed;                     // entries that belong here or before and lie behind
        std::uint16_t unused;
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

    static std::uint32_t fitting(const line& l, std::uint16_t tag);
    static void put(segment& s, std::uint64_t hash, std::uint32_t number);
    segment make(std::uint32_t lines, std::uint32_t depth);
    void enlarge(std::uint32_t which);
    void split(std::uint32_t which);

    granule_arena& m_memory;
    const name_line* m_names;
    std::vector<std::uint32_t> m_directory; // 2^m_depth segment numbers
    std::vector<segment> m_segments;
    std::uint32_t m_depth = 0;
    std::uint64_t m_size = 0;
};

} // namespace kvindex::storage
