/// What a prefix_index is made of. For the facade only.
#pragma once

#include "index/core.hpp"
#include "kvindex/prefix_index.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace kvindex {

inline constexpr std::uint32_t slots_per_core = storage::core_slots;
inline constexpr std::uint32_t max_cores = max_slots / slots_per_core;

/// A mutex that knows whether somebody waits for it, so that a long save can let them in between.
class writers_mutex {
public:
    void lock() {
        if (!m_mutex.try_lock()) {
            m_waiting.fetch_add(1, std::memory_order_relaxed); // only a hint
            m_mutex.lock();
            m_waiting.fetch_sub(1, std::memory_order_relaxed);
        }
    }

    void unlock() {
        m_mutex.unlock();
    }

    /// Without the mutex: waits until those who wait for it have had it, or for a millisecond.
    void let_others() const {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
        while (m_waiting.load(std::memory_order_relaxed) != 0 && std::chrono::steady_clock::now() < until) {
            std::this_thread::yield();
        }
    }

private:
    std::mutex m_mutex;
    std::atomic<std::uint32_t> m_waiting{0};
};

struct prefix_index::state {
    explicit state(const options& o)
        : made_with(o), limits{.max_blocks = std::max<std::uint64_t>(o.max_blocks, 1u << 16),
                               .ghost_percent = o.ghost_percent,
                               .ghost_floor = o.ghost_floor,
                               .byte_budget = o.byte_budget},
          orphan_limit(o.orphan_limit), decision_limits{.ttl = o.decision_ttl,
                                                        .capacity = o.decision_capacity} {
        add_core();
    }

    void add_core() {
        const std::uint32_t n = cores_made.load(std::memory_order_relaxed);
        cores[n] = std::make_unique<index::core>(limits, orphan_limit, decision_limits);
        // Release: pairs with the readers' acquire; cores are never taken away.
        cores_made.store(n + 1, std::memory_order_release);
    }

    struct slot_state {
        std::uint32_t incarnation = 0;
        bool open = false;
        std::uint32_t domain = 0;
        std::uint16_t name_space = 0;
        bool approximate = false;
    };

    options made_with;
    index::limits limits;
    std::uint64_t orphan_limit;
    index::decision_limits decision_limits;
    std::array<std::unique_ptr<index::core>, max_cores> cores;
    std::atomic<std::uint32_t> cores_made{0};
    mutable writers_mutex writers; // held over a whole buffer
    mutable std::mutex saving;     // taken before `writers`
    std::uint64_t changes = 0;     // calls that changed something, under `writers`
    std::vector<slot_state> slots;
};

} // namespace kvindex
