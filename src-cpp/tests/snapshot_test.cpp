/// Snapshots: what is saved comes back and goes on as if nothing had been.
///
/// KVI_ROUNDS=n runs more random histories.
#include "scenario.hpp"
#include "scratch_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace kvindex::tests {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t rounds = 5;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t rounds = 25;
#else
constexpr std::uint64_t rounds = 150;
#endif

TEST(snapshot, a_history_goes_on_with_what_was_loaded) {
    const char* more = std::getenv("KVI_ROUNDS");
    const std::uint64_t last = more == nullptr ? rounds : std::strtoull(more, nullptr, 10);
    const scratch_file file;
    for (std::uint64_t seed = 1; seed <= last; seed++) {
        try {
            random_source source(seed);
            scenario s(source);
            for (std::uint32_t part = 0; part < 3; part++) {
                for (std::uint32_t i = 0; i < 250; i++) {
                    s.step();
                }
                s.go_on_with([&](const prefix_index& index, const options& o) {
                    const snapshot_report saved = index.save(file.path(), {}, {});
                    auto loaded = std::make_unique<prefix_index>(o);
                    const snapshot_report report = loaded->load(file.path());
                    if (saved.status != snapshot_status::ok || report.status != snapshot_status::ok) {
                        throw disagreement("refused: " + saved.message + report.message);
                    }
                    const statistics before = index.stats();
                    const statistics after = loaded->stats();
                    // An index that ran for a while may know of fewer ghosts: where children hung, it looks
                    // late.
                    if (!report.quiet || before.blocks != after.blocks || before.runs != after.runs ||
                        before.ghosts > after.ghosts) {
                        throw disagreement("the loaded index has other sums");
                    }
                    return loaded;
                });
                s.check_invariants();
                s.compare_all();
            }
            for (std::uint32_t i = 0; i < 250; i++) {
                s.step();
            }
            s.check_invariants();
            s.compare_all();
        } catch (const disagreement& d) {
            FAIL() << d.what() << "\nseed " << seed;
        }
    }
}

} // namespace
} // namespace kvindex::tests
