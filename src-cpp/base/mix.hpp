/// Mixing of integers for hash tables.
#pragma once

#include <cstdint>

namespace kvindex {

/// Spreads every bit of `x` over the result (the form of Mulvey's and Stafford's finalisers).
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 29)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 32);
}

} // namespace kvindex
