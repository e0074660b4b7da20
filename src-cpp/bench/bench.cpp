/// Micro benchmark of the index on one thread: hashing, events, look-ups.
///
///   kvindex_bench             a fleet of 100 workers, about a million (worker, block) pairs; some seconds
///   kvindex_bench --smoke     the same, tiny, in well under a second: it runs and its answers are right
///
/// Every figure is the best and the median of several passes, in ns of thread CPU time per unit. Answers are
/// checked: a benchmark of a wrong index is worth nothing. Where results go: RESULTS.md.
#include "base/hashing.hpp"
#include "clocks.hpp"
#include "kvindex/prefix_index.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace kvindex;
using namespace kvindex::bench;

struct sizes {
    std::uint32_t workers;
    std::uint32_t conversations; ///< prompts; each held by two workers
    std::uint32_t shared;        ///< blocks of the system prompt, held by every worker
    std::uint32_t own;           ///< blocks of one conversation behind it
    std::uint32_t passes;
};

constexpr sizes full{100, 2000, 64, 320, 7};
constexpr sizes smoke{5, 12, 8, 20, 2};

/// Runs `body` `passes` times, each over `units` units, and prints one line.
template <typename F>
void measure(const char* what, const char* unit, std::uint32_t passes, std::uint64_t units, F&& body) {
    std::vector<double> nanos;
    for (std::uint32_t i = 0; i < passes; i++) {
        const std::uint64_t begin = cpu_nanos();
        body(i);
        nanos.push_back(static_cast<double>(cpu_nanos() - begin) / static_cast<double>(units));
    }
    std::sort(nanos.begin(), nanos.end());
    std::printf("%-58s %10.2f %10.2f  ns/%s\n", what, nanos.front(), nanos[nanos.size() / 2], unit);
}

/// What the fleet holds: conversation c on the workers c and c + 1, modulo their number.
struct corpus {
    explicit corpus(const sizes& s) : size(s) {
        std::mt19937_64 random(42);
        std::vector<local_hash> system(s.shared);
        std::generate(system.begin(), system.end(), std::ref(random));
        for (std::uint32_t c = 0; c < s.conversations; c++) {
            std::vector<local_hash>& p = prompts.emplace_back(system);
            p.resize(s.shared + s.own);
            std::generate(p.begin() + s.shared, p.end(), std::ref(random));
            std::vector<engine_hash>& n = names.emplace_back(p.size());
            chain_hashes(p, n);
        }
    }

    slot_id holder(std::uint32_t conversation, std::uint32_t copy) const {
        return slot_id{(conversation + copy) % size.workers};
    }

    stored_event stored(std::uint32_t c, std::uint32_t copy) const {
        return {holder(c, copy), tier::gpu, false, 0, names[c], prompts[c]};
    }

    sizes size;
    std::vector<std::vector<local_hash>> prompts;
    std::vector<std::vector<engine_hash>> names;
};

void bench_hashing(const sizes& s) {
    const std::uint32_t blocks = s.conversations * 4;
    for (const std::uint32_t block_size : {16u, 64u}) {
        std::vector<std::uint32_t> tokens(std::size_t{blocks} * block_size);
        std::iota(tokens.begin(), tokens.end(), 0u);
        std::vector<local_hash> locals(blocks);
        const char* what = block_size == 16 ? "hash, 16 tokens a block" : "hash, 64 tokens a block";
        measure(what, "block", s.passes, blocks,
                [&](std::uint32_t pass) { hash_blocks(tokens.data(), block_size, 1337 + pass, locals); });
        std::vector<std::uint64_t> sequence(blocks);
        if (block_size == 16) {
            measure("chain of local hashes", "block", s.passes, blocks,
                    [&](std::uint32_t) { chain_hashes(locals, sequence); });
        }
    }
}

void apply_all(prefix_index& index, const std::vector<event>& events) {
    const applied_counts counts = index.apply(events);
    require(counts.applied == events.size() && counts.unknown_removed == 0, "an event was not applied");
}

void bench_events(const corpus& c, prefix_index& index) {
    const sizes& s = c.size;
    const std::uint64_t blocks = std::uint64_t{s.conversations} * (s.shared + s.own);
    std::vector<event> first;
    std::vector<event> second;
    std::vector<event> removed;
    std::vector<std::vector<engine_hash>> tails;
    for (std::uint32_t i = 0; i < s.conversations; i++) {
        first.emplace_back(c.stored(i, 0));
        second.emplace_back(c.stored(i, 1));
        tails.emplace_back(c.names[i].rbegin(), c.names[i].rend() - s.shared);
        removed.emplace_back(removed_event{c.holder(i, 1), tier::gpu, tails.back()});
    }
    measure("store prompts that are new, 384 blocks an event", "block", 1, blocks,
            [&](std::uint32_t) { apply_all(index, first); });
    measure("store prompts that another worker holds", "block", 1, blocks,
            [&](std::uint32_t) { apply_all(index, second); });
    measure("evict the second holders, end first", "block", 1, std::uint64_t{s.conversations} * s.own,
            [&](std::uint32_t) { apply_all(index, removed); });
    measure("store them again", "block", 1, blocks, [&](std::uint32_t) { apply_all(index, second); });

    // Decoding: each conversation grows by one block an event, on its first holder.
    const std::uint32_t turns = 8;
    std::vector<engine_hash> names(std::size_t{turns} * s.conversations);
    std::iota(names.begin(), names.end(), std::uint64_t{1} << 60);
    std::vector<event> decode;
    for (std::uint32_t t = 0; t < turns; t++) {
        for (std::uint32_t i = 0; i < s.conversations; i++) {
            const std::size_t at = std::size_t{t} * s.conversations + i;
            const engine_hash parent = t == 0 ? c.names[i].back() : names[at - s.conversations];
            decode.emplace_back(
                stored_event{c.holder(i, 0), tier::gpu, true, parent, {&names[at], 1}, {&names[at], 1}});
        }
    }
    measure("store decoded blocks, one an event", "event", 1, decode.size(),
            [&](std::uint32_t) { apply_all(index, decode); });
}

void bench_matches(const corpus& c, const prefix_index& index) {
    const sizes& s = c.size;
    std::vector<hit> hits(s.workers);
    const auto match = [&](std::uint32_t conversation) {
        const match_result r = index.match(0, c.prompts[conversation], hits);
        require(r.hits == std::min(s.workers, s.conversations + 1), "the system prompt is not everywhere");
        require(hits[number_of(c.holder(conversation, 1))].depth[0] == s.shared + s.own,
                "a prompt is not whole");
    };
    const std::uint32_t repeats = s.conversations;
    measure("match, one prompt again and again", "query", s.passes, repeats, [&](std::uint32_t) {
        for (std::uint32_t i = 0; i < repeats; i++) {
            match(0);
        }
    });
    std::vector<std::uint32_t> order(s.conversations);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
    measure("match, every prompt once, shuffled", "query", s.passes, order.size(), [&](std::uint32_t) {
        for (const std::uint32_t i : order) {
            match(i);
        }
    });
    std::vector<local_hash> unknown(s.shared + s.own, 1);
    measure("match, a prompt nobody holds", "query", s.passes, repeats, [&](std::uint32_t) {
        for (std::uint32_t i = 0; i < repeats; i++) {
            require(index.match(0, unknown, hits).hits == 0, "an unknown prompt has hits");
        }
    });
}

/// Workers without events: conversations that grow by four blocks a decision, then one prompt again and again.
void bench_decisions(const corpus& c, const std::vector<slot_id>& workers, prefix_index& index) {
    const sizes& s = c.size;
    constexpr std::uint32_t turn = 4;
    const std::uint32_t turns = s.own / turn;
    const auto worker = [&](std::uint32_t conversation) { return workers[conversation % workers.size()]; };
    std::uint64_t now = 1;
    const auto grow = [&](std::uint32_t from, std::uint32_t to) {
        std::uint64_t fresh = 0;
        for (std::uint32_t t = from; t < to; t++) {
            for (std::uint32_t i = 0; i < s.conversations; i++) {
                const std::size_t blocks = s.shared + std::size_t{turn} * (t + 1);
                fresh += *index.decide(worker(i), std::span(c.prompts[i]).first(blocks), now);
            }
        }
        return fresh;
    };
    grow(0, 1); // the system prompts
    const std::uint32_t middle = turns / 2;
    const auto between = [&](std::uint32_t from, std::uint32_t to) {
        return std::uint64_t{s.conversations} * (to - from);
    };
    measure("decide, a conversation grown by 4 blocks", "decision", 1, between(1, middle), [&](std::uint32_t) {
        require(grow(1, middle) == between(1, middle) * turn, "a conversation did not grow");
    });
    measure("the same", "new block", 1, between(middle, turns) * turn, [&](std::uint32_t) {
        require(grow(middle, turns) == between(middle, turns) * turn, "a conversation did not grow");
    });
    measure("decide, the same prompt again", "decision", s.passes, s.conversations, [&](std::uint32_t) {
        for (std::uint32_t i = 0; i < s.conversations; i++) {
            require(*index.decide(worker(0), c.prompts[0], ++now) == 0, "a known prompt is new");
        }
    });
    const std::uint64_t due = index.stats().decisions;
    require(due == s.conversations, "a conversation is more than one decision");
    measure("expire, a decision of 384 blocks", "decision", 1, due,
            [&](std::uint32_t) { require(index.expire(now + 120'000) == due, "a decision did not end"); });
    measure("decide, 384 blocks that are known", "block", 1,
            std::uint64_t{s.conversations} * (s.shared + s.own), [&](std::uint32_t) {
                for (std::uint32_t i = 0; i < s.conversations; i++) {
                    index.decide(worker(i), c.prompts[i], now + 120'000);
                }
            });
}

} // namespace

int main(int argc, char** argv) {
    const bool small = argc > 1 && std::string_view(argv[1]) == "--smoke";
    if (argc > 1 && !small) {
        std::fprintf(stderr, "usage: kvindex_bench [--smoke]\n");
        return 2;
    }
    const sizes& s = small ? smoke : full;
    std::printf("%u workers, %u prompts of %u + %u blocks, each held twice\n", s.workers, s.conversations,
                s.shared, s.own);
    std::printf("%-58s %10s %10s\n", "", "best", "median");
    bench_hashing(s);
    const corpus c(s);
    prefix_index index;
    for (std::uint32_t w = 0; w < s.workers; w++) {
        index.open_slot();
    }
    bench_events(c, index);
    bench_matches(c, index);
    {
        // An index of its own: the content is laid by the decisions.
        prefix_index decided;
        std::vector<slot_id> workers;
        for (std::uint32_t w = 0; w < s.workers; w++) {
            workers.push_back(*decided.open_approximate_slot());
        }
        bench_decisions(c, workers, decided);
    }
    const statistics stats = index.stats();
    std::printf("%llu blocks, %llu residencies, %llu runs, %.1f bytes a residency\n",
                static_cast<unsigned long long>(stats.blocks),
                static_cast<unsigned long long>(stats.residencies), static_cast<unsigned long long>(stats.runs),
                static_cast<double>(stats.bytes) / static_cast<double>(stats.residencies));
    return 0;
}
