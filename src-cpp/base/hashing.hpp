/// Block hashes by Dynamo's rule (src/docs/explanation/hashing.md). Pure functions, any thread.
#pragma once

#include "base/types.hpp"

#include <cstdint>
#include <span>

namespace kvindex {

/// Seed of one (adapter, salt); an empty one is absent.
std::uint64_t hash_seed(std::span<const std::uint8_t> lora, std::span<const std::uint8_t> salt);

/// Local hashes of the first `out.size()` blocks. `tokens` holds at least out.size() * block_size ids.
void hash_blocks(const std::uint32_t* tokens, std::uint32_t block_size, std::uint64_t seed,
                 std::span<local_hash> out);

/// Chained hashes of a prompt's blocks from their local hashes. `out` is as long as `locals`.
void chain_hashes(std::span<const local_hash> locals, std::span<std::uint64_t> out);

} // namespace kvindex
