#include "storage/run_pool.hpp"

namespace kvindex::storage {

run_pool::run_pool(memory_account& account)
    : m_account(account), m_chunks(tracked_allocator<tracked_vector<run>>(account)) {
}

run_id run_pool::acquire() {
    run_id id = m_free;
    if (id != run_id::none) {
        m_free = (*this)[id].next;
    } else {
        if (m_made == static_cast<std::uint32_t>(run_id::none)) {
            throw std::bad_alloc();
        }
        if (m_made % chunk_runs == 0) {
            make_room(m_chunks, 1);
            tracked_vector<run> chunk{tracked_allocator<run>(m_account)};
            chunk.reserve(chunk_runs);
            m_chunks.push_back(std::move(chunk));
        }
        m_chunks.back().emplace_back(m_account);
        id = run_id{m_made++};
    }
    run& r = (*this)[id];
    r.next = run_id::none;
    r.live = true;
    m_live++;
    return id;
}

void run_pool::release(run_id id) noexcept {
    run& r = (*this)[id];
    r = run(m_account);
    r.next = m_free;
    m_free = id;
    m_live--;
}

} // namespace kvindex::storage
