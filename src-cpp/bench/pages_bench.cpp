/// Page digests: bytes of token ids a second on one core, by page size and instruction set.
///
///   pages_bench [--smoke]
#include "base/page_chain.hpp"
#include "clocks.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace {

using kvindex::sha_isa;
using kvindex::bench::cpu_nanos;
using kvindex::bench::require;

const char* name(sha_isa isa) {
    switch (isa) {
    case sha_isa::portable:
        return "portable";
    case sha_isa::sha_ni:
        return "sha_ni";
    case sha_isa::armv8:
        return "armv8";
    }
    return "?";
}

void run(sha_isa isa, std::uint32_t page_size, const std::vector<std::uint32_t>& tokens, int rounds) {
    std::vector<kvindex::sha256_digest> digests(tokens.size() / page_size);
    std::uint64_t best = UINT64_MAX;
    for (int round = 0; round < rounds; round++) {
        const std::uint64_t begin = cpu_nanos();
        kvindex::chain_pages(tokens.data(), page_size, false, {}, digests, isa);
        best = std::min(best, cpu_nanos() - begin);
    }
    require(digests.front() != digests.back(), "pages differ");
    const double bytes = static_cast<double>(digests.size()) * page_size * sizeof(std::uint32_t);
    std::printf("%-9s page %4u: %6.2f GB/s, %8.1f us for %zu tokens\n", name(isa), page_size,
                bytes / static_cast<double>(best), static_cast<double>(best) / 1e3, tokens.size());
}

} // namespace

int main(int argc, char** argv) {
    const bool smoke = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
    std::mt19937 random(1);
    std::vector<std::uint32_t> tokens(smoke ? 2'048 : 102'400);
    for (std::uint32_t& token : tokens) {
        token = static_cast<std::uint32_t>(random() % 150'000);
    }
    for (const sha_isa isa : {sha_isa::portable, sha_isa::sha_ni, sha_isa::armv8}) {
        if (kvindex::sha_available(isa)) {
            for (const std::uint32_t page_size : {16u, 64u, 128u, 256u, 1024u}) {
                run(isa, page_size, tokens, smoke ? 2 : 200);
            }
        }
    }
}
