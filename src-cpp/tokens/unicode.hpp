/// What the pre-tokenisers and the normaliser have to know of a code point, and UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace kvindex::tokens {

/// Classes of Unicode 16.0, a bit each; at most one of them is set, none for controls, formats and what is not
/// assigned.
using char_class = std::uint8_t;
constexpr char_class upper = 1;        ///< Lu, Lt
constexpr char_class lower = 2;        ///< Ll
constexpr char_class other_letter = 4; ///< Lm, Lo
constexpr char_class mark = 8;         ///< M
constexpr char_class number = 16;      ///< N
constexpr char_class punctuation = 32; ///< P, S
constexpr char_class space = 64;       ///< White_Space but the two below
constexpr char_class line_end = 128;   ///< CR, LF
constexpr char_class letter = upper | lower | other_letter;
constexpr char_class white = space | line_end;

/// A value for each code point in two steps: the few different blocks are there once.
template <typename T>
class code_point_table {
public:
    T operator[](char32_t c) const {
        return m_blocks[m_index[c >> shift]][c & mask];
    }

    /// `value_of` answers for ascending code points.
    template <typename F>
    explicit code_point_table(F&& value_of);

private:
    static constexpr unsigned shift = 7;
    static constexpr char32_t mask = (1u << shift) - 1;
    using block = std::array<T, mask + 1>;

    std::array<std::uint16_t, (0x110000 >> shift)> m_index{};
    std::vector<block> m_blocks;
};

/// Built once in a process, at the first use; O(code points).
struct unicode_data {
    code_point_table<char_class> classes;
    code_point_table<std::uint16_t> normal; ///< combining class, and needs_attention
    std::array<char_class, 128> ascii;

    static const unicode_data& get();
};

/// In `normal`: NFC may change this character or join it to the one before.
constexpr std::uint16_t needs_attention = 256;

/// Its full canonical decomposition, without Hangul; empty when it has none.
std::span<const std::uint32_t> decomposition_of(char32_t c);

/// What the two are together, without Hangul; 0 when nothing.
char32_t composition_of(char32_t first, char32_t second);

using bytes = std::span<const std::uint8_t>;

/// Is this UTF-8, without surrogates and long forms? O(n), 32 ASCII characters a step.
bool well_formed(bytes text);

/// Behind whole words of ASCII characters.
inline const std::uint8_t* skip_ascii(const std::uint8_t* p, const std::uint8_t* end) {
    while (end - p >= 32) {
        std::uint64_t words[4];
        std::memcpy(words, p, sizeof words);
        if (((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) != 0) {
            break;
        }
        p += sizeof words;
    }
    return p;
}

struct decoded {
    char32_t c;
    std::uint32_t length;
};

/// The character at p, whose text is well formed.
inline decoded decode(const std::uint8_t* p) {
    const std::uint32_t a = p[0];
    if (a < 0x80) {
        return {a, 1};
    }
    if (a < 0xe0) {
        return {(a & 0x1fu) << 6 | (p[1] & 0x3fu), 2};
    }
    if (a < 0xf0) {
        return {(a & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu), 3};
    }
    return {(a & 7u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu), 4};
}

void append_utf8(char32_t c, std::vector<std::uint8_t>& out);

} // namespace kvindex::tokens
