/// Look-ups: a walk down the tree that never waits and never writes what others read, but for its pin.
///
/// Every block below a reported depth was held at some instant inside the call; blocks of different runs, and
/// depths of one answer, may be of different instants. Order that the writer relies on, all loads acquire:
/// length, then content; holder table or words after the length; bit sets before words (layout.hpp).
#pragma once

#include "index/holders.hpp"

#include <algorithm>

namespace kvindex::index {

/// Where depths go: depth[t * stride + slot], for `tiers` tiers and slots below `columns`, a multiple of 64.
/// Every entry below both shown() and `columns` is written and none beyond: slots may be opened meanwhile.
struct dense_out {
    std::uint32_t* depth = nullptr;
    std::uint32_t stride = 0;
    std::uint32_t columns = 0;
    std::uint32_t tiers = 1;
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

    /// Whether lower tiers matter at all. False: all depths of a slot are equal.
    bool tiered() const {
        return m_holders.tiered();
    }

    sync::epoch_domain<>& epochs() const {
        return m_memory.reclaim.domain();
    }

    /// Inside a pin. Answers the blocks looked at until nobody was left; `count` = all, undecided.
    std::uint32_t walk(std::uint32_t name_space, const local_hash* locals, std::uint32_t count,
                       const dense_out& out) const {
        return m_walk(m_memory, m_visible, name_space, locals, count, out, std::min(shown(), out.columns));
    }

private:
    using visible_slots = std::array<std::atomic<std::uint64_t>, storage::slot_words>;
    using walk_function = std::uint32_t (*)(const memory&, const visible_slots&, std::uint32_t,
                                            const local_hash*, std::uint32_t, const dense_out&, std::uint32_t);

    memory& m_memory;
    holders& m_holders;
    visible_slots m_visible{};
    walk_function m_walk = nullptr;
    std::atomic<std::uint32_t> m_shown{0};
};

} // namespace kvindex::index
