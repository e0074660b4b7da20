#include "base/page_chain.hpp"

#include <algorithm>
#include <bit>

namespace kvindex {
namespace {

static_assert(std::endian::native == std::endian::little, "token ids are hashed as they lie in memory");

std::span<const std::uint8_t> bytes_of(const std::uint32_t* words, std::size_t count) {
    return {reinterpret_cast<const std::uint8_t*>(words), count * sizeof(std::uint32_t)};
}

void add_bigrams(sha256& sha, const std::uint32_t* tokens, std::uint32_t count) {
    std::array<std::uint32_t, 32> pairs;
    constexpr std::uint32_t room = pairs.size() / 2;
    for (std::uint32_t from = 0; from < count; from += room) {
        const std::uint32_t n = std::min(room, count - from);
        for (std::uint32_t i = 0; i < n; i++) {
            pairs[2 * i] = tokens[from + i];
            pairs[2 * i + 1] = tokens[from + i + 1];
        }
        sha.update(bytes_of(pairs.data(), std::size_t{2} * n));
    }
}

} // namespace

void chain_pages(const std::uint32_t* tokens, std::uint32_t page_size, bool bigram,
                 std::span<const std::uint8_t> seed, std::span<sha256_digest> out, sha_isa isa) {
    sha256 sha(isa);
    std::span<const std::uint8_t> before = seed;
    for (sha256_digest& digest : out) {
        sha.update(before);
        if (bigram) {
            add_bigrams(sha, tokens, page_size);
        } else {
            sha.update(bytes_of(tokens, page_size));
        }
        sha.finish(digest);
        before = digest;
        tokens += page_size;
    }
}

} // namespace kvindex
