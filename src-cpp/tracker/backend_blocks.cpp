#include "tracker/backend_blocks.hpp"

#include "base/failure_point.hpp"

#include <new>

namespace kvindex::tracker {
namespace {

/// So many look-ups ahead a table line is asked for.
constexpr std::size_t ahead = 8;

} // namespace

backend_blocks::backend_blocks() : m_table(m_account), m_nodes(tracked_allocator<node>(m_account)) {
}

std::uint64_t backend_blocks::record(std::span<const std::uint64_t> hashes) {
    std::size_t missing = 0;
    for (std::size_t i = 0; i < hashes.size(); i++) {
        if (i + ahead < hashes.size()) {
            prefetch(hashes[i + ahead]);
        }
        missing += holds(hashes[i]) ? 0u : 1u;
    }
    // What may fail comes first. Nodes never number more than the table's cells, far below 2^32.
    if (m_table.size() + missing >= none) {
        failure_point();
        throw std::bad_alloc();
    }
    m_table.reserve(missing);
    make_room(m_nodes, missing);
    const std::uint64_t before = size();
    // The deepest block first: see the order above.
    for (std::size_t i = hashes.size(); i-- != 0;) {
        const auto* const known = m_table.find(hashes[i]);
        std::uint32_t n = none;
        if (known != nullptr) {
            n = known->node;
            unlink(n);
        } else {
            n = take_node();
            m_nodes[n].hash = hashes[i];
            m_table.insert({.hash = hashes[i], .node = n});
        }
        make_youngest(n);
    }
    return size() - before;
}

void backend_blocks::touch(std::span<const std::uint64_t> hashes) noexcept {
    for (std::size_t i = hashes.size(); i-- != 0;) {
        if (const auto* const known = m_table.find(hashes[i])) {
            const std::uint32_t n = known->node;
            unlink(n);
            make_youngest(n);
        }
    }
}

std::uint64_t backend_blocks::evict(std::uint64_t most, std::uint64_t limit) noexcept {
    std::uint64_t evicted = 0;
    for (; size() > most && evicted < limit; evicted++) {
        const std::uint32_t n = m_oldest;
        m_table.erase(m_table.find(m_nodes[n].hash));
        unlink(n);
        m_nodes[n].older = m_free;
        m_free = n;
    }
    return evicted;
}

std::uint32_t backend_blocks::take_node() noexcept {
    if (m_free != none) {
        const std::uint32_t n = m_free;
        m_free = m_nodes[n].older;
        return n;
    }
    m_nodes.push_back({}); // room was made before
    return static_cast<std::uint32_t>(m_nodes.size() - 1);
}

void backend_blocks::unlink(std::uint32_t n) noexcept {
    const node& gone = m_nodes[n];
    (gone.older == none ? m_oldest : m_nodes[gone.older].younger) = gone.younger;
    (gone.younger == none ? m_youngest : m_nodes[gone.younger].older) = gone.older;
}

void backend_blocks::make_youngest(std::uint32_t n) noexcept {
    m_nodes[n].older = m_youngest;
    m_nodes[n].younger = none;
    (m_youngest == none ? m_oldest : m_nodes[m_youngest].younger) = n;
    m_youngest = n;
}

const char* backend_blocks::first_broken_invariant() const {
    std::uint64_t listed = 0;
    std::uint32_t before = none;
    for (std::uint32_t n = m_oldest; n != none; n = m_nodes[n].younger) {
        if (m_nodes[n].older != before) {
            return "a block's older neighbour is not the one before it";
        }
        const auto* const known = m_table.find(m_nodes[n].hash);
        if (known == nullptr || known->node != n) {
            return "a listed block is not in the table";
        }
        if (++listed > m_table.size()) {
            return "the list is longer than the table";
        }
        before = n;
    }
    if (before != m_youngest || listed != m_table.size()) {
        return "the list is shorter than the table";
    }
    std::uint64_t free = 0;
    for (std::uint32_t n = m_free; n != none && free <= m_nodes.size(); n = m_nodes[n].older) {
        free++;
    }
    return listed + free == m_nodes.size() ? "" : "a node is lost";
}

} // namespace kvindex::tracker
