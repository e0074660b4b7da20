/// The op-log and its answers as they lie in files; README.md explains them. Little-endian, 8-byte units.
#pragma once

#include <bit>
#include <cstdint>

namespace kvindex::replay {

static_assert(std::endian::native == std::endian::little, "files are read as they lie");

inline constexpr std::uint64_t oplog_magic = 0x31474F4C5849564B;   ///< "KVIXLOG1"
inline constexpr std::uint64_t answers_magic = 0x31534E415849564B; ///< "KVIXANS1"
inline constexpr std::uint32_t oplog_version = 1;

enum class op_kind : std::uint32_t { query = 0, store = 1, remove = 2, clear = 3 };

/// Starts an op-log. The sums are those of all records behind it.
struct oplog_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t workers;      ///< workers are 0..workers-1
    std::uint32_t block_tokens; ///< tokens per block, for information
    std::uint32_t flags;        ///< 0
    std::uint64_t records;
    std::uint64_t queries;
    std::uint64_t stores;
    std::uint64_t removes;
    std::uint64_t query_blocks;
    std::uint64_t stored_blocks;
    std::uint64_t removed_blocks;
    std::uint64_t resident; ///< (block, worker) pairs held after the last record
    std::uint64_t reserved;
};
static_assert(sizeof(oplog_header) == 96);

/// One operation; payload_words() u64 follow.
struct oplog_record {
    op_kind kind;
    std::uint32_t worker;     ///< 0 in a query
    std::uint32_t blocks;     ///< 0 in a clear
    std::uint32_t has_parent; ///< 1: a store goes on behind `parent`; 0: it starts at the root
    std::uint64_t event_id;   ///< for information
    std::uint64_t parent;     ///< engine hash
};
static_assert(sizeof(oplog_record) == 32);

/// store: engine hashes, then local hashes; query: local hashes; remove: engine hashes.
constexpr std::uint64_t payload_words(const oplog_record& r) {
    switch (r.kind) {
    case op_kind::store:
        return std::uint64_t{2} * r.blocks;
    case op_kind::clear:
        return 0;
    default:
        return r.blocks;
    }
}

/// Starts an answers file.
struct answers_header {
    std::uint64_t magic;
    std::uint64_t answers;
    std::uint64_t pairs;    ///< of all answers together
    std::uint64_t checksum; ///< sum of pair_checksum() over all pairs, modulo 2^64
};
static_assert(sizeof(answers_header) == 32);

/// The right answer of one query; `pairs` times depth_pair follow.
struct answer_record {
    std::uint64_t query;  ///< number among the queries, from 0
    std::uint64_t record; ///< number of the same query among all records, from 0
    std::uint32_t best;   ///< greatest depth, 0 when nobody holds the first block
    std::uint32_t pairs;
};
static_assert(sizeof(answer_record) == 24);

/// The first `depth` blocks of the query are held by `worker`, the next one is not.
struct depth_pair {
    std::uint32_t worker;
    std::uint32_t depth; ///< blocks, at least 1
};
static_assert(sizeof(depth_pair) == 8);

constexpr std::uint64_t scramble(std::uint64_t x) {
    constexpr std::uint64_t factor = 0xD6E8FEB86659FD93;
    x = (x ^ (x >> 32)) * factor;
    x = (x ^ (x >> 32)) * factor;
    return x ^ (x >> 32);
}

/// What a pair adds to the checksum of an answers file.
constexpr std::uint64_t pair_checksum(std::uint64_t query, depth_pair p) {
    return scramble((std::uint64_t{p.worker} << 32 | p.depth) + scramble(query));
}

} // namespace kvindex::replay
