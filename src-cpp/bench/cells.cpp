/// Three fixed pieces of work whose instructions are counted (count_instructions.sh): the same on every run and
/// every machine with the same compiler, so a change of a few per cent shows where time would drown it in
/// noise.
///
///   kvindex_cells match | decode | churn
#include "base/hashing.hpp"
#include "kvindex/prefix_index.hpp"
#include "require.hpp"

#include <cstdio>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace kvindex;
using bench::require;

constexpr std::uint32_t workers = 100;
constexpr std::uint32_t blocks = 384;

struct prompt {
    explicit prompt(std::mt19937_64& random, std::uint32_t n) : locals(n), names(n) {
        for (local_hash& l : locals) {
            l = random();
        }
        chain_hashes(locals, names);
    }

    std::vector<local_hash> locals;
    std::vector<engine_hash> names;
};

event store(slot_id slot, const prompt& p, std::size_t from, std::size_t count) {
    return stored_event{slot,
                        tier::gpu,
                        from != 0,
                        from != 0 ? p.names[from - 1] : 0,
                        std::span(p.names).subspan(from, count),
                        std::span(p.locals).subspan(from, count)};
}

/// One prompt of 384 blocks that 100 workers hold, asked for 20,000 times.
void match(prefix_index& index, const std::vector<slot_id>& slots, std::mt19937_64& random) {
    const prompt p(random, blocks);
    for (const slot_id slot : slots) {
        const event e = store(slot, p, 0, blocks);
        index.apply({&e, 1});
    }
    std::vector<std::uint32_t> depths(index.slot_bound());
    for (int i = 0; i < 20'000; i++) {
        index.match_dense(0, p.locals, 1, depths.data(), index.slot_bound());
    }
    require(depths[workers - 1] == blocks, "a depth");
}

/// 1,000 conversations that grow by one block an event, in turns.
void decode(prefix_index& index, const std::vector<slot_id>& slots, std::mt19937_64& random) {
    std::vector<prompt> prompts;
    for (int i = 0; i < 1000; i++) {
        prompts.emplace_back(random, 64);
    }
    for (std::size_t at = 0; at < 64; at++) {
        std::vector<event> events;
        for (std::size_t c = 0; c < prompts.size(); c++) {
            events.push_back(store(slots[c % workers], prompts[c], at, 1));
        }
        index.apply(events);
    }
    require(index.stats().residencies == 64'000, "the blocks held");
}

/// Prompts of 64 blocks, stored and evicted from their end.
void churn(prefix_index& index, const std::vector<slot_id>& slots, std::mt19937_64& random) {
    for (int round = 0; round < 40; round++) {
        for (std::size_t c = 0; c < workers; c++) {
            const prompt p(random, 64);
            const std::vector<engine_hash> backwards(p.names.rbegin(), p.names.rend());
            const event events[] = {store(slots[c], p, 0, 64), removed_event{slots[c], tier::gpu, backwards}};
            index.apply(events);
        }
    }
    require(index.stats().residencies == 0, "a block is still held");
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view cell = argc == 2 ? argv[1] : "";
    prefix_index index({.max_blocks = 1u << 20});
    std::vector<slot_id> slots;
    for (std::uint32_t i = 0; i < workers; i++) {
        slots.push_back(*index.open_slot());
    }
    std::mt19937_64 random(7);
    if (cell == "match") {
        match(index, slots, random);
    } else if (cell == "decode") {
        decode(index, slots, random);
    } else if (cell == "churn") {
        churn(index, slots, random);
    } else {
        std::fprintf(stderr, "usage: kvindex_cells match|decode|churn\n");
        return 2;
    }
    return 0;
}
