/// What was given up under a reader is not used again before it has gone.
#include "storage/reclaimer.hpp"

#include <gtest/gtest.h>

namespace kvindex::storage {
namespace {

TEST(reclaimer, nothing_is_used_again_under_a_reader) {
    granule_arena arena(100);
    reclaimer r;
    std::vector<std::uint32_t> reused;
    const auto collect = [&] { r.collect([&](std::uint32_t run) { reused.push_back(run); }); };
    for (std::uint32_t run = 1; run < 6; run++) {
        const std::uint32_t at = arena.take(8);
        const std::uint64_t cut = r.now();
        {
            const sync::epoch_domain<>::pin reader(r.domain());
            r.retire(arena, at, 8);
            r.retire_run(run);
            collect();
            collect();
            EXPECT_EQ(r.waiting(), 2u);
            EXPECT_NE(arena.take(8), at);
            EXPECT_EQ(reused.size(), run - 1);
            EXPECT_FALSE(r.is_past(cut));
        }
        collect();
        EXPECT_EQ(r.waiting(), 0u);
        EXPECT_EQ(arena.take(8), at);
        EXPECT_EQ(reused.size(), run);
        EXPECT_EQ(reused.back(), run);
        EXPECT_TRUE(r.is_past(cut));
    }
}

TEST(reclaimer, a_reader_that_came_later_is_not_waited_for) {
    granule_arena arena(100);
    reclaimer r;
    const std::uint32_t at = arena.take(8);
    r.retire(arena, at, 8);
    r.collect([](std::uint32_t) {});
    const sync::epoch_domain<>::pin reader(r.domain());
    EXPECT_EQ(arena.take(8), at);
    EXPECT_FALSE(r.is_past(r.now()));
}

} // namespace
} // namespace kvindex::storage
