/// Makes the runs of one part of a snapshot in an empty index core: first the tree with its names, then who
/// holds what. Not by events: each run, name and holder is made once.
///
/// What cannot be true at one time is refused in a quiet file. In another one it comes from changes during the
/// save, and what is older gives way, so that every block is for every slot as it was at some time between the
/// beginning of the save and its end.
#pragma once

#include "snapshot/core_access.hpp"
#include "snapshot/tree_order.hpp"

#include <map>

namespace kvindex::snapshot {

class builder {
public:
    /// `core` is empty but for its slots, which are open as the file says.
    builder(const input_file& file, std::uint32_t part, index::core& core);

    /// Throws damaged or std::bad_alloc; the core is of no use then.
    void build();

    std::uint64_t dropped_runs() const {
        return m_dropped_runs;
    }

    std::uint64_t dropped_names() const {
        return m_dropped_names;
    }

private:
    struct name_at {
        std::uint32_t domain = 0;
        std::uint32_t offset = 0;
        std::uint64_t salted = 0;
    };

    struct own_name {
        std::uint32_t slot = 0;
        std::uint64_t salted = 0;
    };

    run_record record(std::uint32_t position) const {
        return run_record(m_runs[position]);
    }

    bool is_open(std::uint32_t slot) const {
        return m_slots[slot] != nullptr;
    }

    /// In a quiet file: refuses. Else the caller drops something.
    void conflict(std::uint32_t position, const char* what) const;
    [[noreturn]] void refuse(std::uint32_t position, const char* what) const;

    bool make_run(std::uint32_t position);
    void make_names(std::uint32_t position);
    void make_plane(std::uint32_t position, std::uint32_t plane, std::uint32_t built);
    bool wins(std::uint32_t position, std::uint32_t known, const name_at& name);
    void make_holders(std::uint32_t position);
    bool is_named(const run_record& r, std::uint32_t slot, const index::residency& held) const;
    static bool is_spared(const run_record& r, std::uint32_t slot, std::uint32_t offset);
    index::residency without_lost(std::uint32_t position, std::uint32_t slot, index::residency held);
    void make_spares(std::uint32_t position);
    void settle_spares(std::uint32_t position);
    void settle_own_names();

    const input_file& m_file;
    std::span<const std::uint64_t* const> m_runs;
    index::core& m_core;
    index::memory& m_memory;
    tree_order m_order;
    std::array<const slot_record*, storage::core_slots> m_slots{}; // open ones
    std::vector<std::uint32_t> m_made;                             // position -> run, 0 = dropped
    std::vector<std::uint32_t> m_position;                         // run -> position
    std::vector<std::uint32_t> m_space;                            // position -> name space
    std::map<std::uint32_t, std::vector<name_at>> m_lost;          // position -> names that are elsewhere now
    std::vector<own_name> m_own;
    std::uint64_t m_dropped_runs = 0;
    std::uint64_t m_dropped_names = 0;
};

} // namespace kvindex::snapshot
