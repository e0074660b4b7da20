/// Look-ups one by one against several at once, over an index that no cache holds, and the best slots by cost.
///
///   queries_bench             16,000 conversations, content of some 60 MB; half a minute
///   queries_bench --smoke     the same, tiny: it runs and its answers are right
///
/// Hashes that are asked for lie in a buffer that was just written, as in a gateway, which has just made them.
/// Which way is timed changes from chunk to chunk, so that all see the same neighbours. ns of thread CPU time.
#include "base/hashing.hpp"
#include "clocks.hpp"
#include "kvindex/prefix_index.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace kvindex;
using namespace kvindex::bench;

struct sizes {
    std::uint32_t conversations;
    std::uint32_t chunk; ///< look-ups that are timed together
    std::uint32_t passes;
    std::uint32_t repeats; ///< of best()
};

constexpr sizes full{16'000, 320, 8, 20'000};
constexpr sizes smoke{60, 20, 4, 10};
constexpr std::uint32_t workers = 100;
constexpr std::uint32_t systems = 16; ///< system prompts
constexpr std::uint32_t shared = 64;  ///< blocks of one
constexpr std::uint32_t blocks = 384; ///< of a conversation

/// Conversation c, made anew whenever it is needed: kept ones would be a second index in the caches.
void prompt_of(std::uint32_t c, std::span<local_hash> out) {
    std::mt19937_64 system(c % systems);
    std::mt19937_64 own(1000 + c);
    for (std::uint32_t i = 0; i < out.size(); i++) {
        out[i] = i < shared ? system() : own();
    }
}

void fill(prefix_index& index, const sizes& s) {
    std::vector<slot_id> slots;
    for (std::uint32_t w = 0; w < workers; w++) {
        slots.push_back(*index.open_slot());
    }
    std::vector<local_hash> prompt(blocks);
    std::vector<engine_hash> names(blocks);
    for (std::uint32_t c = 0; c < s.conversations; c++) {
        prompt_of(c, prompt);
        chain_hashes(prompt, names);
        for (const std::uint32_t w : {c % workers, (c + 1) % workers}) {
            const event e = stored_event{slots[w], tier::gpu, false, 0, names, prompt};
            index.apply({&e, 1});
        }
    }
}

/// Asks for the chunk's prompts, `together` a call; 0 is the single look-up.
void ask(const prefix_index& index, std::span<const query> queries, std::uint32_t together,
         std::vector<std::uint32_t>& rows, std::uint32_t stride) {
    if (together == 0) {
        for (const query& q : queries) {
            index.match_dense(0, q.locals, 1, rows.data(), stride);
        }
        return;
    }
    for (std::size_t i = 0; i < queries.size(); i += together) {
        index.match_batch(queries.subspan(i, std::min<std::size_t>(together, queries.size() - i)), 1,
                          rows.data(), stride, {});
    }
}

void bench_batches(const prefix_index& index, const sizes& s) {
    const std::vector<std::uint32_t> ways{0, 1, 2, 4, 8, 16, 32};
    const std::uint32_t stride = index.slot_bound();
    std::vector<std::uint32_t> rows(32 * stride);
    std::vector<local_hash> staged(std::size_t{s.chunk} * blocks);
    std::vector<query> queries(s.chunk);
    std::vector<std::uint32_t> order(s.conversations);
    std::iota(order.begin(), order.end(), 0u);
    std::vector<std::vector<double>> nanos(ways.size());
    std::size_t turn = 0;
    std::mt19937_64 random(7);
    for (std::uint32_t pass = 0; pass < s.passes; pass++) {
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t at = 0; at + s.chunk <= order.size(); at += s.chunk) {
            for (std::uint32_t i = 0; i < s.chunk; i++) {
                const std::span<local_hash> room(staged.data() + std::size_t{i} * blocks, blocks);
                prompt_of(order[at + i], room);
                queries[i].locals = room;
            }
            const std::size_t way = turn++ % ways.size();
            const std::uint64_t begin = cpu_nanos();
            ask(index, queries, ways[way], rows, stride);
            nanos[way].push_back(static_cast<double>(cpu_nanos() - begin) / s.chunk);
            const std::uint32_t last = ways[way] == 0 ? 0 : (s.chunk - 1) % ways[way];
            require(rows[last * stride + order[at + s.chunk - 1] % workers] == blocks, "a prompt is not whole");
        }
    }
    for (std::size_t way = 0; way < ways.size(); way++) {
        std::sort(nanos[way].begin(), nanos[way].end());
        char what[64];
        std::snprintf(what, sizeof what,
                      ways[way] == 0 ? "match_dense, shuffled" : "match_batch of %u, shuffled", ways[way]);
        std::printf("%-58s %10.1f %10.1f  ns/query\n", what, nanos[way].front(),
                    nanos[way][nanos[way].size() / 2]);
    }
}

void bench_best(std::uint32_t slots, const sizes& s) {
    prefix_index index;
    std::vector<local_hash> prompt(blocks);
    std::vector<engine_hash> names(blocks);
    prompt_of(0, prompt);
    chain_hashes(prompt, names);
    std::mt19937_64 random(3);
    for (std::uint32_t i = 0; i < slots; i++) {
        const std::size_t depth = 1 + random() % (i % 4 == 0 ? blocks : shared);
        const event e = stored_event{*index.open_slot(),
                                     tier::gpu,
                                     false,
                                     0,
                                     std::span(names).first(depth),
                                     std::span(prompt).first(depth)};
        index.apply({&e, 1});
    }
    const std::uint32_t bound = index.slot_bound();
    std::vector<double> prefill(bound);
    std::vector<double> base(bound);
    for (std::uint32_t i = 0; i < bound; i++) {
        prefill[i] = static_cast<double>(random() % 1000);
        base[i] = static_cast<double>(random() % 1000);
    }
    std::vector<std::uint32_t> rows(std::size_t{bound} * tier_count);
    const query q{.locals = prompt};
    const cost_terms terms{.credit = {1, 0.75, 0.25, 0.25}, .prompt = 384};
    const auto measure = [&](const char* what, std::uint32_t k, auto&& body) {
        std::vector<double> nanos;
        for (std::uint32_t pass = 0; pass < s.passes; pass++) {
            const std::uint64_t begin = cpu_nanos();
            for (std::uint32_t i = 0; i < s.repeats; i++) {
                body(k);
            }
            nanos.push_back(static_cast<double>(cpu_nanos() - begin) / s.repeats);
        }
        std::sort(nanos.begin(), nanos.end());
        std::printf("%-40s %5u slots, k = %-3u %10.1f %10.1f  ns/query\n", what, slots, k, nanos.front(),
                    nanos[nanos.size() / 2]);
    };
    std::vector<choice> out(slots);
    best_found found;
    measure("match_dense, 4 tiers, hot", 0,
            [&](std::uint32_t) { index.match_dense(0, prompt, tier_count, rows.data(), bound); });
    for (const std::uint32_t k : {1u, 8u}) {
        measure("best, hot", k, [&](std::uint32_t most) {
            index.best({&q, 1}, {&terms, 1}, prefill, base, most, out.data(), &found);
            require(found.count == most, "too few choices");
        });
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool small = argc > 1 && std::string_view(argv[1]) == "--smoke";
    if (argc > 1 && !small) {
        std::fprintf(stderr, "usage: queries_bench [--smoke]\n");
        return 2;
    }
    const sizes& s = small ? smoke : full;
    std::printf("%-58s %10s %10s\n", "", "best", "median");
    {
        prefix_index index;
        fill(index, s);
        bench_batches(index, s);
    }
    bench_best(100, s);
    bench_best(1000, s);
    return 0;
}
