#include "storage/name_map.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kvindex::storage {

name_map::name_map(granule_arena& memory, const name_line* lines) : m_memory(memory), m_names(lines) {
    m_segments.push_back(make(first_lines, 0));
    m_directory.push_back(0);
}

name_map::segment name_map::make(std::uint32_t lines, std::uint32_t depth) {
    segment s;
    s.at = m_memory.take(lines);
    s.lines = reinterpret_cast<line*>(m_memory.words(s.at));
    std::memset(static_cast<void*>(s.lines), 0, std::size_t{lines} * sizeof(line));
    s.mask = lines - 1;
    s.depth = depth;
    return s;
}

#if defined(__SSE2__)
namespace {

// 128 bits at a time, which every x86-64 has; twice as wide is no faster for one line
// (src/docs/explanation/native-index.md).
__m128i load(const void* at) {
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

/// The signs of sixteen numbers of 16 bits.
std::uint32_t signs_of(__m128i low, __m128i high) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

} // namespace
#endif

/// Bit set of the entries of the line with this tag.
inline std::uint32_t name_map::fitting(const line& l, std::uint16_t tag) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi16(static_cast<short>(tag));
    const auto* const at = reinterpret_cast<const char*>(&l);
    return signs_of(_mm_cmpeq_epi16(load(at), wanted), _mm_cmpeq_epi16(load(at + 16), wanted)) &
           ((1u << per_line) - 1);
#else
    std::uint32_t fits = 0;
    for (std::uint32_t i = 0; i < per_line; i++) {
        fits |= l.tags[i] == tag ? 1u << i : 0u;
    }
    return fits;
#endif
}

/// Bit set of the entries whose tag has this bit; those that are empty may have it too.
inline std::uint32_t name_map::with_bit(const line& l, std::uint32_t bit) {
#if defined(__SSE2__)
    const __m128i up = _mm_cvtsi32_si128(static_cast<int>(15 - bit));
    const auto* const at = reinterpret_cast<const char*>(&l);
    return signs_of(_mm_sll_epi16(load(at), up), _mm_sll_epi16(load(at + 16), up)) & ((1u << per_line) - 1);
#else
    std::uint32_t with = 0;
    for (std::uint32_t i = 0; i < per_line; i++) {
        with |= (l.tags[i] >> bit & 1u) << i;
    }
    return with;
#endif
}

/// Bit set of the empty entries of the line.
inline std::uint32_t name_map::unused_in(const line& l) {
#if defined(__SSE2__)
    const auto* const at = reinterpret_cast<const char*>(&l.numbers);
    const auto mask = [&](const char* four) {
        const __m128i empty = _mm_cmpeq_epi32(load(four), _mm_setzero_si128());
        return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(empty)));
    };
    return mask(at) | mask(at + 16) << 4 | mask(at + 24) << 6; // the last from the seventh on
#else
    std::uint32_t free = 0;
    for (std::uint32_t i = 0; i < per_line; i++) {
        free |= l.numbers[i] == 0 ? 1u << i : 0u;
    }
    return free;
#endif
}

std::uint32_t name_map::peek(std::uint64_t name) const {
    const std::uint64_t hash = mix(name);
    const line& l = *home(hash);
    const std::uint32_t fits = fitting(l, tag(hash));
    return fits == 0 ? 0 : l.numbers[static_cast<std::uint32_t>(std::countr_zero(fits))];
}

std::uint32_t name_map::find(std::uint64_t name) const {
    const std::uint64_t hash = mix(name);
    const segment& s = of(hash);
    std::uint64_t at = hash & s.mask;
    for (std::uint64_t n = 0; n <= s.mask; n++, at = following(at, hash, s.mask)) {
        const line& l = s.lines[at];
        for (std::uint32_t fits = fitting(l, tag(hash)); fits != 0; fits &= fits - 1) {
            const std::uint32_t number = l.numbers[static_cast<std::uint32_t>(std::countr_zero(fits))];
            if (number != 0 && name_of(number) == name) {
                return number;
            }
        }
        if ((l.filter & filter_bit(hash)) == 0) {
            return 0;
        }
    }
    return 0; // every line was full once
}

inline void name_map::set(line& l, std::uint32_t i, std::uint16_t tag, std::uint32_t number, bool displaced) {
    l.numbers[i] = number;
    l.tags[i] = tag;
    const std::uint32_t bit = 1u << i;
    l.displaced = static_cast<std::uint16_t>(displaced ? l.displaced | bit : l.displaced & ~bit) & 0x3ff;
}

void name_map::put(segment& s, std::uint64_t hash, std::uint32_t number) {
    s.used++;
    std::uint64_t at = hash & s.mask;
    for (std::uint64_t n = 0; n <= s.mask; n++, at = following(at, hash, s.mask)) {
        line& l = s.lines[at];
        if (const std::uint32_t free = unused_in(l); free != 0) {
            set(l, static_cast<std::uint32_t>(std::countr_zero(free)), tag(hash), number,
                at != (hash & s.mask));
            return;
        }
        l.passed = static_cast<std::uint16_t>(std::min(l.passed + 1u, most_passed)) & 0x3f;
        l.filter |= filter_bit(hash);
    }
}

/// Number of the hash's segment, which has room for one more.
std::uint32_t name_map::room_for(std::uint64_t hash) {
    const std::uint32_t which = m_directory[hash >> 1 >> (63 - m_depth)];
    const segment& s = m_segments[which];
    // Eight tenths full at most: then a search for a name that is not there reads 1.1 lines.
    if ((s.used + 1) * 10 <= (s.mask + 1) * (per_line * 8)) [[likely]] {
        return which;
    }
    if (s.mask + 1 < most_lines) {
        enlarge(which);
        return which;
    }
    if (s.depth == most_depth) { // names made to be alike: fuller is slower, but not for ever
        if (s.used == (s.mask + 1) * per_line) {
            throw std::bad_alloc();
        }
        return which;
    }
    if (!m_may_split && (s.used + 1) * 10 <= (s.mask + 1) * (per_line * 9)) {
        return which; // one split a step: segments fill alike, and a long event would split several
    }
    m_may_split = false;
    split(which);
    return m_directory[hash >> 1 >> (63 - m_depth)];
}

std::uint32_t name_map::find_or_insert(std::uint64_t name, std::uint32_t number) {
    const std::uint64_t hash = mix(name);
    segment& s = m_segments[room_for(hash)];
    std::uint64_t at = hash & s.mask;
    line& first = s.lines[at];
    std::uint32_t fits = fitting(first, tag(hash));
    if (fits == 0 && (first.filter & filter_bit(hash)) == 0) [[likely]] {
        // Nothing like it anywhere; most often its own line has room.
        if (const std::uint32_t free = unused_in(first); free != 0) [[likely]] {
            set(first, static_cast<std::uint32_t>(std::countr_zero(free)), tag(hash), number, false);
            s.used++;
            m_size++;
            return 0;
        }
    }
    for (std::uint64_t n = 0; n <= s.mask; n++, at = following(at, hash, s.mask)) {
        const line& l = s.lines[at];
        for (fits = fitting(l, tag(hash)); fits != 0; fits &= fits - 1) {
            const std::uint32_t there = l.numbers[static_cast<std::uint32_t>(std::countr_zero(fits))];
            if (there != 0 && name_of(there) == name && there != number) {
                return there;
            }
        }
        if ((l.filter & filter_bit(hash)) == 0) {
            break;
        }
    }
    put(s, hash, number);
    m_size++;
    return 0;
}

void name_map::erase(std::uint64_t name, std::uint32_t number) {
    const std::uint64_t hash = mix(name);
    segment& s = m_segments[m_directory[hash >> 1 >> (63 - m_depth)]];
    std::uint64_t at = hash & s.mask;
    for (std::uint64_t n = 0; n <= s.mask; n++, at = following(at, hash, s.mask)) {
        line& l = s.lines[at];
        for (std::uint32_t fits = fitting(l, tag(hash)); fits != 0; fits &= fits - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(fits));
            if (l.numbers[i] == number) {
                l.numbers[i] = 0;
                s.used--;
                m_size--;
                for (std::uint64_t on_the_way = hash & s.mask; on_the_way != at;
                     on_the_way = following(on_the_way, hash, s.mask)) {
                    line& way = s.lines[on_the_way];
                    if (way.passed != most_passed) { // else not known: it stays
                        way.passed = static_cast<std::uint16_t>(way.passed - 1) & 0x3f;
                        way.filter = way.passed == 0 ? 0 : way.filter;
                    }
                }
                return;
            }
        }
        if ((l.filter & filter_bit(hash)) == 0) {
            return;
        }
    }
}

/// A small segment doubles: every entry's hash is made again from its name.
void name_map::enlarge(std::uint32_t which) {
    const segment old = m_segments[which];
    segment made = make((old.mask + 1) * 2, old.depth);
    constexpr std::uint32_t ahead = 4;
    for (std::uint32_t i = 0; i <= old.mask; i++) {
        if (i + ahead <= old.mask) {
            for (const std::uint32_t number : old.lines[i + ahead].numbers) {
                kvindex::prefetch(&m_names[number >> 3]);
            }
        }
        for (const std::uint32_t number : old.lines[i].numbers) {
            if (number != 0) {
                put(made, mix(name_of(number)), number);
            }
        }
    }
    m_segments[which] = made;
    m_memory.give_back(old.at, old.mask + 1);
}

/// A full segment becomes two. The bit that decides is in the tag, and most entries lie in their home line, so
/// that few names have to be read.
void name_map::split(std::uint32_t which) {
    if (m_segments[which].depth == m_depth) {
        std::vector<std::uint32_t> twice(m_directory.size() * 2);
        for (std::size_t i = 0; i < twice.size(); i++) {
            twice[i] = m_directory[i / 2];
        }
        m_directory.swap(twice);
        m_depth++;
    }
    // All that may fail comes first: below, entries are between the two segments.
    m_segments.reserve(m_segments.size() + 1);
    std::vector<std::uint32_t> strayed;
    strayed.reserve(m_segments[which].used);
    segment upper = make(m_segments[which].mask + 1, m_segments[which].depth + 1);
    segment& lower = m_segments[which];
    lower.depth++;
    const std::uint32_t bit = 16 - lower.depth; // of the tag
    for (std::uint32_t i = 0; i <= lower.mask; i++) {
        line& from = lower.lines[i];
        line& to = upper.lines[i];
        const std::uint32_t taken = ~unused_in(from) & ((1u << per_line) - 1);
        const std::uint32_t astray = from.displaced & taken;
        for (std::uint32_t left = astray; left != 0; left &= left - 1) {
            const std::uint32_t number = from.numbers[static_cast<std::uint32_t>(std::countr_zero(left))];
            kvindex::prefetch(&m_names[number >> 3]); // read below, when all lines are done
            strayed.push_back(number);
        }
        const std::uint32_t upwards = with_bit(from, bit) & taken & ~astray;
        std::uint32_t moved = 0;
        for (std::uint32_t left = upwards; left != 0; left &= left - 1) {
            const auto k = static_cast<std::uint32_t>(std::countr_zero(left));
            to.numbers[moved] = from.numbers[k];
            to.tags[moved++] = from.tags[k];
        }
        for (std::uint32_t left = upwards | astray; left != 0; left &= left - 1) {
            from.numbers[static_cast<std::uint32_t>(std::countr_zero(left))] = 0;
        }
        lower.used -= static_cast<std::uint32_t>(std::popcount(upwards | astray));
        upper.used += moved;
        from.passed = 0;
        from.filter = 0;
        from.displaced = 0;
    }
    const auto made = static_cast<std::uint32_t>(m_segments.size());
    m_segments.push_back(upper);
    // Directory entries of the old segment are consecutive; their upper half is the new one's.
    std::size_t first = 0;
    while (m_directory[first] != which) {
        first++;
    }
    const std::size_t span = std::size_t{1} << (m_depth - m_segments[which].depth);
    for (std::size_t i = first + span; i < first + 2 * span; i++) {
        m_directory[i] = made;
    }
    for (const std::uint32_t number : strayed) {
        const std::uint64_t hash = mix(name_of(number));
        put(m_segments[m_directory[hash >> 1 >> (63 - m_depth)]], hash, number);
    }
}

std::uint64_t name_map::bytes() const {
    std::uint64_t lines = 0;
    for (const segment& s : m_segments) {
        lines += s.mask + 1;
    }
    return lines * sizeof(line) + m_directory.capacity() * sizeof(std::uint32_t) +
           m_segments.capacity() * sizeof(segment);
}

} // namespace kvindex::storage
