#include "clock.hpp"
#include "modes.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <malloc.h>

namespace kvindex::replay {

namespace {

/// What differed, over all checked queries. An entry is a (query, worker) pair.
struct differences {
    std::uint64_t queries = 0;
    std::uint64_t wrong_queries = 0;
    std::uint64_t entries = 0; ///< that hold something by the right answer
    std::uint64_t wrong_entries = 0;
    std::uint64_t over = 0;
    std::uint64_t under = 0;
    std::uint64_t wrong_best = 0;
    std::uint64_t absolute_blocks = 0;
    std::uint64_t true_blocks = 0;

    /// `want` and `got` by worker. `strangers`: answers about nobody.
    void add(std::span<const std::uint32_t> want, std::span<const std::uint32_t> got, std::uint32_t strangers) {
        const std::uint64_t before = wrong_entries;
        wrong_entries += strangers;
        over += strangers;
        for (std::size_t w = 0; w < want.size(); w++) {
            entries += want[w] != 0;
            true_blocks += want[w];
            wrong_entries += want[w] != got[w];
            over += got[w] > want[w];
            under += got[w] < want[w];
            absolute_blocks += std::max(want[w], got[w]) - std::min(want[w], got[w]);
        }
        queries++;
        wrong_queries += wrong_entries != before;
        wrong_best += std::ranges::max(want) != std::ranges::max(got);
    }
};

void print(const replay_input& in, const differences& d, std::uint64_t bytes, const subject& index) {
    const std::uint64_t resident = in.log.header().resident;
    const auto each = [&](std::uint64_t amount) {
        return resident == 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(resident);
    };
    const kvi_statistics s = index.stats();
    const kvi_applied& a = index.applied();
    std::printf("{\"impl\":\"%s\",\"mode\":\"check\",\"queries\":%" PRIu64 ",\"wrong_queries\":%" PRIu64
                ",\"entries\":%" PRIu64 ",\"wrong_entries\":%" PRIu64 ",\"over\":%" PRIu64 ",\"under\":%" PRIu64
                ",\"wrong_best\":%" PRIu64 ",\"abs_blocks\":%" PRIu64 ",\"true_blocks\":%" PRIu64
                ",\"bytes\":%" PRIu64 ",\"bytes_per_res\":%.1f,",
                in.how.name.c_str(), d.queries, d.wrong_queries, d.entries, d.wrong_entries, d.over, d.under,
                d.wrong_best, d.absolute_blocks, d.true_blocks, bytes, each(bytes));
    std::printf("\"note\":\"blocks %" PRIu64 " residencies %" PRIu64 " of %" PRIu64 " runs %" PRIu64
                " orphans %" PRIu64 " of %" PRIu64 " unknown removed %" PRIu64
                " own count %.1f B most steps %" PRIu32 " cut short %" PRIu64 "\"}\n",
                s.blocks, s.residencies, resident, s.runs, s.orphans, a.orphans, a.unknown_removed,
                each(s.bytes), index.most_steps(), index.cut_short());
}

} // namespace

bool check_mode(const replay_input& in, const std::vector<answer>& answers) {
    std::vector<std::uint32_t> want(in.log.header().workers);
    std::vector<std::uint32_t> got(want.size());
    differences found;
    malloc_trim(0); // free memory that the index could take would hide its own
    const std::uint64_t before = anonymous_bytes();
    fresh_subject index(in);
    auto next = answers.begin();
    for (const step& s : in.load.steps()) {
        if (!s.is_query) {
            apply_events(index, in, s.first, s.count);
            continue;
        }
        for (std::uint64_t i = 0; i < s.count; i += most_in_flight) {
            const std::uint64_t first = s.first + i;
            const std::uint64_t n = std::min<std::uint64_t>(most_in_flight, s.count - i);
            if (next == answers.end() || next->query >= first + n) {
                continue;
            }
            index.spoil_answer();
            if (in.how.inflight) {
                index.ask_together(std::span(in.load.queries()).subspan(first, n));
            } else {
                index.ask(in.load.queries()[first]);
            }
            for (; next != answers.end() && next->query < first + n; ++next) {
                std::ranges::fill(want, 0);
                for (const depth_pair p : next->pairs) {
                    want[p.worker] = p.depth;
                }
                index.select(next->query - first);
                const std::uint32_t strangers = index.read_answer(got);
                found.add(want, got, strangers);
            }
        }
    }
    const std::uint64_t after = anonymous_bytes();
    if (next != answers.end()) {
        throw replay_error("not every answer was compared");
    }
    print(in, found, after - std::min(before, after), index);
    return found.wrong_queries == 0;
}

} // namespace kvindex::replay
