/// SGLang's page digests: sha256(digest before || ids of the page), src/docs/reference/page-keys.md. Pure, any
/// thread.
#pragma once

#include "base/sha256.hpp"

#include <cstdint>
#include <span>

namespace kvindex {

/// Complete pages of a prompt. With `bigram` an element is a token and the one behind it, so there is one less.
constexpr std::uint32_t page_count(std::uint32_t tokens, std::uint32_t page_size, bool bigram) {
    return (bigram && tokens != 0 ? tokens - 1 : tokens) / page_size;
}

/// Digests of the first out.size() pages. `seed`: what the first page is chained to, nothing or 32 bytes.
/// `tokens`: out.size() * page_size ids, with `bigram` one more. O(tokens); allocates nothing.
void chain_pages(const std::uint32_t* tokens, std::uint32_t page_size, bool bigram,
                 std::span<const std::uint8_t> seed, std::span<sha256_digest> out, sha_isa isa = sha_best());

} // namespace kvindex
