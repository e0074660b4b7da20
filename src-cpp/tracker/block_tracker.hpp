/// Which back end is taken to hold which blocks, from the prompts that were sent there: no events needed.
///
/// The rules are those of the vLLM cache-aware policy (src/docs/explanation/block-tracker.md): a prompt's
/// complete blocks are recorded for the back end that it goes to; a look-up finds, for each back end that holds
/// block 0, how far its blocks reach by binary search; the least recently used blocks are evicted, the deepest
/// of equals first.
///
/// find(), record(), evict(), stats()   any thread; wait for each other at one back end for microseconds,
/// evict()
///                                      never holds one for longer than 1,024 blocks
/// join(), leave()                      any thread; wait until no other call is inside
///
/// A back end is a number and an incarnation, as a slot of the index is: slot_id.
#pragma once

#include "base/types.hpp"
#include "tracker/block_hash.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

namespace kvindex::tracker {

struct tracker_options {
    std::uint32_t block_size = 16; ///< tokens, at least 1
    hashing how = hashing::position;
    /// evict() goes down to so many blocks of each back end; record() never lets one have more than twice as
    /// many.
    std::uint64_t max_blocks = 100'000;
};

struct tracker_hit {
    std::uint32_t backend = 0; ///< number
    std::uint32_t blocks = 0;  ///< at least 1
};

struct tracker_find {
    bool fits = true; ///< false: more hits than room, nothing was written or refreshed
    std::uint32_t hits = 0;
};

struct tracker_statistics {
    std::uint64_t backends = 0;
    std::uint64_t blocks = 0; ///< (back end, block) pairs
    std::uint64_t bytes = 0;
    std::uint64_t evicted = 0; ///< pairs, since the beginning
};

class block_tracker {
public:
    explicit block_tracker(const tracker_options& o);
    ~block_tracker();
    block_tracker(const block_tracker&) = delete;
    block_tracker& operator=(const block_tracker&) = delete;

    std::uint32_t block_size() const {
        return m_options.block_size;
    }

    /// The back end is there, with no blocks. One of the same number and another incarnation is gone with that.
    /// Joining again changes nothing.
    void join(slot_id backend);

    /// Forgets the back end and its blocks; false when it is not there. O(its memory).
    bool leave(slot_id backend);

    /// How far the blocks of each back end that holds block 0 reach, ascending by number; the longest one's
    /// blocks (the lowest number's, of equals) then count as used. `tokens` holds blocks * block_size ids.
    /// O(tokens + back ends + candidates * log blocks).
    tracker_find find(const std::uint32_t* tokens, std::uint32_t blocks, std::uint64_t seed,
                      std::span<tracker_hit> out);

    /// The prompt goes to the back end: its new blocks, or nothing when the back end is not there. O(blocks).
    std::optional<std::uint64_t> record(slot_id backend, const std::uint32_t* tokens, std::uint32_t blocks,
                                        std::uint64_t seed);

    /// Drops the least recently used blocks of one back end down to `most`; how many, or nothing when it is not
    /// there.
    std::optional<std::uint64_t> evict(slot_id backend, std::uint64_t most);

    /// The same for all, down to max_blocks.
    std::uint64_t evict_all();

    tracker_statistics stats() const;

    /// Empty, or what is wrong. For tests.
    const char* first_broken_invariant() const;

    /// Whether a block is recorded. For tests.
    bool holds(slot_id backend, std::uint64_t hash) const;

private:
    struct member;
    class searched;

    member* of(slot_id backend) const;
    std::uint64_t evict(member& m, std::uint64_t most);

    tracker_options m_options;
    // Shared: the members stay. Exclusive: they come and go. Taken before any member's own mutex.
    mutable std::shared_mutex m_coming_and_going;
    std::vector<std::unique_ptr<member>> m_by_number; // null where there is none
    std::uint64_t m_evicted_of_gone = 0;              // guarded by m_coming_and_going
};

} // namespace kvindex::tracker
