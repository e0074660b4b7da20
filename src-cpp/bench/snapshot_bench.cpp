/// Saving and loading a large index: seconds of wall time, file size, longest wait of a writer.
///
///   snapshot_bench [FILE]     10 million (worker, block) pairs; FILE: where, default in the temporary folder
///   snapshot_bench --smoke    the same, tiny: it runs and what is loaded is what was saved
///
/// Three passes, the file is in the page cache. Where results go: RESULTS.md.
#include "base/hashing.hpp"
#include "kvindex/prefix_index.hpp"
#include "require.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace kvindex;
using bench::require;

struct sizes {
    std::uint32_t workers;
    std::uint32_t prompts; ///< each held by two workers
    std::uint32_t shared;  ///< blocks of the system prompt, held by every worker
    std::uint32_t own;     ///< blocks of one prompt behind it
};

constexpr sizes full{100, 15600, 64, 320};
constexpr sizes smoke{5, 20, 8, 20};

double seconds_of(const std::function<void()>& f) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void fill(prefix_index& index, const sizes& s) {
    std::mt19937_64 random(42);
    for (std::uint32_t w = 0; w < s.workers; w++) {
        index.open_slot(0, 0);
    }
    std::vector<local_hash> locals(s.shared + s.own);
    std::vector<engine_hash> names(locals.size());
    std::generate_n(locals.begin(), s.shared, std::ref(random));
    for (std::uint32_t p = 0; p < s.prompts; p++) {
        std::generate(locals.begin() + s.shared, locals.end(), std::ref(random));
        chain_hashes(locals, names);
        for (std::uint32_t copy = 0; copy < 2; copy++) {
            const event e = stored_event{slot_id{(p + copy) % s.workers}, tier::gpu, false, 0, names, locals};
            require(index.apply({&e, 1}).applied == 1, "an event was not applied");
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool small = argc > 1 && std::string_view(argv[1]) == "--smoke";
    const sizes& s = small ? smoke : full;
    const std::string path = argc > 1 && !small
                                 ? argv[1]
                                 : (std::filesystem::temp_directory_path() / "kvindex.snapshot_bench").string();
    prefix_index index;
    fill(index, s);
    const statistics before = index.stats();
    std::printf("%llu residencies, %llu blocks, %llu runs\n",
                static_cast<unsigned long long>(before.residencies),
                static_cast<unsigned long long>(before.blocks), static_cast<unsigned long long>(before.runs));
    for (std::uint32_t pass = 0; pass < (small ? 1u : 3u); pass++) {
        snapshot_report saved;
        const double save = seconds_of([&] { saved = index.save(path, {}, {}); });
        require(saved.status == snapshot_status::ok, saved.message);
        prefix_index loaded;
        snapshot_report back;
        const double load = seconds_of([&] { back = loaded.load(path); });
        require(back.status == snapshot_status::ok, back.message);
        const statistics after = loaded.stats();
        require(after.residencies == before.residencies && after.blocks == before.blocks &&
                    after.slots == before.slots,
                "the loaded index differs");
        std::printf("save %.3f s (longest hold %.0f us), %.1f MB, load %.3f s\n", save,
                    static_cast<double>(saved.longest_hold) / 1e3, static_cast<double>(saved.bytes) / 1e6,
                    load);
    }
    std::filesystem::remove(path);
    return 0;
}
