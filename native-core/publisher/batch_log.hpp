/// Gathers events in batches, numbers these, keeps the newest for replay. Any thread.
///
/// Each reader has its own place in the log; a writer never waits for one. What is older than the log keeps is
/// gone for a reader that was too slow.
#pragma once

#include "publisher/wire.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kvpub {

/// Immutable.
struct batch {
    std::uint64_t sequence = 0;
    bytes payload{};
};

class batch_log {
public:
    struct limits {
        std::uint32_t batches = 0; ///< kept, at least 1
        std::uint64_t bytes = 0;   ///< of kept payloads; the newest batch is kept whatever its size
        std::uint32_t events = 0;  ///< of one batch, at least 1
    };

    struct numbers {
        std::uint64_t events = 0;
        std::uint64_t lost_events = 0;
        std::uint64_t end = 0;
        std::uint64_t kept = 0;
        std::uint64_t kept_bytes = 0;
    };

    /// `seconds`: the clock that batches are stamped with, since 1970. A restarted process is told from the old
    /// one by it: two batches with one number never have the same bytes.
    batch_log(const limits& kept, std::uint32_t rank, std::function<double()> seconds);

    /// Adds one event that `put` writes behind what is there. When memory runs out, the events of the open
    /// batch are lost with their number, so that readers see a hole, and bad_alloc leaves.
    template <typename F>
    void append(F&& put) {
        const std::lock_guard lock(m_mutex);
        try {
            std::forward<F>(put)(m_open);
        } catch (...) {
            m_open_events++;
            lose();
            throw;
        }
        m_events++;
        m_open_events++;
        if (m_open_events >= m_limits.events || m_open.size() >= most_open_bytes) {
            close_open();
        }
    }

    /// What was added so far can be read.
    void seal();

    /// Number of the next batch.
    std::uint64_t end() const;

    /// The first kept batch from `sequence` on and below `until`, after which `sequence` stands; null: none is
    /// left.
    std::shared_ptr<const batch> next(std::uint64_t& sequence, std::uint64_t until) const;

    numbers stats() const;

private:
    static constexpr std::size_t most_open_bytes = std::size_t{1} << 20;

    std::shared_ptr<const batch>& slot(std::uint64_t sequence);
    void close_open();
    void lose();
    void keep(std::shared_ptr<const batch> closed);
    void evict();

    const limits m_limits;
    const std::uint32_t m_rank;
    const std::function<double()> m_seconds;

    mutable std::mutex m_mutex;
    bytes m_open;
    std::uint32_t m_open_events = 0;
    std::vector<std::shared_ptr<const batch>> m_ring; ///< by number modulo its size; null: a hole
    std::uint64_t m_oldest = 0;
    std::uint64_t m_end = 0;
    std::uint64_t m_kept_bytes = 0;
    std::uint64_t m_events = 0;
    std::uint64_t m_lost = 0;
};

} // namespace kvpub
