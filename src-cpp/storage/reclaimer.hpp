/// Takes back what readers may still see: reused only when every look-up that could have met it has ended.
/// Writer only, but for domain(), in which readers pin themselves.
#pragma once

#include "storage/granules.hpp"
#include "sync/epoch.hpp"

namespace kvindex::storage {

class reclaimer {
public:
    sync::epoch_domain<>& domain() const {
        return m_domain;
    }

    /// Room for `more` pieces and runs, so that the next retire() calls cannot fail. Throws std::bad_alloc
    /// without effect.
    void make_room(std::size_t more) {
        m_pieces.reserve(more);
        m_runs.reserve(more);
    }

    /// A piece of an arena, unlinked before.
    void retire(granule_arena& arena, std::uint32_t at, std::uint32_t granules) {
        m_pieces.retire({&arena, at, granules}, m_domain.current());
    }

    /// A run's number, unlinked before.
    void retire_run(std::uint32_t run) {
        m_runs.retire(run, m_domain.current());
    }

    /// Whether what changed in this epoch is out of every reader's sight, as far as is known.
    bool is_past(std::uint64_t epoch) const {
        return epoch < m_oldest;
    }

    std::uint64_t now() const {
        return m_domain.current();
    }

    /// Frees what can be freed; reuse(run) takes a run's number back. O(readers + freed).
    template <typename F>
    void collect(F&& reuse) {
        m_oldest = m_domain.advance_and_min();
        m_pieces.reclaim(m_oldest, [](const piece& p) { p.arena->give_back(p.at, p.granules); });
        m_runs.reclaim(m_oldest, reuse);
    }

    std::size_t waiting() const {
        return m_pieces.size() + m_runs.size();
    }

private:
    struct piece {
        granule_arena* arena;
        std::uint32_t at;
        std::uint32_t granules;
    };

    mutable sync::epoch_domain<> m_domain;
    sync::limbo<piece> m_pieces;
    sync::limbo<std::uint32_t> m_runs;
    std::uint64_t m_oldest = 0;
};

} // namespace kvindex::storage
