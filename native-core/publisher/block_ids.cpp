#include "publisher/block_ids.hpp"

#include "base/hashing.hpp"

namespace kvpub {
namespace {

std::span<const std::uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

} // namespace

void block_ids(const stored_blocks& blocks, std::span<std::uint64_t> out) {
    // With a parent in front of the local hashes the chain goes on from it; its own name is then dropped.
    const std::size_t before = blocks.parent ? 1 : 0;
    std::vector<kvindex::local_hash> locals(before + out.size());
    std::vector<std::uint64_t> chain(locals.size());
    if (blocks.parent) {
        locals[0] = *blocks.parent;
    }
    const std::uint64_t seed = kvindex::hash_seed(as_bytes(blocks.lora), as_bytes(blocks.salt));
    kvindex::hash_blocks(blocks.tokens.data(), blocks.block_size, seed, std::span(locals).subspan(before));
    kvindex::chain_hashes(locals, chain);
    std::copy(chain.begin() + static_cast<std::ptrdiff_t>(before), chain.end(), out.begin());
}

} // namespace kvpub
