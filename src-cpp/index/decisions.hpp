/// Approximate content: what routing decisions say that a slot holds, where no events do.
///
/// A decision says: from now on the slot holds this path of blocks. A block is held by an approximate slot
/// while it lies on the path of one of its decisions that has not ended. A decision ends
///   - when it is `ttl` old, at the next call that looks,
///   - when the slots of this core hold more than `capacity` (slot, block) pairs: the oldest first,
///   - with its slot, or when the slot is cleared.
/// One that a later decision of the same slot goes through, to its last block or beyond, says nothing any more:
/// it is superseded, and forgotten at once. So a prompt that is repeated, or a conversation that grows, is one
/// decision however often it comes.
///
/// Structure: a mark (run, slot, cut) for each run on a decision's path says that the decision reaches [0, cut)
/// of the run. The marks of one (run, slot) are a staircase: a younger mark that is as long takes the older
/// one's place, so the oldest is the longest, it is what the slot holds, and it goes first. Nothing is ever
/// searched: a decision costs a hash look-up and some links for each run on its path, and so does its end.
///
/// Runs never split, and what is held of them is never freed, so a mark's run and cut stay good.
///
/// Not thread-safe; writer only. A mark takes 32 bytes and about 24 in the table of staircases, if it is alone
/// there; a decision has one for each run on its path (most prompts: 1 to 3).
#pragma once

#include "index/content.hpp"
#include "storage/open_table.hpp"

#include <string>

namespace kvindex::index {

struct decision_limits {
    std::uint64_t ttl = 120'000;                     ///< milliseconds
    std::uint64_t capacity = std::uint64_t{1} << 24; ///< most (slot, block) pairs
};

class decisions {
public:
    decisions(memory& m, holders& h, content& c, const decision_limits& l);

    void open_slot(std::uint32_t slot) {
        m_approximate[slot] = true;
    }

    /// The slot has no mark any more.
    void close_slot(std::uint32_t slot) {
        m_approximate[slot] = false;
    }

    bool is_approximate(std::uint32_t slot) const {
        return m_approximate[slot];
    }

    std::uint64_t capacity() const {
        return m_limits.capacity;
    }

    /// A decision at `now`, milliseconds of a clock that never goes back; an earlier one counts as the latest
    /// so far. The holds up to the next begin() are its path.
    void begin(std::uint64_t now) {
        m_now = now > m_now ? now : m_now;
        m_current = 0;
    }

    /// The decision's path goes on through these blocks, of one run. Answers how many are new to the slot.
    /// Throws std::bad_alloc without a mark; the decision then ends where it was.
    std::uint32_t hold(std::uint32_t slot, const laid_blocks& blocks);

    /// Ends decisions that are too old at `now`, at most `most`; answers how many. O(runs on their paths).
    std::uint32_t end_due(std::uint64_t now, std::uint32_t most);

    /// Ends the oldest decisions until not more than the capacity is held. The oldest decision's last block is
    /// on no other path, so each end makes room: all in all no more ends than blocks were laid.
    void keep_to_capacity();

    /// The slot gives up the run: forgets its marks there. All runs of the slot are to go with it.
    void forget(std::uint32_t run, std::uint32_t slot);

    /// Not ended, not superseded.
    std::uint64_t alive() const {
        return m_alive;
    }

    std::uint64_t ended_by_time() const {
        return m_ended_by_time;
    }

    std::uint64_t ended_by_capacity() const {
        return m_ended_by_capacity;
    }

    /// (slot, block) pairs that the approximate slots hold.
    std::uint64_t held() const {
        return m_held;
    }

    std::uint64_t bytes() const {
        return m_account.bytes();
    }

    std::string first_broken_invariant() const;

private:
    struct mark {
        std::uint32_t before = 0; ///< in the order in which marks end
        std::uint32_t after = 0;
        std::uint32_t longer = 0;  ///< of the same run and slot: the next older one
        std::uint32_t shorter = 0; ///< the next younger one
        std::uint32_t run = 0;
        std::uint16_t slot = 0;
        std::uint16_t cut : 15 = 0;
        std::uint16_t is_end : 1 = 0; ///< the decision's last run; its marks above follow it in the order
        std::uint64_t time = 0;
    };
    static_assert(sizeof(mark) == 32 && storage::max_run < 1u << 15 && storage::core_slots <= 1u << 16);

    struct staircase {
        std::uint32_t run = 0;
        std::uint32_t slot = 0;
        std::uint32_t oldest = 0; ///< the longest
        std::uint32_t youngest = 0;
    };

    struct staircase_traits {
        using entry = staircase;
        struct key {
            std::uint32_t run = 0;
            std::uint32_t slot = 0;

            bool operator==(const key&) const = default;
        };

        static key key_of(const entry& e) {
            return {e.run, e.slot};
        }

        static bool used(const entry& e) {
            return e.oldest != 0;
        }

        static std::uint64_t hash(const key& k) {
            return mix(std::uint64_t{k.run} << 32 | k.slot);
        }
    };
    using staircases = storage::open_table<staircase_traits>;

    static constexpr std::uint32_t marks_per_chunk = 1024;
    static constexpr std::uint32_t most_marks = 0xffffffffu - marks_per_chunk;
    // Tables by hash, so that the growth of one is a fraction of a millisecond.
    static constexpr std::uint32_t parts = 256;

    mark& at(std::uint32_t number) {
        return m_chunks[number / marks_per_chunk][number % marks_per_chunk];
    }

    const mark& at(std::uint32_t number) const {
        return m_chunks[number / marks_per_chunk][number % marks_per_chunk];
    }

    static std::size_t part_of(std::uint32_t run, std::uint32_t slot) {
        return staircase_traits::hash({run, slot}) >> 56;
    }

    staircases& stairs_near(std::uint32_t run, std::uint32_t slot) {
        return m_staircases[part_of(run, slot)];
    }

    void reserve(std::uint32_t run, std::uint32_t slot);
    void add_mark(std::uint32_t run, std::uint32_t slot) noexcept;
    void note(std::uint32_t run, std::uint32_t slot, std::uint32_t cut) noexcept;
    void drop(std::uint32_t number) noexcept;
    void end_oldest();

    memory& m_memory;
    holders& m_holders;
    content& m_content;
    const decision_limits m_limits;
    memory_account m_account;
    std::array<bool, storage::core_slots> m_approximate{};
    std::vector<staircases> m_staircases;
    std::vector<tracked_vector<mark>> m_chunks; // number 0 is not used
    std::uint32_t m_free = 0;                   // list by `after`
    std::uint32_t m_top = 1;
    std::uint32_t m_first = 0; // ends first
    std::uint32_t m_last = 0;
    std::uint32_t m_current = 0; // of the decision that is being laid, its last run
    std::uint64_t m_now = 0;
    std::uint64_t m_held = 0; // (slot, block) pairs
    std::uint64_t m_alive = 0;
    std::uint64_t m_ended_by_time = 0;
    std::uint64_t m_ended_by_capacity = 0;
};

} // namespace kvindex::index
