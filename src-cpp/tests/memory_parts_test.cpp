/// The parts of the memory are all of it.
#include "kvindex/prefix_index.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace kvindex::tests {
namespace {

/// What stats() has no account of.
std::uint64_t beside_the_statistics(const memory_parts& p) {
    return p.extras + p.map_directory;
}

/// Prompts that part, with holes, many holders, and names of two domains.
void fill(prefix_index& index, std::uint32_t rounds) {
    std::vector<slot_id> slots;
    for (std::uint32_t i = 0; i < 12; i++) {
        slots.push_back(*index.open_slot(i % 4 == 3 ? 1 : 0));
    }
    std::mt19937_64 random(11);
    std::vector<local_hash> system(40);
    for (local_hash& l : system) {
        l = random();
    }
    for (std::uint32_t r = 0; r < rounds; r++) {
        std::vector<local_hash> locals(system.begin(),
                                       system.begin() + static_cast<std::ptrdiff_t>(random() % 41));
        while (locals.size() < 60) {
            locals.push_back(random());
        }
        std::vector<engine_hash> names(locals.size());
        for (std::size_t i = 0; i < names.size(); i++) {
            names[i] = (i == 0 ? 0 : names[i - 1]) * 31 + locals[i];
        }
        for (const slot_id slot : slots) {
            const event stored = stored_event{slot, tier::gpu, false, 0, names, locals};
            index.apply({&stored, 1});
        }
        const event hole = removed_event{slots[r % 12], tier::gpu, std::span(names).subspan(50, 5)};
        index.apply({&hole, 1});
        const event gone = removed_event{slots[(r + 1) % 12], tier::gpu, names};
        index.apply({&gone, 1});
    }
    const slot_id decided = *index.open_approximate_slot();
    index.decide(decided, system, 0);
    const event waits = stored_event{slots[0], tier::gpu, true, 77, system, system};
    index.apply({&waits, 1});
}

TEST(memory_parts, add_up_to_the_statistics) {
    for (const std::uint32_t rounds : {0u, 1u, 30u, 600u}) {
        prefix_index index({.max_blocks = 1u << 20});
        fill(index, rounds);
        const memory_parts p = index.memory();
        const statistics s = index.stats();
        EXPECT_EQ(p.bytes() - beside_the_statistics(p), s.bytes) << rounds << " rounds";
        EXPECT_EQ(p.residencies, s.residencies);
        EXPECT_EQ(p.blocks, s.blocks);
        EXPECT_EQ(p.content_words, s.blocks * 8);
        EXPECT_EQ(p.map_entries, p.names * 6) << "the map has a name that no line has, or the other way round";
        EXPECT_EQ(p.line_names, p.names * 8);
        EXPECT_GT(p.decisions, 0u);
        EXPECT_EQ(p.lines * 64, p.line_heads + p.line_names + p.line_empty);
    }
}

TEST(memory_parts, each_of_a_small_index_is_where_it_belongs) {
    prefix_index index({.max_blocks = 1u << 20});
    const slot_id slot = *index.open_slot();
    const std::vector<engine_hash> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const event e = stored_event{slot, tier::gpu, false, 0, ten, ten};
    index.apply({&e, 1});
    const memory_parts p = index.memory();
    EXPECT_EQ(p.names, 10u);
    EXPECT_EQ(p.lines, 2u);
    EXPECT_EQ(p.line_empty, 4 * 8u);
    EXPECT_EQ(p.content_words, 80u);
    EXPECT_EQ(p.content_empty, 48u);
    EXPECT_EQ(p.ids_used, 8u);
    EXPECT_EQ(p.child_entries, 8u);
    EXPECT_EQ(p.heads, 64u);
    EXPECT_EQ(p.head_words, 1u);
    EXPECT_EQ(p.short_runs, 0u);
    EXPECT_EQ(p.lone_lines, 1u);
    EXPECT_EQ(p.tables, 0u);
}

} // namespace
} // namespace kvindex::tests
