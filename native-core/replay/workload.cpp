#include "workload.hpp"

#include "kvindex.h"

namespace kvindex::replay {

namespace {

constexpr std::uint64_t head_words = sizeof(kvi_event) / 8;
static_assert(sizeof(kvi_event) % 8 == 0);

std::uint8_t kind_of(op_kind kind) {
    switch (kind) {
    case op_kind::store:
        return KVI_STORED_LOCALS;
    case op_kind::remove:
        return KVI_REMOVED;
    default:
        return KVI_CLEARED;
    }
}

} // namespace

workload::workload(const oplog& log, std::span<const std::uint32_t> slots, bool together) {
    std::uint64_t words = 0;
    std::uint64_t events = 0;
    for (const operation& o : log.operations()) {
        if (o.head.kind != op_kind::query) {
            words += head_words + payload_words(o.head);
            events++;
        }
    }
    // Exact sizes: memory that growth leaves free would be taken by the index and hide its own.
    m_queries.reserve(log.header().queries);
    m_events.reserve(words);
    m_event_at.reserve(events + 1);
    for (const operation& o : log.operations()) {
        if (o.head.kind == op_kind::query) {
            if (!together || m_steps.empty() || !m_steps.back().is_query) {
                m_steps.push_back({true, m_queries.size(), 0});
            }
            m_steps.back().count++;
            m_queries.emplace_back(o.payload, o.head.blocks);
            continue;
        }
        if (m_steps.empty() || m_steps.back().is_query) {
            m_steps.push_back({false, m_event_at.size(), 0});
        }
        m_steps.back().count++;
        add_event(o, slots[o.head.worker]);
    }
    m_event_at.push_back(m_events.size());
}

void workload::add_event(const operation& o, std::uint32_t slot) {
    const std::uint64_t payload = payload_words(o.head);
    kvi_event head{};
    head.size = static_cast<std::uint32_t>((head_words + payload) * 8); // KVI_MAX_BLOCKS keeps it below 2^32
    head.kind = kind_of(o.head.kind);
    head.tier = KVI_TIER_GPU;
    head.flags = o.head.has_parent != 0 ? KVI_HAS_PARENT : 0;
    head.slot = slot;
    head.n = o.head.blocks;
    head.parent = o.head.has_parent != 0 ? o.head.parent : 0;
    m_event_at.push_back(m_events.size());
    m_events.resize(m_events.size() + head_words);
    std::memcpy(&m_events[m_event_at.back()], &head, sizeof(head));
    m_events.insert(m_events.end(), o.payload, o.payload + payload);
}

} // namespace kvindex::replay
