/// The index under test, as any user of the library sees it: the only file pair that calls the C ABI.
#pragma once

#include "kvindex.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvindex::replay {

/// How a query asks. dense needs KVI_ABI_VERSION 2; with version 1 both are hits.
enum class query_form { dense, hits };

/// One open index with a slot for each worker. One thread. Every failure of a call is a replay_error.
class subject {
public:
    subject(std::uint32_t workers, query_form form);

    /// The slot of each worker.
    std::span<const std::uint32_t> slots() const {
        return m_slots;
    }

    /// One kvi_apply over packed events.
    void apply(std::span<const std::uint64_t> events);

    /// One query. Its answer stays in the object's buffer until the next one.
    void ask(std::span<const std::uint64_t> locals);

    /// Several queries in one call, dense; their hashes lie in one array, the op-log. The answer that
    /// read_answer() reads is the one that was selected.
    void ask_together(std::span<const std::span<const std::uint64_t>> queries);

    /// The answer to read: of query `i` of the last ask_together().
    void select(std::size_t i) {
        m_selected = i;
    }

    /// Over all calls of ask_together(): the most steps of a query, and how many its budget cut short.
    std::uint32_t most_steps() const {
        return m_most_steps;
    }

    std::uint64_t cut_short() const {
        return m_cut_short;
    }

    /// Overwrites the answer buffer, so that an entry which the next query does not write shows as wrong.
    void spoil_answer();

    /// Depth of every worker (`by_worker`, as many as there are workers) by the last query. Returns how many
    /// entries name no worker: hits of other slots, depths behind the last slot.
    std::uint32_t read_answer(std::span<std::uint32_t> by_worker) const;

    /// Sums over all calls of apply().
    const kvi_applied& applied() const {
        return m_applied;
    }

    kvi_statistics stats() const;

private:
    struct closer {
        void operator()(kvi_index* index) const {
            kvi_close(index);
        }
    };
    struct alignas(64) cache_line {
        std::uint32_t depths[16];
    };

    const std::uint32_t* dense_depths() const {
        return m_dense.front().depths + m_selected * m_stride;
    }

    std::unique_ptr<kvi_index, closer> m_index;
    query_form m_form;
    std::vector<std::uint32_t> m_slots;
    std::vector<std::uint32_t> m_worker_of; ///< by slot; `nobody` where none is open
    std::vector<kvi_hit> m_hits;
    std::uint32_t m_hit_count = 0;
    std::vector<cache_line> m_dense; ///< one tier's row, of each query
    std::uint32_t m_stride = 0;      ///< entries of it
    std::size_t m_selected = 0;
    std::vector<kvi_query> m_together;
    std::vector<kvi_looked> m_looked;
    std::uint32_t m_most_steps = 0;
    std::uint64_t m_cut_short = 0;
    kvi_applied m_applied{};
};

} // namespace kvindex::replay
