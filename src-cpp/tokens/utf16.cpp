#include "tokens/utf16.hpp"

#include <algorithm>
#include <cstddef>

namespace kvindex::tokens {

namespace {

constexpr std::size_t step = 32;
constexpr std::size_t longest = 3; // bytes for a unit; a pair has four

/// As many units as are ASCII, whole steps of them. Written for the compiler to use vectors.
std::size_t copy_ascii(const std::uint16_t* from, std::size_t size, std::uint8_t* to) {
    std::size_t done = 0;
    for (; size - done >= step; done += step) {
        std::uint16_t any = 0;
        for (std::size_t i = 0; i < step; i++) {
            any = static_cast<std::uint16_t>(any | from[done + i]);
        }
        if (any >= 0x80) {
            break;
        }
        for (std::size_t i = 0; i < step; i++) {
            to[done + i] = static_cast<std::uint8_t>(from[done + i]);
        }
    }
    return done;
}

std::uint8_t* put(std::uint8_t* to, std::uint32_t first, std::uint32_t c, unsigned tails) {
    *to++ = static_cast<std::uint8_t>(first | c >> 6 * tails);
    while (tails-- > 0) {
        *to++ = static_cast<std::uint8_t>(0x80u | (c >> 6 * tails & 0x3fu));
    }
    return to;
}

} // namespace

std::optional<bytes> to_utf8(std::span<const std::uint16_t> text, std::vector<std::uint8_t>& room) {
    if (room.size() < text.size() * longest) {
        room.resize(text.size() * longest);
    }
    std::uint8_t* to = room.data();
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t ascii = copy_ascii(text.data() + at, text.size() - at, to);
        at += ascii;
        to += ascii;
        // A stretch of others without coming back for each.
        for (std::size_t end = std::min(text.size(), at + step); at < end; at++) {
            const std::uint32_t c = text[at];
            if (c < 0x80) {
                *to++ = static_cast<std::uint8_t>(c);
            } else if (c < 0x800) {
                to = put(to, 0xc0, c, 1);
            } else if ((c & 0xf800u) != 0xd800u) {
                to = put(to, 0xe0, c, 2);
            } else if (c < 0xdc00 && at + 1 < text.size() && (text[at + 1] & 0xfc00u) == 0xdc00u) {
                at++;
                to = put(to, 0xf0, 0x10000u + ((c & 0x3ffu) << 10 | (text[at] & 0x3ffu)), 3);
            } else {
                return std::nullopt;
            }
        }
    }
    return bytes{room.data(), to};
}

} // namespace kvindex::tokens
