/// The snapshot file. Little-endian; everything lies on 8 bytes; a word is 8 bytes.
///
///   file     = file_head, section...            nothing between them, nothing behind the last one
///   section  = section_head, payload            payload: a multiple of 8 bytes
///   sections = watermarks, runs..., slots, end  numbered 0, 1, 2, ...; each kind but `runs` exactly once
///
///   watermarks  (source:64, sequence:64)...     the caller's, opaque
///   runs        run records, ascending by number within a part; a part is an index core, parts ascend
///   slots       slot_record...                  the i-th is of slot number i, open or not
///   end         end_record
///
/// A run record, from the low bits of each word upwards:
///   run:32, words:32                            words of the whole record
///   parent:32, parent_at:16, len:16             parent 0xffffffff: the root, parent_at is the name space
///   planes:16, holders:16, spares:32
///   local hash                                  len words
///   planes times: domain, then one name a block   the name ^ salt of its domain, as name lines have it; 0 =
///   none holders times: slot:16, stretches:16, end:32  stretches 0: holds [0, end) in GPU memory and nothing
///   else;
///     stretches times: begin:16, end:16, tiers:32   ascending, disjoint, equal neighbours joined
///   spares times: slot:16, offset:16, tiers:32; then the engine's name
/// Slots are numbers within the part. The first plane is the run's own domain, below 65,536; a plane of domain
/// 65,536 + slot holds names of that slot alone. len is at most 8,191; the stretches of a holder and its end
/// are within it; tiers is a bit set, bit 0 = GPU.
///
/// What was saved while the index changed is a record of slices in time: runs of lower numbers are older. It
/// may speak of a parent that is not there, of one child twice, of one name twice. `quiet` says that nothing
/// changed, so that a file must not. Waiting stored events (orphans) are not saved.
#pragma once

#include <array>
#include <cstdint>

namespace kvindex::snapshot {

inline constexpr std::array<char, 8> magic{'K', 'V', 'I', 'S', 'N', 'A', 'P', '1'};
inline constexpr std::uint32_t version = 1;

struct file_head {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t zero;
};
static_assert(sizeof(file_head) == 16);

enum class section_kind : std::uint32_t { watermarks = 1, runs = 2, slots = 3, end = 4 };

struct section_head {
    std::uint32_t kind;
    std::uint32_t number;
    std::uint32_t part; ///< index core, of runs; else 0
    std::uint32_t zero;
    std::uint64_t bytes;    ///< of the payload
    std::uint64_t checksum; ///< XXH3-64 of the payload, seeded with the XXH3-64 of the fields above
};
static_assert(sizeof(section_head) == 32);

struct slot_record {
    std::uint32_t slot; ///< number | incarnation << 14; not open: the incarnation that comes next
    std::uint32_t domain;
    std::uint16_t name_space;
    std::uint16_t open; ///< 0 or 1; the rest is 0 when it is 0
    std::uint32_t rank;
    std::uint64_t worker;
};
static_assert(sizeof(slot_record) == 24);

struct end_record {
    std::uint64_t bytes; ///< of the file, before this section
    std::uint64_t runs;
    std::uint64_t quiet; ///< 1: nothing changed from the beginning of the dump to its end; else 0
};
static_assert(sizeof(end_record) == 24);

inline constexpr std::uint32_t run_head_words = 3;
inline constexpr std::uint32_t spare_words = 2;
inline constexpr std::uint32_t most_watermarks = 1u << 16;

} // namespace kvindex::snapshot
