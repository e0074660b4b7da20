/// The tables of one index core, and the counters over them.
#pragma once

#include "index/residency.hpp"
#include "storage/child_table.hpp"
#include "storage/granules.hpp"
#include "storage/layout.hpp"
#include "storage/name_map.hpp"
#include "storage/reclaimer.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace kvindex::index {

using storage::place;

/// Names of a run's blocks in another domain than the run's own.
struct plane {
    std::uint32_t domain = 0;
    std::uint32_t names = 0; ///< granule of line ids
    std::uint32_t lines = 0; ///< room there
};

/// One of several names under which a slot holds a block, or one that is not the block's usual name for it.
struct spare_name {
    std::uint32_t slot = 0;
    std::uint32_t offset = 0;
    engine_hash name = 0;
    tier_mask tiers = 0;
};

struct holder_detail {
    std::uint32_t slot = 0;
    residency held;
};

/// What few runs have.
struct run_extra {
    std::vector<holder_detail> details{};
    std::vector<plane> planes{};
    std::vector<spare_name> spares{};
    std::uint32_t next_free = 0; ///< of one that no run has: the next of them

    bool empty() const {
        return details.empty() && planes.empty() && spares.empty();
    }
};

struct limits {
    std::uint64_t max_blocks = std::uint64_t{1} << 30; ///< reserves addresses, not memory
    std::uint32_t ghost_percent = 15;                  ///< of all blocks may be kept for nobody
    std::uint64_t ghost_floor = 1u << 14;              ///< this many may always
    std::uint64_t byte_budget = 0;                     ///< most bytes in use, 0 = no limit
};

struct memory {
    explicit memory(const limits& l)
        : heads(l.max_blocks / 4 + 2), colds(l.max_blocks / 4 + 2), lines(l.max_blocks / 4 + 2),
          content(l.max_blocks / 2 + 64), lists(l.max_blocks / 8 + 1024), covers(l.max_blocks / 4 + 1024),
          name_table(l.max_blocks / 2 + 65536, 2), child_lines(l.max_blocks / 4 + 65536),
          names(name_table, lines.data()), children(child_lines, reclaim, heads.data()) {
    }

    storage::region<storage::run_head> heads;
    storage::region<storage::run_cold> colds;
    storage::region<storage::name_line> lines;
    storage::granule_arena content;
    storage::granule_arena lists;
    storage::granule_arena covers;
    storage::granule_arena name_table;
    storage::granule_arena child_lines;
    storage::reclaimer reclaim;
    storage::name_map names;
    storage::child_table children;

    run_extra& extra_of(std::uint32_t run) {
        storage::run_cold& c = colds[run];
        if (c.extra == 0) {
            if (free_extra == 0) {
                extras.push_back(std::make_unique<run_extra>());
                free_extra = static_cast<std::uint32_t>(extras.size());
            }
            c.extra = free_extra;
            free_extra = extras[c.extra - 1]->next_free;
            extras[c.extra - 1]->next_free = 0;
        }
        return *extras[c.extra - 1];
    }

    /// A list of the run's extra part, with room for one more. Throws std::bad_alloc without effect; who does
    /// not use the room calls trim_extra().
    template <typename T>
    std::vector<T>& room_in(std::uint32_t run, std::vector<T> run_extra::*list) {
        std::vector<T>& v = extra_of(run).*list;
        if (v.size() == v.capacity()) {
            try {
                v.reserve(v.size() + v.size() / 2 + 1);
            } catch (...) {
                trim_extra(run);
                throw;
            }
        }
        return v;
    }

    run_extra* find_extra(std::uint32_t run) const {
        const std::uint32_t e = colds[run].extra;
        return e == 0 ? nullptr : extras[e - 1].get();
    }

    /// Gives the extra part back when nothing is in it.
    void trim_extra(std::uint32_t run) noexcept {
        storage::run_cold& c = colds[run];
        if (c.extra != 0 && extras[c.extra - 1]->empty()) {
            *extras[c.extra - 1] = run_extra{.next_free = free_extra};
            free_extra = c.extra;
            c.extra = 0;
        }
    }

    std::deque<std::unique_ptr<run_extra>> extras; // a vector would copy millions when it grows
    std::uint32_t free_extra = 0;                  // number, like run_cold::extra; the free ones are a list
};

} // namespace kvindex::index
