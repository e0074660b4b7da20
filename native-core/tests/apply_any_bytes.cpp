/// Fuzz body: any bytes as an event buffer. No crash, no read past the end, a clear slot empties the index.
#include "kvindex.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "%s\n", what);
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    kvi_index* index = nullptr;
    kvi_config config{};
    config.size = sizeof config;
    config.ghost_percent = 101;
    config.orphan_limit = 64;
    config.max_blocks = 1u << 18;
    require(kvi_open(&config, &index) == KVI_OK, "open");
    std::uint32_t slot = 0;
    for (std::uint32_t i = 0; i < 3; i++) {
        // Two slots share their names.
        require(kvi_slot_open(index, i / 2, 0, &slot) == KVI_OK && slot == i, "slot_open");
    }
    const std::unique_ptr<std::byte[]> exact(new std::byte[size]); // aligned, and not one byte longer
    if (size != 0) {
        std::memcpy(exact.get(), data, size);
    }
    kvi_applied first{};
    kvi_applied second{};
    require(kvi_apply(index, exact.get(), size, &first) == KVI_OK, "apply");
    require(kvi_apply(index, exact.get(), size, &second) == KVI_OK, "apply again");
    require(first.malformed == second.malformed && first.ignored == second.ignored,
            "the same bytes are read in two ways");

    // The bytes as hashes and as tokens: what an event stored may well be found.
    std::vector<kvi_hit> hits(3);
    std::uint32_t count = 0;
    const auto words = static_cast<std::uint32_t>(size / 8);
    const auto* locals = reinterpret_cast<const std::uint64_t*>(exact.get());
    for (std::uint32_t from = 0; from < words && from < 64; from++) {
        require(kvi_match_locals(index, 0, locals + from, words - from, hits.data(), 3, &count) == KVI_OK,
                "match");
        for (std::uint32_t i = 0; i < count; i++) {
            const kvi_hit& h = hits[i];
            require(h.slot < 3 && h.depth[3] > 0 && h.depth[3] <= words - from, "a hit out of range");
            require(h.depth[0] <= h.depth[1] && h.depth[1] <= h.depth[2] && h.depth[2] <= h.depth[3],
                    "depths are not cumulative");
        }
    }
    for (std::uint32_t i = 0; i < 3; i++) {
        require(kvi_slot_close(index, i) == KVI_OK, "slot_close");
    }
    kvi_statistics stats{};
    require(kvi_stats(index, &stats) == KVI_OK, "stats");
    require(stats.blocks == 0 && stats.ghosts == 0 && stats.residencies == 0 && stats.runs == 0 &&
                stats.orphans == 0,
            "closing all slots left something behind");
    return kvi_close(index);
}
