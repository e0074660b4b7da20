/// The threads of together_bench: what the writer does in its turns, what a reader asks.
#pragma once

#include "clocks.hpp"
#include "fleet_load.hpp"
#include "kvindex/prefix_index.hpp"

#include <atomic>

namespace kvindex::bench {

/// What two looks at the CPU clock cost, in ns.
inline std::uint32_t cpu_clock_cost() {
    std::vector<std::uint32_t> spans;
    for (int i = 0; i < 20'000; i++) {
        const std::uint64_t begin = cpu_nanos();
        spans.push_back(static_cast<std::uint32_t>(cpu_nanos() - begin));
    }
    return percentile(spans, 0.5);
}

/// Sums of one kind of thread over some slices.
struct work {
    std::uint64_t units = 0; ///< block operations, or look-ups
    std::uint64_t nanos = 0; ///< CPU time of the calls

    double per_second() const {
        return nanos == 0 ? 0 : static_cast<double>(units) * 1e9 / static_cast<double>(nanos);
    }
};

/// Keeps its state from slice to slice.
class writer {
public:
    writer(prefix_index& index, const fleet_shape& s, std::uint64_t first)
        : m_index(index), m_shape(s), m_turn(first) {
        for (std::uint32_t i = 0; i < ring; i++) {
            m_ring.push_back({prompt_blocks(s), 0, false});
        }
    }

    work run(const std::atomic<bool>& stop, std::uint32_t clock) {
        work done;
        while (!stop.load(std::memory_order_relaxed)) {
            const std::uint64_t blocks = prepare();
            const std::uint64_t begin = cpu_nanos();
            const applied_counts c = m_index.apply(m_events);
            const std::uint64_t taken = cpu_nanos() - begin;
            require(c.applied == m_events.size() && c.unknown_removed == 0, "an event was not applied");
            done.units += blocks;
            done.nanos += taken - std::min<std::uint64_t>(taken, clock);
        }
        return done;
    }

private:
    static constexpr std::uint32_t ring = 64;

    struct conversation {
        prompt_blocks blocks;
        std::uint64_t number;
        bool here;
    };

    /// The events of one turn; answers how many blocks they name.
    std::uint64_t prepare() {
        const std::uint32_t whole = m_shape.shared + m_shape.own;
        std::uint64_t named = 0;
        m_events.clear();
        conversation& c = m_ring[m_turn % ring];
        if (c.here) {
            const removed_event gone = m_evicted.of(c.blocks, holder_of(m_shape, c.number, 0));
            named += gone.names.size();
            m_events.emplace_back(gone);
        }
        for (conversation& other : m_ring) {
            if (&other != &c && other.here) {
                const std::uint64_t age = m_turn - other.number - 1;
                m_events.emplace_back(other.blocks.stored(holder_of(m_shape, other.number, 0), whole + age, 1));
                named++;
            }
        }
        c.number = m_turn++;
        c.here = true;
        c.blocks.make(c.number, ring - 1);
        m_events.emplace_back(c.blocks.stored(holder_of(m_shape, c.number, 0), 0, whole));
        return named + whole;
    }

    /// Keeps the names of an eviction while the conversation's place gets a new one.
    struct eviction {
        std::vector<engine_hash> names;

        removed_event of(prompt_blocks& p, slot_id slot) {
            const removed_event e = p.evicted(slot);
            names.assign(e.names.begin(), e.names.end());
            return {slot, e.where, names};
        }
    };

    prefix_index& m_index;
    const fleet_shape m_shape;
    std::uint64_t m_turn;
    std::vector<conversation> m_ring;
    std::vector<event> m_events;
    eviction m_evicted;
};

struct latencies {
    std::vector<std::uint32_t> cpu;
    std::vector<std::uint32_t> wall;
};

class reader {
public:
    reader(const prefix_index& index, const fleet_shape& s, std::uint64_t prompts, std::uint64_t seed)
        : m_index(index), m_shape(s), m_prompts(prompts), m_draw(seed), m_prompt(s),
          m_depths(index.slot_bound()) {
    }

    work run(const std::atomic<bool>& stop, std::uint32_t clock, latencies& to) {
        work done;
        const auto stride = static_cast<std::uint32_t>(m_depths.size());
        while (!stop.load(std::memory_order_relaxed)) {
            const std::uint64_t number = mix(m_draw++) % m_prompts;
            m_prompt.make(number);
            const std::uint64_t wall = wall_nanos();
            const std::uint64_t cpu = cpu_nanos();
            m_index.match_dense(0, m_prompt.locals(), 1, m_depths.data(), stride);
            const std::uint64_t cpu_taken = cpu_nanos() - cpu;
            const std::uint64_t wall_taken = wall_nanos() - wall;
            require(m_depths[number_of(holder_of(m_shape, number, 0))] == m_shape.shared + m_shape.own,
                    "a prompt is not whole");
            const std::uint64_t net = cpu_taken - std::min<std::uint64_t>(cpu_taken, clock);
            done.units++;
            done.nanos += net;
            to.cpu.push_back(static_cast<std::uint32_t>(net));
            to.wall.push_back(
                static_cast<std::uint32_t>(wall_taken - std::min<std::uint64_t>(wall_taken, clock)));
        }
        return done;
    }

private:
    const prefix_index& m_index;
    const fleet_shape m_shape;
    const std::uint64_t m_prompts;
    std::uint64_t m_draw;
    prompt_blocks m_prompt;
    std::vector<std::uint32_t> m_depths;
};

} // namespace kvindex::bench
