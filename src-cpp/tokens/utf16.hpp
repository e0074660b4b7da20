/// UTF-16, as Java has texts, to UTF-8.
#pragma once

#include "tokens/unicode.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kvindex::tokens {

/// The text, in `room`, which grows as needed and never shrinks; empty at a surrogate without its partner.
/// O(n), 32 ASCII characters a step.
std::optional<bytes> to_utf8(std::span<const std::uint16_t> text, std::vector<std::uint8_t>& room);

} // namespace kvindex::tokens
