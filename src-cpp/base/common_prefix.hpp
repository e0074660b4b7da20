/// Length of the common start of two hash arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvindex {

inline std::size_t common_prefix(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    constexpr std::size_t step = 8; // one cache line; without branches inside, so that it vectorises
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        std::uint64_t difference = 0;
        for (std::size_t k = 0; k < step; k++) {
            difference |= a[i + k] ^ b[i + k];
        }
        if (difference != 0) {
            break;
        }
    }
    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

} // namespace kvindex
