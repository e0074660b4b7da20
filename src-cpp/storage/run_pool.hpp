/// Owns the runs. A run keeps its address for life; its number is given out again afterwards.
///
/// Not thread-safe.
#pragma once

#include "storage/run.hpp"

namespace kvindex::storage {

class run_pool {
public:
    explicit run_pool(memory_account& account);

    run& operator[](run_id id) {
        return m_chunks[number(id) / chunk_runs][number(id) % chunk_runs];
    }

    const run& operator[](run_id id) const {
        return m_chunks[number(id) / chunk_runs][number(id) % chunk_runs];
    }

    /// An empty run. Throws std::bad_alloc without effect.
    run_id acquire();

    void release(run_id id) noexcept;

    /// Runs in use.
    std::uint64_t size() const {
        return m_live;
    }

    template <typename F>
    void for_each(F&& f) const {
        for (std::uint32_t i = 0; i < m_made; i++) {
            const run_id id{i};
            if ((*this)[id].live) {
                f(id, (*this)[id]);
            }
        }
    }

private:
    static constexpr std::uint32_t chunk_runs = 256;

    static std::uint32_t number(run_id id) {
        return static_cast<std::uint32_t>(id);
    }

    memory_account& m_account;
    tracked_vector<tracked_vector<run>> m_chunks; // each reserved at once, so that runs do not move
    std::uint32_t m_made = 0;
    std::uint64_t m_live = 0;
    run_id m_free = run_id::none;
};

} // namespace kvindex::storage
