/// Look-ups: a walk down the tree that never waits and never writes what others read, but for its pin.
///
/// Every block below a reported depth was held at some instant inside the call; blocks of different runs, and
/// depths of one answer, may be of different instants. Order that the writer relies on, all loads acquire:
/// length, then content; holder table or words after the length; bit sets before words (layout.hpp).
#pragma once

#include "index/holders.hpp"

#include <algorithm>
#include <span>

namespace kvindex::index {

/// Steps that a look-up may take when nobody says otherwise; see look_up.
inline constexpr std::uint32_t default_query_budget = 1u << 16;

/// Where depths go: depth[t * stride + slot], for `tiers` tiers and slots below `columns`, a multiple of 64.
/// Every entry below both shown() and `columns` is written and none beyond: slots may be opened meanwhile.
struct dense_out {
    std::uint32_t* depth = nullptr;
    std::uint32_t stride = 0;
    std::uint32_t columns = 0;
    std::uint32_t tiers = 1;
};

/// One look-up: what is asked, and what became of it.
///
/// `budget` bounds the work, in steps of about one cache line each: 8 for a run, 1 for 8 blocks compared, 1 for
/// 8 words of holders, 1 for a further line of the child table. It is looked at before each run, so that at
/// most one run's steps are spent beyond it (layout.hpp: 1,024 for blocks, 134 for holders). A look-up that is
/// cut short reports what it has found so far: every depth is held, and may be too small.
struct look_up {
    std::uint32_t name_space = 0;
    std::uint32_t count = 0;
    const local_hash* locals = nullptr;
    dense_out out{};
    std::uint32_t budget = default_query_budget;

    std::uint32_t walked = 0; ///< answer: blocks looked at until nobody was left; `count` = all, undecided
    std::uint32_t steps = 0;  ///< answer: spent
    bool cut_short = false;   ///< answer: the budget was used up and there was more to look at
};

/// Instruction sets that the walk is compiled for. The best one that the machine has is chosen at start.
enum class isa { scalar, neon, avx2, avx512 };

class reader_view {
public:
    reader_view(memory& m, holders& h);

    /// For tests: another instruction set, before any look-up; false when this machine lacks it.
    bool use(isa wanted);

    /// Writer: the slot counts from now on, or no longer.
    void show(std::uint32_t slot);
    void hide(std::uint32_t slot);

    /// One past the highest slot that was ever shown.
    std::uint32_t shown() const {
        return m_shown.load(std::memory_order_acquire);
    }

    /// Whether lower tiers matter at all; once true, true for ever. A walk of one tier that began while it was
    /// false says everything only if it is false after the walk too: else it may have met a block that had gone
    /// to a lower tier by then.
    bool tiered() const {
        return m_holders.tiered();
    }

    /// holders::blocks_in().
    std::uint64_t blocks_in(std::uint32_t slot, std::uint32_t t) const {
        return m_holders.blocks_in(slot, t);
    }

    sync::epoch_domain<>& epochs() const {
        return m_memory.reclaim.domain();
    }

    /// Inside a pin.
    void walk(look_up& asked) const {
        m_walk(m_memory, m_visible, asked, shown());
    }

    /// Inside a pin. Several at once: while memory answers one, the others go on.
    void walk(std::span<look_up> asked) const {
        if (asked.size() == 1) {
            walk(asked[0]);
        } else {
            m_walk_all(m_memory, m_visible, asked, shown());
        }
    }

    /// Inside a pin. Without a budget; answers look_up::walked.
    std::uint32_t walk(std::uint32_t name_space, const local_hash* locals, std::uint32_t count,
                       const dense_out& out) const {
        look_up asked{.name_space = name_space, .count = count, .locals = locals, .out = out, .budget = ~0u};
        walk(asked);
        return asked.walked;
    }

    /// The slots from 64 * `word` on that count now; `word` is below storage::slot_words.
    std::uint64_t visible(std::uint32_t word) const {
        return m_visible[word].load(std::memory_order_acquire);
    }

private:
    using visible_slots = std::array<std::atomic<std::uint64_t>, storage::slot_words>;
    using walk_function = void (*)(const memory&, const visible_slots&, look_up&, std::uint32_t);
    using walk_all_function = void (*)(const memory&, const visible_slots&, std::span<look_up>, std::uint32_t);

    memory& m_memory;
    holders& m_holders;
    visible_slots m_visible{};
    walk_function m_walk = nullptr;
    walk_all_function m_walk_all = nullptr;
    std::atomic<std::uint32_t> m_shown{0};
};

} // namespace kvindex::index
