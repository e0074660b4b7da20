/// Who holds how much of a run: the words and bit sets that readers see, and what the writer knows besides.
/// Writer only.
#pragma once

#include "index/memory.hpp"
#include "index/run_sweep.hpp"

namespace kvindex::index {

class holders {
public:
    explicit holders(memory& m)
        : m_memory(m), m_slots(storage::core_slots), m_tier_blocks(storage::core_slots) {
    }

    /// Widest slot number that may come, for the width of bit sets.
    void expect_slot(std::uint32_t slot);

    /// Adds a tier to the blocks [begin, end) for the slot, or takes it away.
    residency_change change(std::uint32_t run, std::uint32_t slot, std::uint32_t begin, std::uint32_t end,
                            tier where, bool add);

    /// The slot holds nothing of the run in these tiers any more.
    void forget(std::uint32_t run, std::uint32_t slot, tier_mask tiers);

    /// holder word of the slot, or holder::none.
    std::uint64_t word_of(std::uint32_t run, std::uint32_t slot) const;

    tier_mask tiers_at(std::uint32_t run, std::uint32_t slot, std::uint32_t offset) const;
    bool anyone_at(std::uint32_t run, std::uint32_t offset) const;
    residency residency_of(std::uint32_t run, std::uint32_t slot) const;

    /// Calls f(slot, word) for each holder of the run, in no order.
    template <typename F>
    void for_each(std::uint32_t run, F&& f) const {
        const storage::run_head& h = m_memory.heads[run];
        const std::uint32_t cover = h.cover.load(std::memory_order_relaxed);
        if (cover == 0) {
            for (const auto& w : h.holders) {
                const std::uint64_t word = w.load(std::memory_order_relaxed);
                if (word != storage::holder::none) {
                    f(storage::holder::slot(word), word);
                }
            }
            return;
        }
        const storage::holder_table& t = table(cover);
        const std::uint64_t counts = t.counts.load(std::memory_order_relaxed);
        std::array<std::uint64_t, storage::slot_words> seen{};
        for (std::uint32_t i = 0; i < storage::holder_table::used(counts); i++) {
            const std::uint64_t word = t.holders()[i].load(std::memory_order_relaxed);
            if (word != storage::holder::none) {
                const std::uint32_t slot = storage::holder::slot(word);
                seen[slot / 64] |= std::uint64_t{1} << (slot % 64);
                f(slot, word);
            }
        }
        for (std::uint32_t level = t.levels(); level-- != 0;) {
            for (std::uint32_t w = 0; w < t.words(); w++) {
                std::uint64_t bits = t.bits(level)[w].load(std::memory_order_relaxed) & ~seen[w];
                seen[w] |= bits;
                for (; bits != 0; bits &= bits - 1) {
                    const std::uint32_t slot = w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                    f(slot, storage::holder::pack(slot, storage::holder_table::cut(counts, level)));
                }
            }
        }
    }

    /// Runs that the slot holds something of; may name others too, and some twice.
    std::vector<std::uint32_t>& runs_of(std::uint32_t slot) {
        if (m_sweep.slot() == slot) {
            m_sweep.end(m_slots[slot].runs);
        }
        return m_slots[slot].runs;
    }

    /// Frees the table of a run that goes.
    void release(std::uint32_t run);

    /// (slot, block) pairs.
    std::uint64_t residencies() const {
        return m_residencies;
    }

    /// Blocks that the slot holds in this tier, whatever other tiers hold them too. Any thread.
    std::uint64_t blocks_in(std::uint32_t slot, std::uint32_t t) const {
        return m_tier_blocks[slot][t].load(std::memory_order_relaxed);
    }

    /// Some slot ever held a block in another tier than GPU memory.
    bool tiered() const {
        return m_tiered.load(std::memory_order_relaxed);
    }

    std::uint64_t bytes() const;

private:
    struct slot_runs {
        std::vector<std::uint32_t> runs;
        std::uint32_t held = 0;
    };

    /// The writer alone changes them: no read-modify-write. Relaxed, with a relaxed load in blocks_in(): each
    /// number speaks for itself, and nobody goes by it to other memory, so it pairs with nothing else.
    void count(std::uint32_t slot, tier where, std::int64_t more) {
        std::atomic<std::uint64_t>& n = m_tier_blocks[slot][static_cast<std::size_t>(where)];
        n.store(n.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(more),
                std::memory_order_relaxed);
    }

    storage::holder_table& table(std::uint32_t at) const {
        return *reinterpret_cast<storage::holder_table*>(m_memory.covers.words(at));
    }

    bool extend(std::uint32_t run, std::uint32_t slot, std::uint32_t begin, std::uint32_t end);
    void set(std::uint32_t run, std::uint32_t slot, std::uint64_t before, std::uint64_t word);
    void put_word(std::uint32_t run, std::uint32_t slot, std::uint64_t word);
    void put_in_table(std::uint32_t run, std::uint32_t at, std::uint32_t slot, std::uint64_t word);
    void rebuild(std::uint32_t run, std::uint32_t slot, std::uint64_t word);
    void tidy_runs(std::uint32_t slot);
    residency_change change_in_full(std::uint32_t run, std::uint32_t slot, std::uint64_t before,
                                    std::uint32_t begin, std::uint32_t end, tier where, bool add);
    void make_room_for_run(std::uint32_t slot);
    void forget_all(std::uint32_t run, std::uint32_t slot) noexcept;
    void forget_detail(std::uint32_t run, std::uint32_t slot) noexcept;
    std::uint32_t held_end(std::uint32_t run) const;
    std::uint32_t end_of(std::uint32_t run, std::uint64_t word) const;
    residency* find_detail(std::uint32_t run, std::uint32_t slot) const;

    memory& m_memory;
    std::vector<slot_runs> m_slots;
    std::vector<std::array<std::atomic<std::uint64_t>, tier_count>> m_tier_blocks; // 32 bytes a slot
    run_sweep m_sweep;
    std::uint32_t m_words = 1; // of a bit set
    std::uint64_t m_residencies = 0;
    std::atomic<bool> m_tiered{false};
};

} // namespace kvindex::index
