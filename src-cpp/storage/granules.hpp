/// Memory in granules of 64 bytes out of one region, in size classes of at most a quarter more than asked
/// for. A reference is the number of the first granule, never 0.
///
/// Freed pieces are kept per class and given out again last in, first out; when a class has none, a larger
/// piece is cut up, before new memory is touched. The caller decides when a piece is free: at once, or after a
/// grace period when readers may still see it. Not thread-safe.
#pragma once

#include "storage/region.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace kvindex::storage {

struct alignas(64) granule {
    std::array<std::uint64_t, 8> words;
};

class granule_arena {
public:
    /// Pieces whose sizes are multiples of `first` granules are aligned to that.
    explicit granule_arena(std::size_t granules, std::uint32_t first = 1) : m_region(granules), m_top(first) {
    }

    /// Granules that a piece of this size really has.
    static std::uint32_t rounded(std::uint32_t granules) {
        return size_of(class_of(granules));
    }

    bool can_take(std::uint64_t granules) const {
        return m_top + granules <= m_region.capacity();
    }

    std::uint32_t take(std::uint32_t granules) {
        const std::uint32_t c = class_of(granules);
        m_in_use += size_of(c);
        if (const std::uint32_t from = first_free(c); from != 0) {
            const std::uint32_t at = m_free[from].back();
            m_free[from].pop_back();
            keep(at + size_of(c), size_of(from) - size_of(c));
            note(from);
            return at;
        }
        if (!can_take(size_of(c))) {
            m_in_use -= size_of(c);
            throw std::bad_alloc();
        }
        const std::uint32_t at = m_top;
        m_top += size_of(c);
        return at;
    }

    void give_back(std::uint32_t at, std::uint32_t granules) {
        const std::uint32_t c = class_of(granules);
        m_in_use -= size_of(c);
        m_free[c].push_back(at);
        note(c);
    }

    std::uint64_t* words(std::uint32_t at) {
        return m_region[at].words.data();
    }

    const std::uint64_t* words(std::uint32_t at) const {
        return m_region[at].words.data();
    }

    /// Ever touched.
    std::uint64_t bytes() const {
        return std::uint64_t{m_top} * sizeof(granule);
    }

    /// Given out and not given back.
    std::uint64_t bytes_in_use() const {
        return m_in_use * sizeof(granule);
    }

private:
    // 1..16 one by one, then four classes to each doubling.
    static std::uint32_t class_of(std::uint32_t granules) {
        if (granules <= 16) {
            return granules;
        }
        const auto log = static_cast<std::uint32_t>(std::bit_width(granules - 1) - 1);
        const std::uint32_t step = 1u << (log - 2);
        return 16 + (log - 4) * 4 + ((granules + step - 1) / step - 4);
    }

    static std::uint32_t size_of(std::uint32_t c) {
        if (c <= 16) {
            return c;
        }
        const std::uint32_t log = 4 + (c - 17) / 4;
        return (5 + (c - 17) % 4) << (log - 2);
    }

    /// The class itself when it has a free piece, else the smallest larger one that has and leaves enough for
    /// others: what is left of a cut must not be scraps that nobody asks for. 0: none.
    std::uint32_t first_free(std::uint32_t c) const {
        for (std::uint32_t from = c; from < classes; from++) {
            const std::uint64_t here = m_has_free[from / 64] >> (from % 64);
            if (here == 0) {
                from |= 63;
                continue;
            }
            from += static_cast<std::uint32_t>(std::countr_zero(here));
            if (from == c || size_of(from) >= size_of(c) + least_left) {
                return from;
            }
        }
        return 0;
    }

    /// Free granules become free pieces, largest first.
    void keep(std::uint32_t at, std::uint32_t granules) {
        while (granules != 0) {
            std::uint32_t c = class_of(granules);
            c -= size_of(c) > granules ? 1u : 0u;
            m_free[c].push_back(at);
            note(c);
            at += size_of(c);
            granules -= size_of(c);
        }
    }

    void note(std::uint32_t c) {
        const std::uint64_t bit = std::uint64_t{1} << (c % 64);
        m_has_free[c / 64] = m_free[c].empty() ? m_has_free[c / 64] & ~bit : m_has_free[c / 64] | bit;
    }

    static constexpr std::uint32_t classes = 128;
    static constexpr std::uint32_t least_left = 2;

    region<granule> m_region;
    std::uint32_t m_top;
    std::uint64_t m_in_use = 0;
    std::array<std::vector<std::uint32_t>, classes> m_free;
    std::array<std::uint64_t, classes / 64> m_has_free{}; // bit set of the classes with a free piece
};

} // namespace kvindex::storage
