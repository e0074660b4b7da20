/// What bracket_test.cpp asks: the index, or one core with or without the readers' half of the protocol.
#pragma once

#include "index/core.hpp"
#include "kvindex/prefix_index.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kvindex::tests {

/// The index as others use it.
struct whole_index {
    std::optional<slot_id> open(std::uint32_t domain) {
        return index.open_slot(domain, 0);
    }

    void close(slot_id slot) {
        index.close_slot(slot);
    }

    void apply(const event& e) {
        index.apply({&e, 1});
    }

    void look(std::span<const local_hash> locals, std::uint32_t tiers, std::uint32_t* rows,
              std::uint32_t stride) {
        index.match_dense(0, locals, tiers, rows, stride);
    }

    std::string first_broken_invariant() const {
        return index.first_broken_invariant();
    }

    // Room for what piles up while a reader is held up: a hundred megabytes a second when long prompts move.
    prefix_index index{{.max_blocks = 1u << 24, .ghost_percent = 0, .ghost_floor = 0}};
};

/// The same, asked for several prompts at once: for the one that matters, and for some of those before, whose
/// hashes must stay where they are.
struct index_in_batches : whole_index {
    void look(std::span<const local_hash> locals, std::uint32_t tiers, std::uint32_t* rows,
              std::uint32_t stride) {
        struct memory {
            std::array<query, 5> asked;
            std::vector<std::uint32_t> rows;
            std::size_t turn = 0;
        };
        static thread_local memory mine;
        const std::size_t here = mine.turn++ % mine.asked.size();
        mine.asked[here] = {.locals = locals};
        mine.rows.assign(mine.asked.size() * tiers * stride, 0xffffffffu);
        index.match_batch(mine.asked, tiers, mine.rows.data(), stride, {});
        std::copy_n(mine.rows.data() + here * tiers * stride, tiers * stride, rows);
    }
};

/// One core alone; without pins nothing tells the writer what readers still see.
template <bool Pinned>
struct bare_core {
    std::optional<slot_id> open(std::uint32_t domain) {
        std::uint32_t slot = 0;
        while (taken[slot]) {
            slot++;
        }
        taken[slot] = true;
        core.open_slot(slot, domain, 0);
        return slot_id{slot};
    }

    void close(slot_id slot) {
        core.close_slot(number_of(slot));
        taken[number_of(slot)] = false;
    }

    void apply(const event& e) {
        applied_counts counts;
        core.apply({&e, 1}, counts);
    }

    void look(std::span<const local_hash> locals, std::uint32_t tiers, std::uint32_t* rows,
              std::uint32_t stride) {
        std::optional<sync::epoch_domain<>::pin> pin;
        if constexpr (Pinned) {
            pin.emplace(core.view().epochs());
        }
        core.view().walk(0, locals.data(), static_cast<std::uint32_t>(locals.size()),
                         {rows, stride, stride, tiers});
    }

    std::string first_broken_invariant() const {
        return core.first_broken_invariant();
    }

    index::core core{{.max_blocks = 1u << 24, .ghost_percent = 0, .ghost_floor = 0}, 1000};
    std::array<bool, 64> taken{};
};

} // namespace kvindex::tests
