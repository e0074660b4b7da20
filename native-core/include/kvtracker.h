/*
 * kvtracker: the block cache tracker, C ABI. Which back end is taken to hold which blocks, from the prompts
 * that were sent there; for engines whose events are not followed. Part of libkvindex.so; KVI_ABI_VERSION
 * covers it.
 *
 * Conventions: as in kvindex.h, its status values too. Rules and weaknesses:
 * src/docs/explanation/block-tracker.md. Threads: every function from any thread at any time between open and
 * close, serialised inside as far as needed; kvt_close must not run beside another call on the same handle. A
 * back end is named like a slot of the index: its number in the low 14 bits (KVI_SLOT_NUMBER), above it which
 * incarnation of it.
 *
 * Hashing
 *   position   hash[i] = xxh3_64(le64(i) || block i's token ids as u32 LE, seed)
 *   chained    hash[i] = xxh3_64(le64(hash[i-1], 0 for i = 0) || the same, seed)
 *   `seed`: 0, or that of kvi_seed for an adapter or a salt.
 */
#ifndef WARMPATH_KVTRACKER_H
#define WARMPATH_KVTRACKER_H

#include "kvindex.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KVT_POSITION 0u
#define KVT_CHAINED 1u

typedef struct kvt_tracker kvt_tracker;

typedef struct kvt_config {
    uint32_t size;       /* sizeof(kvt_config) of the caller */
    uint32_t block_size; /* tokens, 1..KVI_MAX_BLOCK_SIZE */
    uint32_t hashing;    /* KVT_POSITION or KVT_CHAINED */
    uint32_t reserved;   /* 0 */
    uint64_t max_blocks; /* of one back end, 1..2^30, see kvt_evict_all; 0: 100,000 */
} kvt_config;

/* How far the blocks of one back end reach. */
typedef struct kvt_hit {
    uint32_t backend; /* number: backend & KVI_SLOT_NUMBER */
    uint32_t blocks;  /* at least 1 */
} kvt_hit;

typedef struct kvt_statistics {
    uint64_t backends;
    uint64_t blocks;  /* (back end, block) pairs */
    uint64_t bytes;   /* memory of the tables */
    uint64_t evicted; /* pairs, since the beginning */
} kvt_statistics;

/* Creates an empty tracker. */
int32_t kvt_open(const kvt_config* config, kvt_tracker** out_tracker);

/* Frees it. NULL is allowed. */
int32_t kvt_close(kvt_tracker* tracker);

/* The back end is there, without blocks. Another incarnation of its number is gone with that. Joining twice
 * changes nothing. O(1). */
int32_t kvt_join(kvt_tracker* tracker, uint32_t backend);

/* Forgets the back end and its blocks. KVI_E_SLOT when this incarnation is not there. */
int32_t kvt_leave(kvt_tracker* tracker, uint32_t backend);

/* For each back end that holds block 0, how far its blocks reach by binary search, ascending by number. The
 * blocks of the longest (the lowest number's, of equals) then count as used. Only complete blocks are looked
 * up. KVI_E_CAPACITY when there are more than `hit_capacity` hits; nothing is used then. O(tokens + back ends +
 * candidates * log blocks). */
int32_t kvt_find(kvt_tracker* tracker, const uint32_t* tokens, uint32_t token_count, uint64_t seed,
                 kvt_hit* out_hits, uint32_t hit_capacity, uint32_t* out_hit_count);

/* The prompt goes to this back end, which from now on holds its complete blocks. `out_new_blocks`: those that
 * it did not hold. Beyond twice max_blocks the least recently used blocks go at once. KVI_E_SLOT when the back
 * end is not there. On KVI_E_MEMORY nothing is recorded. O(tokens). */
int32_t kvt_record(kvt_tracker* tracker, uint32_t backend, const uint32_t* tokens, uint32_t token_count,
                   uint64_t seed, uint64_t* out_new_blocks);

/* Drops the least recently used blocks of one back end, the deepest of equals first, until `most` are left.
 * O(what is dropped); other calls come in between. KVI_E_SLOT when the back end is not there. */
int32_t kvt_evict(kvt_tracker* tracker, uint32_t backend, uint64_t most, uint64_t* out_evicted);

/* The same for every back end, down to max_blocks; to be called now and then. */
int32_t kvt_evict_all(kvt_tracker* tracker, uint64_t* out_evicted);

/* O(back ends). */
int32_t kvt_stats(const kvt_tracker* tracker, kvt_statistics* out);

#ifdef __cplusplus
} /* extern "C" */

static_assert(sizeof(kvt_config) == 24 && offsetof(kvt_config, max_blocks) == 16, "kvt_config layout");
static_assert(sizeof(kvt_hit) == 8, "kvt_hit layout");
static_assert(sizeof(kvt_statistics) == 32, "kvt_statistics layout");
#endif

#endif
