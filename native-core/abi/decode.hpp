/// Packed event records (kvindex.h) to events of the index. Trusts no byte.
#pragma once

#include "base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvindex::abi {

struct decoded {
    std::vector<event> events;      ///< point into the buffer and into `locals`
    std::vector<local_hash> locals; ///< hashed here from the tokens of STORED_TOKENS
    std::uint64_t malformed = 0;
};

/// Reads every record of an 8-aligned buffer. A bad one is counted and skipped; a wrong size ends the buffer.
/// The buffer must outlive the result.
decoded decode(std::span<const std::byte> buffer);

} // namespace kvindex::abi
