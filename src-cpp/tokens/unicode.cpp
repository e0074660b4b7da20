#include "tokens/unicode.hpp"

#include <algorithm>

namespace kvindex::tokens {

namespace {

struct range {
    std::uint32_t first;
    std::uint16_t value;
};

struct decomposition {
    std::uint32_t from;
    std::array<std::uint32_t, 4> to;
};

struct composition {
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t together;
};

#include "tokens/unicode_tables.inc"

/// Answers for ascending code points.
template <typename T, std::size_t N>
auto walk(const range (&ranges)[N]) {
    return [&ranges, at = std::size_t{0}](std::uint32_t c) mutable {
        while (at + 1 < N && ranges[at + 1].first <= c) {
            at++;
        }
        return static_cast<T>(ranges[at].value);
    };
}

/// Bytes of the character at p, at most `left`; 0 when it is not well formed.
std::size_t checked_length(const std::uint8_t* p, std::size_t left) {
    const auto follows = [&](std::size_t i) { return (p[i] & 0xc0) == 0x80; };
    const std::uint8_t a = p[0];
    if (a >= 0xc2 && a < 0xe0) {
        return left >= 2 && follows(1) ? 2 : 0;
    }
    if (a >= 0xe0 && a < 0xf0) {
        const bool good =
            left >= 3 && follows(1) && follows(2) && (a != 0xe0 || p[1] >= 0xa0) && (a != 0xed || p[1] < 0xa0);
        return good ? 3 : 0;
    }
    if (a >= 0xf0 && a < 0xf5) {
        const bool good = left >= 4 && follows(1) && follows(2) && follows(3) && (a != 0xf0 || p[1] >= 0x90) &&
                          (a != 0xf4 || p[1] < 0x90);
        return good ? 4 : 0;
    }
    return 0;
}

} // namespace

template <typename T>
template <typename F>
code_point_table<T>::code_point_table(F&& value_of) {
    for (std::uint32_t b = 0; b < m_index.size(); b++) {
        block values;
        for (std::uint32_t i = 0; i <= mask; i++) {
            values[i] = value_of((b << shift) + i);
        }
        // Equal blocks are neighbours, mostly.
        auto same = std::find(m_blocks.rbegin(), m_blocks.rend(), values);
        if (same == m_blocks.rend()) {
            m_index[b] = static_cast<std::uint16_t>(m_blocks.size());
            m_blocks.push_back(values);
        } else {
            m_index[b] = static_cast<std::uint16_t>(m_blocks.rend() - same - 1);
        }
    }
}

const unicode_data& unicode_data::get() {
    static const unicode_data data = [] {
        unicode_data made{code_point_table<char_class>(walk<char_class>(class_ranges)),
                          code_point_table<std::uint16_t>(walk<std::uint16_t>(normal_ranges)),
                          {}};
        for (std::uint32_t c = 0; c < made.ascii.size(); c++) {
            made.ascii[c] = made.classes[c];
        }
        return made;
    }();
    return data;
}

std::span<const std::uint32_t> decomposition_of(char32_t c) {
    const auto* found =
        std::lower_bound(std::begin(decompositions), std::end(decompositions), c,
                         [](const decomposition& d, char32_t wanted) { return d.from < wanted; });
    if (found == std::end(decompositions) || found->from != c) {
        return {};
    }
    std::size_t length = found->to.size();
    while (found->to[length - 1] == 0) {
        length--;
    }
    return {found->to.data(), length};
}

char32_t composition_of(char32_t first, char32_t second) {
    const auto before = [](const composition& c, const std::pair<char32_t, char32_t>& wanted) {
        return c.first != wanted.first ? c.first < wanted.first : c.second < wanted.second;
    };
    const auto* found = std::lower_bound(std::begin(compositions), std::end(compositions),
                                         std::pair<char32_t, char32_t>{first, second}, before);
    const bool is = found != std::end(compositions) && found->first == first && found->second == second;
    return is ? found->together : 0;
}

bool well_formed(bytes text) {
    const std::uint8_t* p = text.data();
    const std::uint8_t* const end = p + text.size();
    while (p != end) {
        p = skip_ascii(p, end);
        // A stretch of other characters is checked without coming back for each.
        for (int i = 0; i < 32 && p != end; i++) {
            if (*p < 0x80) {
                p++;
                continue;
            }
            const std::size_t length = checked_length(p, static_cast<std::size_t>(end - p));
            if (length == 0) {
                return false;
            }
            p += length;
        }
    }
    return true;
}

void append_utf8(char32_t c, std::vector<std::uint8_t>& out) {
    const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<std::uint8_t>(byte)); };
    const auto tail = [&put, c](unsigned shift) { put(0x80u | (c >> shift & 0x3fu)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xc0u | c >> 6);
        tail(0);
    } else if (c < 0x10000) {
        put(0xe0u | c >> 12);
        tail(6);
        tail(0);
    } else {
        put(0xf0u | c >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

} // namespace kvindex::tokens
