/// Hashes against vectors of the real producer (data/block-hashes.json, see src/docs/explanation/hashing.md).
#include "base/hashing.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace kvindex::tests {
namespace {

struct block_case {
    std::string_view name;
    std::uint32_t block_size;
    std::vector<std::uint32_t> tokens;
    std::string_view lora;
    std::string_view salt;
    std::uint64_t seed;
    std::vector<local_hash> locals;
    std::vector<std::uint64_t> sequence;
};

struct chain_case {
    std::string_view name;
    std::vector<local_hash> locals;
    std::vector<std::uint64_t> sequence;
};

#include "data/block_hashes.inc"

std::span<const std::uint8_t> bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(hashing, seeds_locals_and_chains_equal_the_producers_vectors) {
    ASSERT_GT(block_cases.size(), 40u);
    for (const block_case& c : block_cases) {
        EXPECT_EQ(hash_seed(bytes(c.lora), bytes(c.salt)), c.seed) << c.name;
        std::vector<local_hash> locals(c.tokens.size() / c.block_size);
        hash_blocks(c.tokens.data(), c.block_size, c.seed, locals);
        EXPECT_EQ(locals, c.locals) << c.name;
        std::vector<std::uint64_t> sequence(locals.size());
        chain_hashes(locals, sequence);
        EXPECT_EQ(sequence, c.sequence) << c.name;
    }
}

TEST(hashing, chains_equal_the_producers_vectors_and_may_be_made_in_place) {
    ASSERT_GT(chain_cases.size(), 2u);
    for (const chain_case& c : chain_cases) {
        std::vector<std::uint64_t> sequence = c.locals;
        chain_hashes(sequence, sequence);
        EXPECT_EQ(sequence, c.sequence);
    }
}

} // namespace
} // namespace kvindex::tests
