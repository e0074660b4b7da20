/// One cell of the growth benchmark: a fleet of some size whose index grows to some size.
#pragma once

#include "base/memory_parts.hpp"
#include "fleet_load.hpp"

#include <string>

namespace kvindex::bench {

struct growth_request {
    fleet_shape shape;
    std::uint64_t residencies = 1'000'000; ///< to grow to
    std::uint32_t samples = 20'000;        ///< look-ups of each kind; prompts that come and go: a fifth
    bool slow_steps = false; ///< says on stderr when and with how many page faults each of the slowest was
};

/// One apply() of one event each. Nanoseconds.
struct step_times {
    std::uint64_t count = 0;
    std::uint32_t cpu_p50 = 0, cpu_p999 = 0, cpu_max = 0;
    std::uint32_t cpu_own_max = 0; ///< of those that met no page fault: what the index does itself
    std::uint32_t wall_p50 = 0, wall_p999 = 0, wall_max = 0;
};

struct growth_result {
    std::uint64_t residencies = 0;
    std::uint64_t blocks = 0;
    std::uint64_t runs = 0;
    double store_new = 0;   ///< ns of CPU time per block of a prompt that is new; page faults included
    double store_known = 0; ///< the same, of one that another worker holds
    double decode = 0;      ///< ns of CPU time per event of one block, 64 a call, amortised over 64 blocks each
    double decode_alone = 0;                ///< the same, one a call
    double churn = 0;                       ///< ns of CPU time per block that is evicted or stored
    std::uint32_t hot_p50 = 0, hot_p99 = 0; ///< ns of wall time per look-up, the clock's own taken off
    std::uint32_t cold_p50 = 0, cold_p99 = 0;
    step_times one_block; ///< while growing
    step_times prompt;    ///< while growing
    step_times churned;   ///< evictions and stores of whole prompts, at full size
    step_times
        waiting; ///< events of 16 blocks without their parent, up to the limit of a million blocks and over it
    std::uint64_t bytes = 0;
    std::uint64_t resident = 0; ///< growth of the resident set, bytes
    memory_parts memory;
};

growth_result grow(const growth_request& request);

} // namespace kvindex::bench
