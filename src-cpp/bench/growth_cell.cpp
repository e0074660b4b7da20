#include "growth_cell.hpp"

#include "clocks.hpp"
#include "kvindex/prefix_index.hpp"

#include <cinttypes>

#include <malloc.h>

namespace kvindex::bench {
namespace {

constexpr std::uint32_t decoded = 64; ///< blocks that a conversation grows by

/// Durations of single calls, and which were the longest.
class step_log {
public:
    step_log(const char* what, std::size_t room) : m_what(what) {
        m_cpu.reserve(room);
        m_wall.reserve(room);
    }

    /// `size`: residencies before the call.
    template <typename F>
    std::uint64_t time(std::uint64_t size, F&& call) {
        const std::uint64_t faults = page_faults();
        const std::uint64_t wall = wall_nanos();
        const std::uint64_t cpu = cpu_nanos();
        call();
        const auto cpu_taken = static_cast<std::uint32_t>(cpu_nanos() - cpu);
        const auto wall_taken = static_cast<std::uint32_t>(wall_nanos() - wall);
        m_cpu.push_back(cpu_taken);
        m_wall.push_back(wall_taken);
        const std::uint64_t met = page_faults() - faults;
        m_own_max = met == 0 ? std::max(m_own_max, cpu_taken) : m_own_max;
        note({cpu_taken, wall_taken, met, size});
        return cpu_taken;
    }

    step_times result() {
        return {.count = m_cpu.size(),
                .cpu_p50 = percentile(m_cpu, 0.5),
                .cpu_p999 = percentile(m_cpu, 0.999),
                .cpu_max = percentile(m_cpu, 1),
                .cpu_own_max = m_own_max,
                .wall_p50 = percentile(m_wall, 0.5),
                .wall_p999 = percentile(m_wall, 0.999),
                .wall_max = percentile(m_wall, 1)};
    }

    void print_slowest() const {
        for (const step& s : m_slowest) {
            std::fprintf(stderr,
                         "  slow %s: %.0f us CPU, %.0f us wall, %" PRIu64 " page faults, at %" PRIu64
                         " residencies\n",
                         m_what, s.cpu / 1e3, s.wall / 1e3, s.faults, s.size);
        }
    }

private:
    struct step {
        std::uint32_t cpu;
        std::uint32_t wall;
        std::uint64_t faults;
        std::uint64_t size;
    };

    void note(const step& s) {
        if (m_slowest.size() < 8) {
            m_slowest.push_back(s);
        } else if (s.cpu > m_slowest.back().cpu) {
            m_slowest.back() = s;
        } else {
            return;
        }
        std::sort(m_slowest.begin(), m_slowest.end(),
                  [](const step& a, const step& b) { return a.cpu > b.cpu; });
    }

    const char* m_what;
    std::uint32_t m_own_max = 0;
    std::vector<std::uint32_t> m_cpu;
    std::vector<std::uint32_t> m_wall;
    std::vector<step> m_slowest;
};

/// What two looks at the wall clock cost, in ns.
std::uint32_t clock_cost() {
    std::vector<std::uint32_t> spans;
    for (int i = 0; i < 10'000; i++) {
        const std::uint64_t begin = wall_nanos();
        spans.push_back(static_cast<std::uint32_t>(wall_nanos() - begin));
    }
    return percentile(spans, 0.5);
}

class cell {
public:
    explicit cell(const growth_request& r) : m_request(r), m_shape(r.shape), m_prompt(r.shape) {
        for (std::uint32_t w = 0; w < m_shape.workers; w++) {
            require(m_index.open_slot().has_value(), "no slot left");
        }
    }

    growth_result run() {
        const std::uint64_t before = anonymous_bytes();
        build();
        const statistics s = m_index.stats();
        m_result.residencies = s.residencies;
        m_result.blocks = s.blocks;
        m_result.runs = s.runs;
        m_result.bytes = s.bytes;
        malloc_trim(0); // the lists of durations were the benchmark's, not the index's
        const std::uint64_t after = anonymous_bytes();
        m_result.resident = after - std::min(after, before);
        m_result.memory = m_index.memory();
        ask();
        decode();
        churn();
        orphans();
        return m_result;
    }

private:
    void apply(const event& e) {
        const applied_counts c = m_index.apply({&e, 1});
        require(c.applied == 1 && c.unknown_removed == 0, "an event was not applied");
    }

    /// Whole prompts, one event each, for each holder; of every eighth prompt the last 64 blocks come one by
    /// one.
    void build() {
        const std::uint32_t blocks = m_shape.shared + m_shape.own;
        const std::uint32_t single = std::min(decoded, m_shape.own);
        const std::uint64_t events = m_request.residencies / m_shape.own + m_shape.workers + 8;
        step_log ones("one-block event", events / 8 * single + single * m_shape.holders);
        step_log wholes("whole prompt", events);
        std::vector<bool> seen(m_shape.workers); // holds the system prompt
        std::uint64_t held = 0;
        std::uint64_t nanos[2] = {};
        std::uint64_t stored[2] = {};
        std::uint64_t reported = 0;
        while (held < m_request.residencies) {
            m_prompt.make(m_prompts);
            const bool by_one = m_prompts % 8 == 7;
            for (std::uint32_t copy = 0; copy < m_shape.holders; copy++) {
                const slot_id slot = holder_of(m_shape, m_prompts, copy);
                const std::uint32_t whole = by_one ? blocks - single : blocks;
                const event e = m_prompt.stored(slot, 0, whole);
                nanos[copy != 0] += wholes.time(held, [&] { apply(e); });
                stored[copy != 0] += whole;
                for (std::uint32_t at = whole; at < blocks; at++) {
                    const event one = m_prompt.stored(slot, at, 1);
                    ones.time(held, [&] { apply(one); });
                }
                held += m_shape.own + (seen[number_of(slot)] ? 0 : m_shape.shared);
                seen[number_of(slot)] = true;
            }
            m_prompts++;
            if (held - reported >= 10'000'000) {
                reported = held;
                std::fprintf(stderr, "  %" PRIu64 " M residencies\n", held / 1'000'000);
            }
        }
        require(m_index.stats().residencies == held, "not everything is held");
        m_result.store_new = static_cast<double>(nanos[0]) / static_cast<double>(stored[0]);
        m_result.store_known =
            stored[1] == 0 ? 0 : static_cast<double>(nanos[1]) / static_cast<double>(stored[1]);
        finish(ones, m_result.one_block);
        finish(wholes, m_result.prompt);
    }

    void finish(step_log& log, step_times& to) const {
        to = log.result();
        if (m_request.slow_steps) {
            log.print_slowest();
        }
    }

    /// Any prompt; the same ones in every run.
    std::uint64_t random_prompt(std::uint64_t draw) const {
        return mix(draw + 12345) % m_prompts;
    }

    void ask() {
        const std::uint32_t stride = m_index.slot_bound();
        std::vector<std::uint32_t> depths(stride);
        const std::uint32_t clock = clock_cost();
        for (const bool hot : {false, true}) {
            std::vector<std::uint32_t> spans;
            for (std::uint32_t i = 0; i < m_request.samples; i++) {
                const std::uint64_t number = hot ? 0 : random_prompt(i);
                m_prompt.make(number); // so that the question itself is in the cache
                const std::uint64_t begin = wall_nanos();
                m_index.match_dense(0, m_prompt.locals(), 1, depths.data(), stride);
                const auto taken = static_cast<std::uint32_t>(wall_nanos() - begin);
                spans.push_back(taken - std::min(taken, clock));
                require(depths[number_of(holder_of(m_shape, number, 0))] == m_shape.shared + m_shape.own,
                        "a prompt is not whole");
            }
            (hot ? m_result.hot_p50 : m_result.cold_p50) = percentile(spans, 0.5);
            (hot ? m_result.hot_p99 : m_result.cold_p99) = percentile(spans, 0.99);
        }
    }

    /// Conversations anywhere in the index grow by 64 blocks, all in turns.
    void decode() {
        const std::uint64_t conversations = std::min<std::uint64_t>(m_prompts / 2, 4096);
        for (const bool alone : {false, true}) {
            std::vector<engine_hash> names(conversations * decoded);
            std::vector<event> events;
            for (std::uint32_t turn = 0; turn < decoded; turn++) {
                for (std::uint64_t c = 0; c < conversations; c++) {
                    const std::uint64_t number = (c * 2 + (alone ? 1 : 0)) * (m_prompts / 2 / conversations);
                    const std::uint64_t at = c * decoded + turn;
                    m_prompt.make(number);
                    stored_event e =
                        m_prompt.stored(holder_of(m_shape, number, 0), m_shape.shared + m_shape.own - 1, 1);
                    e.parent = turn == 0 ? e.names[0] : names[at - 1];
                    names[at] = mix(number << 20 | turn) | 1;
                    e.names = {&names[at], 1};
                    e.locals = {&names[at], 1};
                    events.emplace_back(e);
                }
            }
            const std::size_t batch = alone ? 1 : 64;
            const std::uint64_t begin = cpu_nanos();
            std::uint64_t applied = 0;
            for (std::size_t i = 0; i < events.size(); i += batch) {
                applied +=
                    m_index.apply(std::span(events).subspan(i, std::min(batch, events.size() - i))).applied;
            }
            const auto nanos = static_cast<double>(cpu_nanos() - begin);
            require(applied == events.size(), "a decoded block was not stored");
            (alone ? m_result.decode_alone : m_result.decode) = nanos / static_cast<double>(events.size());
        }
    }

    /// Prompts anywhere in the index leave one of their holders, new ones come there.
    void churn() {
        const std::uint64_t count = std::min<std::uint64_t>(m_request.samples / 5, m_prompts / 4);
        step_log steps("evicted or new prompt", count * 2);
        std::uint64_t nanos = 0;
        const std::uint64_t size = m_result.residencies;
        for (std::uint64_t i = 0; i < count; i++) {
            // The odd quarter: not the conversations that were decoded.
            const std::uint64_t number = i * (m_prompts / count);
            const slot_id slot = holder_of(m_shape, number, m_shape.holders - 1);
            m_prompt.make(number);
            const event gone = m_prompt.evicted(slot);
            nanos += steps.time(size, [&] { m_index.apply({&gone, 1}); });
            m_prompt.make(m_prompts + i);
            const event come = m_prompt.stored(slot, 0, m_shape.shared + m_shape.own);
            nanos += steps.time(size, [&] { apply(come); });
        }
        m_result.churn =
            static_cast<double>(nanos) / static_cast<double>(count * (m_shape.own * 2 + m_shape.shared));
        finish(steps, m_result.churned);
    }

    /// Events that wait for a parent that never comes: to the limit of the store, and a tenth more.
    void orphans() {
        constexpr std::uint32_t blocks = 16;
        const std::uint64_t limit = options{}.orphan_limit;
        const std::uint64_t count = std::min(m_request.residencies / 10, limit / 10 * 11) / blocks;
        step_log steps("event without its parent", count);
        for (std::uint64_t i = 0; i < count; i++) {
            m_prompt.make(m_prompts * 4 + i);
            const slot_id slot = holder_of(m_shape, i, 0);
            const event e = m_prompt.stored(slot, m_shape.shared + m_shape.own - blocks, blocks);
            steps.time(m_result.residencies, [&] {
                require(m_index.apply({&e, 1}).orphans == 1, "an event did not wait");
            });
        }
        finish(steps, m_result.waiting);
    }

    const growth_request& m_request;
    const fleet_shape m_shape;
    prompt_blocks m_prompt;
    prefix_index m_index;
    std::uint64_t m_prompts = 0;
    growth_result m_result;
};

} // namespace

growth_result grow(const growth_request& request) {
    return cell(request).run();
}

} // namespace kvindex::bench
