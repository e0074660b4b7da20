/// The native prefix index: the only header that code outside src-cpp includes (with base/hashing.hpp).
///
/// match*(), best(), slot_blocks()          any thread, any time; never wait
/// open_slot(), close_slot(), apply()       any thread; one at a time, each whole
/// stats(), memory()                        the same
/// open_approximate_slot(), decide()        the same
/// expire()                                 any thread; lets the ones above in between
/// save()                                   any thread; one at a time; the ones above go on meanwhile
/// load()                                   not beside another call
/// destructor                               not beside another call
///
/// Every block below a depth that a look-up reports was held at some instant inside the call.
/// apply() may throw std::bad_alloc: see index/core.hpp for what holds then.
#pragma once

#include "base/memory_parts.hpp"
#include "base/types.hpp"
#include "kvindex/queries.hpp"
#include "snapshot/report.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace kvindex {

struct options {
    std::uint64_t orphan_limit = 1u << 20; ///< most blocks kept for want of a parent, per 1,024 slots
    std::uint64_t max_blocks = std::uint64_t{1} << 30; ///< reserves addresses (not memory), per 1,024 slots
    std::uint32_t ghost_percent = 15;                  ///< of all blocks may be kept though nobody holds them
    std::uint64_t ghost_floor = 1u << 14;              ///< this many may always
    /// Most bytes in use, per 1,024 slots; 0 = no limit. Looked at every 64 events. Above it gives way, in this
    /// order: blocks that nobody holds, events that wait for a parent, stored blocks that are new to the index
    /// (refused and counted, until something leaves). Nothing that is held is ever forgotten.
    std::uint64_t byte_budget = 0;
    std::uint64_t decision_ttl = 120'000; ///< milliseconds for which a decision counts
    /// Most (slot, block) pairs that decisions hold, per 1,024 slots; above it the oldest decisions end. The
    /// default is a thousand workers of 16,384 blocks.
    std::uint64_t decision_capacity = std::uint64_t{1} << 24;
    /// Most work of one look-up, per 1,024 slots, in steps of about a cache line each (index/walk.hpp): 8 for a
    /// run of blocks, 1 for 8 blocks compared, 1 for 8 words of holders. What is used up is looked at before
    /// each run. A look-up that is cut short reports what it has found so far: held, but perhaps too small.
    std::uint32_t query_budget = 1u << 16;
};

class prefix_index {
public:
    explicit prefix_index(const options& o = {});
    ~prefix_index();
    prefix_index(const prefix_index&) = delete;
    prefix_index& operator=(const prefix_index&) = delete;

    /// A new, empty slot with the lowest free number; empty when all max_slots are taken. Slots of one `domain`
    /// share engine hashes; `name_space` separates models.
    std::optional<slot_id> open_slot(std::uint32_t domain = 0, std::uint16_t name_space = 0);

    /// The same for a worker without events: it holds what decide() says. Its domain is the one that its events
    /// would have, so that content it shares with others is laid once. Stored and removed events of it are
    /// ignored; clearing GPU memory, or all, ends its decisions. Snapshots leave it out.
    std::optional<slot_id> open_approximate_slot(std::uint32_t domain = 0, std::uint16_t name_space = 0);

    /// A request with these blocks went to the approximate slot at `now`: milliseconds of a clock of the
    /// caller's that does not go back (a time before the latest one counts as that). The slot then holds the
    /// blocks until the decision ends: at the first call that is told of a time `decision_ttl` later, when it
    /// is the oldest and there are more than `decision_capacity` pairs, with the slot, or when the slot is
    /// cleared. A block is held while one of its slot's decisions holds it; the same path again, or a longer
    /// one, takes the place of the shorter. Answers how many blocks are new to the slot; nothing when it is not
    /// open, or not approximate.
    ///
    /// Over the byte budget only known blocks are taken, and no decision is longer than the capacity: the rest
    /// is counted as refused. Ends at most 16 decisions that are due. O(blocks + runs on the way); what is
    /// ended was paid for by the blocks that were laid.
    std::optional<std::uint64_t> decide(slot_id slot, std::span<const local_hash> locals, std::uint64_t now);

    /// Ends all decisions that are due at `now`, a slice at a time; answers how many. O(what ends).
    std::uint64_t expire(std::uint64_t now);

    /// Forgets the slot; false when it was not open.
    bool close_slot(slot_id slot);

    /// Applies events in order. Look-ups may see the state within one of them.
    applied_counts apply(std::span<const event> events);

    /// Depths of every slot that holds the first block.
    match_result match(std::uint16_t name_space, std::span<const local_hash> locals, std::span<hit> out) const;

    /// depth[t * stride + slot number] for t < tiers (1 or all); every entry of open slots is written.
    /// `stride` must be at least slot_bound(). Answers the blocks looked at until nobody was left.
    std::uint32_t match_dense(std::uint16_t name_space, std::span<const local_hash> locals, std::uint32_t tiers,
                              std::uint32_t* depth, std::uint32_t stride) const;

    /// match_dense() for several prompts, whose cache misses overlap: query i's row of tier t begins at
    /// depth + (i * tiers + t) * stride. `how`: one for each query, or empty. Depths of one answer are as those
    /// of a single look-up.
    void match_batch(std::span<const query> queries, std::uint32_t tiers, std::uint32_t* depth,
                     std::uint32_t stride, std::span<looked> how) const;

    /// For each query the `k` open slots that cost least (base/cost.hpp), ascending, equal costs by slot: into
    /// out[i * k ...], and how many into found[i]. Slots that hold nothing take part; those whose `base` is
    /// +inf do not. `prefill` and `base`: one usable number a slot, up to at least slot_bound(); `terms`:
    /// usable, one for each query. Queries do not see each other's choice.
    void best(std::span<const query> queries, std::span<const cost_terms> terms,
              std::span<const double> prefill, std::span<const double> base, std::uint32_t k, choice* out,
              best_found* found) const;

    /// match() from tokens; hashes little more than what is held. `tokens` holds blocks * block_size ids.
    match_result match_tokens(std::uint16_t name_space, const std::uint32_t* tokens, std::uint32_t blocks,
                              std::uint32_t block_size, std::uint64_t seed, std::span<hit> out) const;

    /// The same; hashes all blocks, and chains their hashes into `sequence`, one for each block, when it fits.
    match_result match_tokens(std::uint16_t name_space, const std::uint32_t* tokens, std::uint32_t block_size,
                              std::uint64_t seed, std::span<hit> out, std::span<std::uint64_t> sequence) const;

    /// Slots that were ever open have numbers below this, a multiple of 64.
    std::uint32_t slot_bound() const;

    /// Writes a snapshot of all that is held to `path`: beside it first (`path`.part), under its name when it
    /// is on disk. Look-ups are not disturbed; writers wait for slices of about 200 us (report.longest_hold).
    /// Changes during the save are in it or not, block by block: after load(), apply the events from `marks`
    /// on, which were taken before the call. Slots that are opened or closed meanwhile are not in it, waiting
    /// events (orphans) never. Labels of slots that are not open are ignored. At most 65,536 marks. O(index),
    /// about 20 ns a block; memory that becomes free meanwhile is used again only afterwards. `between` is for
    /// tests: called after each slice, which then is one run.
    snapshot_report save(const std::string& path, std::span<const watermark> marks,
                         std::span<const slot_label> labels, const std::function<void()>& between = {}) const;

    /// Takes up a snapshot, in an index that never had a slot; slots get their old handles. Anything but ok, or
    /// std::bad_alloc: the index is as it was. What events change that were applied during the save comes right
    /// when they are applied again, in order. O(file); needs memory for the file beside the index.
    snapshot_report load(const std::string& path, const load_room& room = {});

    /// out[number] for every slot number below slot_bound(), which is answered: the blocks that the slot holds
    /// in each tier, those of a closed slot are 0. Nothing is written when there is less room than that. Each
    /// number was right at some instant inside the call; beside a writer two of them may be of two instants.
    std::uint32_t slot_blocks(std::span<tier_blocks> out) const;

    statistics stats() const;

    /// stats() by part, for measurements. O(runs + names); the writer waits that long.
    memory_parts memory() const;

    /// For tests: the first invariant that does not hold, or empty.
    std::string first_broken_invariant() const;

private:
    class saver;
    struct state;
    std::optional<slot_id> open(std::uint32_t domain, std::uint16_t name_space, bool approximate);
    std::unique_ptr<state> m_state;
};

} // namespace kvindex
