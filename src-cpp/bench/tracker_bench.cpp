/// The block cache tracker: how often its search is wrong on a workload, with position and with chained hashes,
/// and what a call costs.
///
///   tracker_bench --rates [TRACE]   share of look-ups that answer more, or less, than the back end shares;
///   TRACE:
///                                   lines with "hash_ids": [...], one id per 512 tokens
///   tracker_bench --cost            CPU time of calls
///   tracker_bench --smoke           both, small
#include "clocks.hpp"
#include "require.hpp"
#include "tracker/block_tracker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using kvindex::slot_id;
using kvindex::bench::cpu_nanos;
using kvindex::bench::require;
using kvindex::tracker::block_tracker;
using kvindex::tracker::hash_prompt;
using kvindex::tracker::hashing;
using kvindex::tracker::tracker_hit;

using prompt = std::vector<std::uint32_t>;

constexpr std::uint32_t block = 16;
constexpr std::uint32_t tokens_of_an_id = 512;

/// Tokens that only this id has.
void append(prompt& p, std::uint64_t id, std::uint32_t tokens) {
    for (std::uint32_t i = 0; i < tokens; i++) {
        p.push_back(static_cast<std::uint32_t>(id * 2654435761u + i * 40503u));
    }
}

/// The prompts of a recorded trace. Its ids are made from all that stands before them: equal ids mean equal
/// prefixes, so no two prompts of it cross.
std::vector<prompt> from_trace(const char* file) {
    std::ifstream in(file);
    require(in.good(), "the trace can be read");
    std::vector<prompt> prompts;
    for (std::string line; std::getline(in, line);) {
        const auto begin = line.find("\"hash_ids\": [");
        require(begin != std::string::npos, "each line has hash_ids");
        prompt p;
        const char* at = line.c_str() + begin + std::strlen("\"hash_ids\": [");
        while (*at != ']' && *at != 0) {
            char* end = nullptr;
            append(p, std::strtoull(at, &end, 10), tokens_of_an_id);
            at = *end == ',' ? end + 1 : end;
        }
        prompts.push_back(std::move(p));
    }
    return prompts;
}

/// Retrieval: one of a few system prompts of equal length, some passages of equal length from a pool, a
/// question. The same passage comes at the same place behind different beginnings: such prompts cross.
std::vector<prompt> retrieval(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<prompt> prompts;
    for (std::size_t i = 0; i < count; i++) {
        prompt p;
        append(p, 1'000 + random() % 4, 256);
        for (int passage = 0; passage < 4; passage++) {
            append(p, 2'000 + std::min(random() % 60, random() % 60), 512); // some are asked for more often
        }
        append(p, 10'000 + i, 64);
        prompts.push_back(std::move(p));
    }
    return prompts;
}

struct rates {
    std::uint64_t asked = 0; ///< (look-up, back end that holds block 0) pairs
    std::uint64_t more = 0;  ///< the answer is longer than what the back end shares
    std::uint64_t holes = 0; ///< of these, with a block missing below the answer
    std::uint64_t less = 0;  ///< shorter than the run of known blocks
    std::uint64_t blocks_too_many = 0;
    std::uint64_t blocks = 0; ///< shared in truth
};

/// Every prompt is looked up, goes to the back end with the longest prefix or the next in turn, and is
/// recorded. The truth is what went to a back end by chained hash, beside the tracker and with its evictions
/// (mirrored by asking it for the block by its own hash).
rates run(const std::vector<prompt>& prompts, hashing how, std::uint64_t max_blocks) {
    constexpr std::uint32_t backends = 8;
    block_tracker t({.block_size = block, .how = how, .max_blocks = max_blocks});
    std::vector<std::set<std::uint64_t>> truth(backends);
    for (std::uint32_t b = 0; b < backends; b++) {
        t.join(slot_id{b});
    }
    rates r;
    std::vector<tracker_hit> hits(backends);
    std::uint32_t turn = 0;
    std::size_t number = 0;
    for (const prompt& p : prompts) {
        const auto count = static_cast<std::uint32_t>(p.size() / block);
        std::vector<std::uint64_t> own(count);
        std::vector<std::uint64_t> chain(count);
        hash_prompt(p.data(), block, 0, how, own);
        hash_prompt(p.data(), block, 0, hashing::chained, chain);
        const auto found = t.find(p.data(), count, 0, hits);
        tracker_hit best;
        for (std::uint32_t i = 0; i < found.hits; i++) {
            const tracker_hit& h = hits[i];
            std::uint32_t shared = 0;
            std::uint32_t run_length = 0;
            while (run_length < count && t.holds(slot_id{h.backend}, own[run_length])) {
                run_length++;
            }
            while (shared < run_length && truth[h.backend].contains(chain[shared])) {
                shared++;
            }
            r.asked++;
            r.blocks += shared;
            r.more += h.blocks > shared ? 1u : 0u;
            r.holes += h.blocks > run_length ? 1u : 0u;
            r.less += h.blocks < run_length ? 1u : 0u;
            r.blocks_too_many += h.blocks > shared ? h.blocks - shared : 0;
            best = h.blocks > best.blocks ? h : best;
        }
        const bool hit = static_cast<float>(best.blocks) / static_cast<float>(count) > 0.3f;
        const std::uint32_t to = hit ? best.backend : turn++ % backends;
        t.record(slot_id{to}, p.data(), count, 0);
        truth[to].insert(chain.begin(), chain.end());
        if (++number % 200 == 0) {
            t.evict_all();
        }
    }
    return r;
}

void print_rates(const char* workload, const std::vector<prompt>& prompts, std::uint64_t max_blocks) {
    for (const hashing how : {hashing::position, hashing::chained}) {
        const rates r = run(prompts, how, max_blocks);
        const auto percent = [&](std::uint64_t n, std::uint64_t of) {
            return of == 0 ? 0.0 : 100.0 * static_cast<double>(n) / static_cast<double>(of);
        };
        std::printf(
            "%-10s %zu prompts, %7zu blocks a back end, %-8s asked %8zu: too long %6.2f %% (over a hole "
            "%6.2f %%), too short %6.2f %%, blocks too many %6.2f %% of those shared\n",
            workload, prompts.size(), static_cast<std::size_t>(max_blocks),
            how == hashing::position ? "position" : "chained", static_cast<std::size_t>(r.asked),
            percent(r.more, r.asked), percent(r.holes, r.asked), percent(r.less, r.asked),
            percent(r.blocks_too_many, r.blocks));
        require(how == hashing::position || r.more + r.less == 0, "chained hashes are never wrong");
    }
}

void print_cost(std::uint32_t backends, std::uint32_t blocks, bool smoke) {
    block_tracker t({.block_size = block, .how = hashing::position, .max_blocks = 100'000});
    std::vector<prompt> prompts;
    for (std::uint32_t i = 0; i < (smoke ? 4u : 64u); i++) {
        prompt p;
        append(p, 1, block); // all begin alike: every back end is a candidate
        append(p, 100 + i, (blocks - 1) * block);
        prompts.push_back(std::move(p));
    }
    const std::uint32_t fill = smoke ? 1u : std::max(1u, 100'000 / blocks);
    for (std::uint32_t b = 0; b < backends; b++) {
        t.join(slot_id{b});
        for (std::uint32_t i = 0; i < fill; i++) {
            prompt p;
            append(p, 1, block);
            append(p, 1'000'000 + std::uint64_t{b} * fill + i, (blocks - 1) * block);
            t.record(slot_id{b}, p.data(), blocks, 0);
        }
        for (const prompt& p : prompts) {
            t.record(slot_id{b}, p.data(), blocks, 0);
        }
    }
    std::vector<tracker_hit> hits(backends);
    const auto each = [&](const char* what, std::uint32_t rounds, auto&& call) {
        const std::uint64_t begin = cpu_nanos();
        for (std::uint32_t i = 0; i < rounds; i++) {
            call(i);
        }
        std::printf("  %-28s %9.0f ns\n", what,
                    static_cast<double>(cpu_nanos() - begin) / static_cast<double>(rounds));
    };
    const auto s = t.stats();
    std::printf("%u back ends, prompts of %u blocks: %zu blocks, %.1f bytes each\n", backends, blocks,
                static_cast<std::size_t>(s.blocks),
                static_cast<double>(s.bytes) / static_cast<double>(s.blocks));
    const std::uint32_t rounds = smoke ? 4u : 4000u;
    std::vector<std::uint64_t> hashes(blocks);
    each("hash", rounds, [&](std::uint32_t i) {
        hash_prompt(prompts[i % prompts.size()].data(), block, 0, hashing::position, hashes);
    });
    each("find, all hold it", rounds, [&](std::uint32_t i) {
        require(t.find(prompts[i % prompts.size()].data(), blocks, 0, hits).hits == backends, "all found");
    });
    each("record, known", rounds, [&](std::uint32_t i) {
        t.record(slot_id{i % backends}, prompts[i % prompts.size()].data(), blocks, 0);
    });
    prompt fresh;
    append(fresh, 1, block * blocks);
    each("record, new", rounds, [&](std::uint32_t i) {
        for (std::uint32_t at = 0; at < fresh.size(); at += block) {
            fresh[at] = 77'000'000 + i;
        }
        t.record(slot_id{i % backends}, fresh.data(), blocks, 0);
    });
    const std::uint64_t begin = cpu_nanos();
    const std::uint64_t evicted = t.evict_all();
    if (evicted != 0) {
        std::printf("  %-28s %9.0f ns\n", "evict, a block",
                    static_cast<double>(cpu_nanos() - begin) / static_cast<double>(evicted));
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    const bool smoke = mode == "--smoke";
    if (mode != "--rates" && mode != "--cost" && !smoke) {
        std::fprintf(stderr, "usage: tracker_bench --rates [TRACE] | --cost | --smoke\n");
        return 2;
    }
    if (mode != "--cost") {
        if (argc > 2) {
            const auto prompts = from_trace(argv[2]);
            print_rates("trace", prompts, 100'000);
            print_rates("trace", prompts, 20'000);
        }
        const auto prompts = retrieval(smoke ? 300 : 10'000, 1);
        print_rates("retrieval", prompts, 100'000);
        print_rates("retrieval", prompts, 2'000);
    }
    if (mode != "--rates") {
        for (const std::uint32_t backends : {8u, 100u}) {
            for (const std::uint32_t blocks : {64u, 512u}) {
                print_cost(backends, blocks, smoke);
            }
        }
    }
    return 0;
}
