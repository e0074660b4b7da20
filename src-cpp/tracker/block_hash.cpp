#include "tracker/block_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

namespace kvindex::tracker {
namespace {

static_assert(std::endian::native == std::endian::little, "token ids are hashed as they lie in memory");

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Room for the bytes of one block, on the stack for the sizes that engines use.
class block_bytes {
public:
    explicit block_bytes(std::size_t tokens) : m_size(word_bytes + tokens * sizeof(std::uint32_t)) {
        if (m_size > m_small.size()) {
            m_large.resize(m_size);
        }
    }

    std::uint64_t hash(std::uint64_t word, const std::uint32_t* tokens, std::uint64_t seed) {
        unsigned char* const bytes = m_large.empty() ? m_small.data() : m_large.data();
        std::memcpy(bytes, &word, word_bytes);
        if (m_size > word_bytes) {
            std::memcpy(bytes + word_bytes, tokens, m_size - word_bytes);
        }
        return XXH3_64bits_withSeed(bytes, m_size, seed);
    }

private:
    std::size_t m_size;
    std::array<unsigned char, word_bytes + 256 * sizeof(std::uint32_t)> m_small;
    std::vector<unsigned char> m_large;
};

} // namespace

std::uint64_t hash_block(std::uint64_t word, std::span<const std::uint32_t> tokens, std::uint64_t seed) {
    return block_bytes(tokens.size()).hash(word, tokens.data(), seed);
}

void hash_prompt(const std::uint32_t* tokens, std::uint32_t block_size, std::uint64_t seed, hashing how,
                 std::span<std::uint64_t> out) {
    block_bytes bytes(block_size);
    std::uint64_t previous = 0;
    for (std::size_t i = 0; i < out.size(); i++) {
        previous = bytes.hash(how == hashing::position ? i : previous, tokens + i * block_size, seed);
        out[i] = previous;
    }
}

} // namespace kvindex::tracker
