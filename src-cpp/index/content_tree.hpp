/// The prompts that somebody holds, as a tree of runs. Knows content, not who holds it.
///
/// Invariant: no child run of a block starts with the block that follows it in its own run; so a block
/// has at most one successor per local hash, and content has exactly one place.
///
/// Not thread-safe; find_next() and operator[] const may run in many threads beside each other.
#pragma once

#include "storage/run_pool.hpp"
#include "storage/tables.hpp"

#include <span>

namespace kvindex::index {

using storage::place;
using storage::root;
using storage::run;
using storage::run_id;

/// Consecutive blocks of one run.
struct stretch {
    place first;
    std::uint32_t count = 0;
};

class content_tree {
public:
    explicit content_tree(memory_account& account);

    run& operator[](run_id id) {
        return m_runs[id];
    }

    const run& operator[](run_id id) const {
        return m_runs[id];
    }

    /// The run that continues behind `at` with `local`, not counting `at`'s own; none if there is none.
    run_id find_child(place at, local_hash local) const;

    /// The first stretch of `locals` behind `at`, made where it was not there. At least one block, at most
    /// the rest of a run. Throws std::bad_alloc without effect.
    stretch lay(place at, std::span<const local_hash> locals);

    /// `id` may end with blocks that nobody holds: sweep() will look. Runs that lay() touched are marked.
    void mark(run_id id) noexcept;

    /// Frees what hangs at the ends of marked runs without a holder or a child. Frees whole runs upwards.
    void sweep() noexcept;

    std::uint64_t runs() const {
        return m_runs.size();
    }

    template <typename F>
    void for_each_run(F&& f) const {
        m_runs.for_each(f);
    }

    std::uint64_t children() const {
        return m_children.size();
    }

private:
    stretch add_run(place parent, std::span<const local_hash> locals);
    stretch append(run_id id, std::span<const local_hash> locals);
    void unlink(run_id id) noexcept;

    storage::run_pool m_runs;
    storage::child_table m_children;
    run_id m_marked = run_id::none;
};

} // namespace kvindex::index
