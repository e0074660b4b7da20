/// Hashes of a prompt's blocks as the block cache tracker knows them. Pure functions, any thread.
///
///   position   xxh3_64(le64(position) || token ids as u32 LE, seed): what stands at this position, whatever
///   came
///              before it. Two prompts that cross share a block although their prefixes differ.
///   chained    the same with the hash of the block before in place of the position (0 for the first one):
///   equal
///              only where everything before is equal, too.
#pragma once

#include <cstdint>
#include <span>

namespace kvindex::tracker {

enum class hashing : std::uint8_t { position = 0, chained = 1 };

/// Hash of one block; `word` is its position or the hash before it. May throw std::bad_alloc.
std::uint64_t hash_block(std::uint64_t word, std::span<const std::uint32_t> tokens, std::uint64_t seed);

/// Hashes of the first out.size() blocks; `tokens` holds at least out.size() * block_size ids. O(tokens). May
/// throw std::bad_alloc, for blocks of more than 256 tokens only.
void hash_prompt(const std::uint32_t* tokens, std::uint32_t block_size, std::uint64_t seed, hashing how,
                 std::span<std::uint64_t> out);

} // namespace kvindex::tracker
