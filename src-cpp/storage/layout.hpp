/// What lies in memory: runs, their names, and who holds them.
///
/// A run is a stretch of consecutive blocks, stored once for all who hold any of them. A run never splits: it
/// grows and shrinks at its end only, so (run, offset) names a block for as long as it lives. Prompts that
/// part inside a run go on in child runs, found by (run, offset of the last common block, next local hash).
///
/// Readers see run_head, the content array that it points to, and the holders. Everything they read is
/// atomic, and nothing they can still reach is ever changed under them but by single stores of one word:
/// content is immutable below `len`; a longer content array, a bigger table of holders are made beside the old
/// ones and published by one release store; what is replaced is reused only after a grace period (epoch.hpp).
#pragma once

#include "base/types.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace kvindex::storage {

/// Longest run. A longer prompt is a chain of runs.
inline constexpr std::uint32_t max_run = 8191;

/// Slots of one index core. More workers are spread over several cores.
inline constexpr std::uint32_t core_slots = 1024;
inline constexpr std::uint32_t slot_words = core_slots / 64;

/// Parent of the first run of every prompt; its "offset" is the name space.
inline constexpr std::uint32_t root_run = 0xffffffffu;

/// One block of the tree.
struct place {
    std::uint32_t run = root_run;
    std::uint32_t offset = 0;

    bool operator==(const place&) const = default;
};

/// One holder of a run as one word, so that it changes in one store: used | complex | slot:10 | four ends:13.
/// ends[t] = blocks from the run's start that the slot holds, without a gap, in tier t or a faster one.
/// complex: there is more to know than the ends tell (holes, lower tiers); the writer keeps it in `extra`.
class holder {
public:
    static constexpr std::uint64_t none = 0;

    static std::uint64_t pack(std::uint32_t slot, const std::array<std::uint32_t, tier_count>& ends,
                              bool complex) {
        std::uint64_t word = std::uint64_t{1} << 63 | std::uint64_t{complex} << 62 | std::uint64_t{slot} << 52;
        for (std::uint32_t t = 0; t < tier_count; t++) {
            word |= std::uint64_t{ends[t]} << (13 * t);
        }
        return word;
    }

    /// Holds [0, end) in GPU memory and nothing else.
    static std::uint64_t pack(std::uint32_t slot, std::uint32_t end) {
        return std::uint64_t{1} << 63 | std::uint64_t{slot} << 52 | end * 0x8004002001u;
    }

    static bool complex(std::uint64_t word) {
        return (word >> 62 & 1) != 0;
    }

    static std::uint32_t slot(std::uint64_t word) {
        return static_cast<std::uint32_t>(word >> 52 & 0x3ff);
    }

    static std::uint32_t end(std::uint64_t word, std::uint32_t t) {
        return static_cast<std::uint32_t>(word >> (13 * t) & 0x1fff);
    }

    static bool uniform(std::uint64_t word) {
        return (word & 0xfffffffffffffu) == end(word, 0) * 0x8004002001u;
    }
};

static_assert(0x8004002001u == (1ull | 1ull << 13 | 1ull << 26 | 1ull << 39));
static_assert(max_run < 1u << 13 && core_slots <= 1u << 10 && tier_count == 4);

inline constexpr std::uint32_t inline_holders = 4;

/// What a look-up reads of a run: one cache line.
///
/// `len` is stored release after the content it covers and after `content`; readers load it acquire before
/// both. `cover` is stored release after what it points to; readers load it acquire.
struct alignas(64) run_head {
    std::atomic<std::uint64_t> first;     ///< local hash of the first block
    std::atomic<std::uint32_t> parent;    ///< run, or root_run
    std::atomic<std::uint16_t> parent_at; ///< offset there, or the name space
    std::atomic<std::uint16_t> len;       ///< blocks
    std::atomic<std::uint32_t> content;   ///< granule of the local hashes
    std::atomic<std::uint32_t> cover;     ///< granule of a holder_table, 0 = the words below
    std::atomic<std::uint32_t> next;      ///< writer: queue of dead ends, or free list
    std::uint32_t cold;                   ///< writer: capacity of the content array, blocks
    std::array<std::atomic<std::uint64_t>, inline_holders> holders;
};
static_assert(sizeof(run_head) == 64);

/// The writer's part of a run.
struct alignas(64) run_cold {
    std::uint32_t names;      ///< granule of the ids of name lines, one u32 per names_per_line blocks
    std::uint32_t name_lines; ///< room there
    std::uint32_t first_child;
    std::uint32_t next_sibling;
    std::uint32_t previous_sibling;
    std::uint32_t children;
    std::uint32_t child_end;     ///< one past the last block that a child hangs at
    std::uint32_t last_children; ///< how many hang there
    std::uint32_t held_end;      ///< no slot holds a block at or behind this offset; exact
    std::uint32_t dead;          ///< blocks at the end that are counted as kept for nobody
    std::uint32_t extra;         ///< run_extra, 0 = none
    std::uint64_t cut_at;        ///< epoch in which the run was last shortened, 0 = never
    std::uint32_t holder_count;
    std::uint16_t domain; ///< of the names in `names`
    bool queued;          ///< in the queue of dead ends
    bool live;
};
static_assert(sizeof(run_cold) == 64);

/// Names of consecutive blocks, with where they are: one cache line, so that a name found in the map is
/// checked and placed by one miss. names[] hold engine hash ^ salt of their domain; 0 = no name.
inline constexpr std::uint32_t names_per_line = 7;

struct alignas(64) name_line {
    std::uint32_t run;
    std::uint16_t step;  ///< first block / names_per_line
    std::uint16_t plane; ///< 0: the run's own domain; else run_extra::planes[plane - 1]
    std::array<std::uint64_t, names_per_line> names;
};
static_assert(sizeof(name_line) == 64);

/// The holders of a run that has many: bit sets of the slots that hold exactly [0, cut) in GPU memory, for a
/// few cuts, then words like the inline ones. A slot may have a bit and a word: the larger end counts.
///
/// Writer's order, which readers rely on (they read the bits, then the words, all acquire): before a bit goes,
/// the slot's word says what it holds from now on.
struct holder_table {
    static constexpr std::uint32_t max_levels = 3;
    static constexpr std::uint32_t head_words = 2;

    std::uint64_t shape;               ///< words:8 | levels:8 | capacity:16 | granules:32; immutable
    std::atomic<std::uint64_t> counts; ///< used:16 | cut 0:16 | cut 1:16 | cut 2:16; cuts immutable, ascending

    std::uint32_t words() const {
        return static_cast<std::uint32_t>(shape & 0xff);
    }

    std::uint32_t levels() const {
        return static_cast<std::uint32_t>(shape >> 8 & 0xff);
    }

    std::uint32_t capacity() const {
        return static_cast<std::uint32_t>(shape >> 16 & 0xffff);
    }

    std::uint32_t granules() const {
        return static_cast<std::uint32_t>(shape >> 32);
    }

    static std::uint32_t used(std::uint64_t counts) {
        return static_cast<std::uint32_t>(counts & 0xffff);
    }

    static std::uint32_t cut(std::uint64_t counts, std::uint32_t level) {
        return static_cast<std::uint32_t>(counts >> (16 * (level + 1)) & 0xffff);
    }

    std::atomic<std::uint64_t>* bits(std::uint32_t level) {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(this) + head_words + level * words();
    }

    const std::atomic<std::uint64_t>* bits(std::uint32_t level) const {
        return reinterpret_cast<const std::atomic<std::uint64_t>*>(this) + head_words + level * words();
    }

    std::atomic<std::uint64_t>* holders() {
        return bits(levels());
    }

    const std::atomic<std::uint64_t>* holders() const {
        return bits(levels());
    }
};
static_assert(sizeof(holder_table) == 8 * holder_table::head_words);

} // namespace kvindex::storage
