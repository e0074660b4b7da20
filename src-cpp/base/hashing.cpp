#include "base/hashing.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <cstddef>

namespace kvindex {
namespace {

static_assert(std::endian::native == std::endian::little, "token ids are hashed as they lie in memory");

constexpr std::uint64_t base_seed = 1337;
constexpr std::uint64_t lora_seed = 0;
constexpr std::uint64_t salt_seed = 1;

// XXH3 derives a secret from the seed for every input longer than this; deriving it once per prompt
// instead gives the same hash, several times faster (bench/RESULTS.md).
constexpr std::size_t longest_without_secret = 240;

} // namespace

std::uint64_t hash_seed(std::span<const std::uint8_t> lora, std::span<const std::uint8_t> salt) {
    std::uint64_t seed = base_seed;
    if (!lora.empty()) {
        seed += XXH3_64bits_withSeed(lora.data(), lora.size(), lora_seed);
    }
    if (!salt.empty()) {
        seed += XXH3_64bits_withSeed(salt.data(), salt.size(), salt_seed);
    }
    return seed;
}

void hash_blocks(const std::uint32_t* tokens, std::uint32_t block_size, std::uint64_t seed,
                 std::span<local_hash> out) {
    const std::size_t bytes = std::size_t{block_size} * sizeof(std::uint32_t);
    if (bytes <= longest_without_secret) {
        for (local_hash& hash : out) {
            hash = XXH3_64bits_withSeed(tokens, bytes, seed);
            tokens += block_size;
        }
        return;
    }
    alignas(64) std::array<unsigned char, XXH_SECRET_DEFAULT_SIZE> secret;
    XXH3_generateSecret_fromSeed(secret.data(), seed);
    for (local_hash& hash : out) {
        hash = XXH3_64bits_withSecretandSeed(tokens, bytes, secret.data(), secret.size(), seed);
        tokens += block_size;
    }
}

void chain_hashes(std::span<const local_hash> locals, std::span<std::uint64_t> out) {
    std::uint64_t previous = 0;
    for (std::size_t i = 0; i < locals.size(); i++) {
        const std::array<std::uint64_t, 2> link{previous, locals[i]};
        previous = i == 0 ? locals[0] : XXH3_64bits_withSeed(link.data(), sizeof link, base_seed);
        out[i] = previous;
    }
}

} // namespace kvindex
