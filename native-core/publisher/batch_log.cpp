#include "publisher/batch_log.hpp"

#include <algorithm>
#include <new>

namespace kvpub {

batch_log::batch_log(const limits& kept, std::uint32_t rank, std::function<double()> seconds)
    : m_limits(kept), m_rank(rank), m_seconds(std::move(seconds)), m_ring(kept.batches) {
}

void batch_log::seal() {
    const std::lock_guard lock(m_mutex);
    if (m_open_events > 0) {
        close_open();
    }
}

std::uint64_t batch_log::end() const {
    const std::lock_guard lock(m_mutex);
    return m_end;
}

std::shared_ptr<const batch> batch_log::next(std::uint64_t& sequence, std::uint64_t until) const {
    const std::lock_guard lock(m_mutex);
    sequence = std::max(sequence, m_oldest);
    const std::uint64_t last = std::min(until, m_end);
    while (sequence < last) {
        const std::shared_ptr<const batch>& found = m_ring[sequence % m_ring.size()];
        sequence++;
        if (found) {
            return found;
        }
    }
    return nullptr;
}

batch_log::numbers batch_log::stats() const {
    const std::lock_guard lock(m_mutex);
    return {m_events, m_lost, m_end, m_end - m_oldest, m_kept_bytes};
}

std::shared_ptr<const batch>& batch_log::slot(std::uint64_t sequence) {
    return m_ring[sequence % m_ring.size()];
}

void batch_log::close_open() {
    std::shared_ptr<const batch> closed;
    try {
        closed =
            std::make_shared<const batch>(batch{m_end, batch_of(m_seconds(), m_open_events, m_open, m_rank)});
    } catch (const std::bad_alloc&) {
        lose();
        return;
    }
    keep(std::move(closed));
}

void batch_log::lose() {
    m_lost += m_open_events;
    keep(nullptr);
}

void batch_log::keep(std::shared_ptr<const batch> closed) {
    // The buffer stays for the next batch unless one large event has blown it up.
    if (m_open.capacity() > 2 * most_open_bytes) {
        m_open = bytes();
    }
    m_open.clear();
    m_open_events = 0;
    if (m_end - m_oldest == m_ring.size()) {
        evict();
    }
    m_kept_bytes += closed ? closed->payload.size() : 0;
    slot(m_end) = std::move(closed);
    m_end++;
    while (m_kept_bytes > m_limits.bytes && m_end - m_oldest > 1) {
        evict();
    }
}

void batch_log::evict() {
    std::shared_ptr<const batch>& oldest = slot(m_oldest);
    m_kept_bytes -= oldest ? oldest->payload.size() : 0;
    oldest.reset();
    m_oldest++;
}

} // namespace kvpub
