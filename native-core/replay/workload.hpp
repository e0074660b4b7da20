/// An op-log in the form that the ABI takes, made before anything is timed.
#pragma once

#include "oplog.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kvindex::replay {

/// The op-log's order: a query, or all the events between two queries. With look-ups together: all the queries
/// between two events.
struct step {
    bool is_query;
    std::uint64_t first; ///< number of the query, or of the first event
    std::uint64_t count; ///< events or queries
};

/// All events lie packed one behind the other, so any run of them is one buffer for kvi_apply. Immutable.
class workload {
public:
    /// `slots`: the index's slot of each worker. `together`: neighbouring queries are one step.
    workload(const oplog& log, std::span<const std::uint32_t> slots, bool together);

    const std::vector<step>& steps() const {
        return m_steps;
    }

    /// Local hashes of each query; they lie in the op-log.
    const std::vector<std::span<const std::uint64_t>>& queries() const {
        return m_queries;
    }

    std::uint64_t event_count() const {
        return m_event_at.size() - 1;
    }

    std::span<const std::uint64_t> events(std::uint64_t first, std::uint64_t count) const {
        const std::uint64_t begin = m_event_at[first];
        return {m_events.data() + begin, m_event_at[first + count] - begin};
    }

private:
    void add_event(const operation& o, std::uint32_t slot);

    std::vector<step> m_steps;
    std::vector<std::span<const std::uint64_t>> m_queries;
    std::vector<std::uint64_t> m_events;
    std::vector<std::uint64_t> m_event_at; ///< first word of each event, and the end
};

} // namespace kvindex::replay
