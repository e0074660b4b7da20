/// Cache events as MessagePack, byte for byte as SGLang 0.5.23's structs give them. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kvpub {

using bytes = std::vector<std::uint8_t>;

/// Consecutive blocks that came into a tier; an empty text is absent.
struct stored_blocks {
    std::span<const std::uint64_t> ids{};
    std::optional<std::uint64_t> parent{};
    std::span<const std::uint32_t> tokens{};
    std::uint32_t block_size = 0;
    std::string_view medium{};
    std::string_view lora{};
    std::string_view salt{};
};

void put_stored(bytes& out, const stored_blocks& blocks);
void put_removed(bytes& out, std::span<const std::uint64_t> ids, std::string_view medium);
void put_cleared(bytes& out);

/// `[seconds, [events], rank]` around `count` events that lie one after the other in `events`.
bytes batch_of(double seconds, std::uint32_t count, std::span<const std::uint8_t> events, std::uint32_t rank);

bool is_utf8(std::string_view text);

} // namespace kvpub
