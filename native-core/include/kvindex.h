/*
 * kvindex: the tiered KV prefix index, C ABI.
 *
 * Conventions
 *  1. Handles are opaque pointers; NULL is refused with KVI_E_ARGUMENT, never dereferenced.
 *  2. Every function returns int32_t: KVI_OK (0) or a negative kvi_status. Results go through out
 *     parameters and are written only on success; the message of kvi_snapshot_* only on failure.
 *  3. No exception crosses. Allocation failure is KVI_E_MEMORY, anything unforeseen KVI_E_INTERNAL.
 *  4. Only fixed-width integers and pointer + count. Little-endian, natural alignment (8 for records).
 *  5. The caller owns every buffer; nothing is kept after the call returns; no callback.
 *  6. Any byte may be wrong: sizes, offsets, kinds, tiers and slots are checked before use.
 *     A malformed event is skipped and counted, its neighbours are applied.
 *  7. Threads: kvi_match*, kvi_best, kvi_slot_bound, kvi_slot_blocks, kvi_hash*, kvi_seed, kvi_page_digests,
 * kvi_abi_version from any thread at any time between open and close; they never wait for a writer, and no
 * writer waits for them. kvi_slot_*, kvi_apply, kvi_decide, kvi_expire, kvi_stats from any thread, serialised
 * inside. kvi_close must not run beside another call on the same handle, nor kvi_snapshot_load.
 * kvi_snapshot_save from any thread, one at a time inside; everything else goes on meanwhile.
 *  8. KVI_ABI_VERSION changes with any change here, in kvtracker.h or kvtokens.h; the loader compares it.
 *  9. Costs are per call, with n = blocks; measured figures live in src-cpp/bench/RESULTS.md.
 *
 * Hashing (source: Dynamo's rule, src/docs/explanation/hashing.md)
 *   seed   = 1337 + xxh3_64(lora, 0) [if not empty] + xxh3_64(salt, 1) [if not empty]
 *   local  = xxh3_64(block's token ids as u32 LE, seed)
 *   seq[0] = local[0];  seq[i] = xxh3_64(le64(seq[i-1]) || le64(local[i]), 1337)
 */
#ifndef WARMPATH_KVINDEX_H
#define WARMPATH_KVINDEX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVI_ABI_VERSION 8u

/* Tiers, fastest first. Depths in kvi_hit are cumulative over tiers 0..i. */
#define KVI_TIER_GPU 0u
#define KVI_TIER_HOST 1u
#define KVI_TIER_DISK 2u
#define KVI_TIER_EXTERNAL 3u
#define KVI_TIERS 4u

#define KVI_ALL_TIERS 255u      /* CLEARED: every tier */
#define KVI_MAX_SLOTS 16384u    /* open slots of one index; look-ups work on 1,024 of them at a time */
#define KVI_SLOT_NUMBER 0x3fffu /* the number in a slot; above it, how often that number was used before */
#define KVI_MAX_DOMAINS 65536u  /* sets of slots that share engine hashes */
#define KVI_MAX_NAME_SPACES 65536u
#define KVI_MAX_BLOCK_SIZE 65536u /* tokens per block */
#define KVI_MAX_BLOCKS 16777216u  /* blocks of one event or query */
#define KVI_MAX_QUERIES 1024u     /* of one kvi_match_batch or kvi_best */
#define KVI_MAX_WATERMARKS 65536u /* of one snapshot */
#define KVI_PAGE_DIGEST 32u       /* bytes of one */
#define KVI_BIGRAMS 1u            /* kvi_page_digests */

typedef enum kvi_status {
    KVI_OK = 0,
    KVI_E_ARGUMENT = -1, /* NULL, zero, out of range, misaligned */
    KVI_E_MEMORY = -2,   /* out of memory; the index is usable, and unchanged but by kvi_apply (see there) */
    KVI_E_FULL = -3,     /* no free slot */
    KVI_E_SLOT = -4,     /* slot is not open */
    KVI_E_CAPACITY = -5, /* the caller's out buffer is too small; nothing was written */
    KVI_E_INTERNAL = -6,
    KVI_E_DAMAGED = -7, /* a snapshot that is refused: not ours, another version, cut or changed */
    KVI_E_IO = -8       /* the operating system refused to read or write a file */
} kvi_status;

typedef struct kvi_index kvi_index;

/* How to open an index. `size` = sizeof(kvi_config) of the caller; every other 0 means the default.
 * ghost_percent: blocks that nobody holds stay known until they are this part of all blocks, oldest first to
 * go, so that an engine that computes them again costs a tenth. 101 = none. */
typedef struct kvi_config {
    uint32_t size;
    uint32_t ghost_percent; /* 1..101; default 15 */
    uint64_t orphan_limit;  /* most (slot, block) pairs kept for want of a parent, per 1,024 slots; 2^20 */
    uint64_t max_blocks;    /* distinct blocks per 1,024 slots; reserves addresses, not memory; 2^30 */
    /* Most bytes in use per 1,024 slots, 0 = no limit; looked at every 64 events. Above it gives way, in this
     * order: blocks that nobody holds, events that wait for a parent, stored blocks that are new to the index
     * (refused and counted, until something leaves). What is held is never forgotten. */
    uint64_t byte_budget;
    /* Approximate slots, see kvi_decide. */
    uint64_t decision_ttl;      /* milliseconds for which a decision counts; 120000 */
    uint64_t decision_capacity; /* most (slot, block) pairs held by decisions, per 1,024 slots; 2^24 */
    /* Most work of one look-up per 1,024 slots, in steps of about one cache line each: 8 for each run of blocks
     * on the way, 1 for 8 blocks compared, 1 for 8 words about who holds a run. A look-up that has used it up
     * stops before the next run: every depth is held, and may be too small. Only prompts made to be slow meet
     * the default, 65,536 (a few milliseconds at worst); one of a million tokens takes a quarter of it. */
    uint32_t query_budget;
    uint32_t reserved; /* 0 */
} kvi_config;

/* Events come as records one after the other, each 8-aligned, `size` bytes long including this head.
 *
 * kind             payload after the head
 * STORED_TOKENS    n u64 engine hashes, then n * block_size u32 token ids, padded to 8
 * STORED_LOCALS    n u64 engine hashes, then n u64 local hashes
 * REMOVED          n u64 engine hashes
 * CLEARED          nothing, n = 0: every block of the tier, or of all, is gone
 */
#define KVI_STORED_TOKENS 1u
#define KVI_STORED_LOCALS 2u
#define KVI_REMOVED 3u
#define KVI_CLEARED 4u

#define KVI_HAS_PARENT 1u /* flags: `parent` names the block before the first one; else root */

typedef struct kvi_event {
    uint32_t size; /* bytes of the record, head included, multiple of 8 */
    uint8_t kind;
    uint8_t tier; /* CLEARED: or KVI_ALL_TIERS */
    uint16_t flags;
    uint32_t slot;       /* as kvi_slot_open gave it: an event of an older incarnation is ignored */
    uint32_t n;          /* blocks, 1..KVI_MAX_BLOCKS */
    uint32_t block_size; /* STORED_TOKENS: tokens per block; else 0 */
    uint32_t reserved;   /* 0 */
    uint64_t parent;     /* engine hash */
    uint64_t seed;       /* STORED_TOKENS: hash seed, see kvi_seed */
} kvi_event;

/* What became of a buffer of events. */
typedef struct kvi_applied {
    uint64_t applied;         /* events that changed or confirmed the index */
    uint64_t orphans;         /* stored events kept aside for want of their parent */
    uint64_t unknown_removed; /* hashes to remove that were not there in that tier */
    uint64_t ignored;         /* events of a slot that is not open; STORED and REMOVED of an approximate one */
    uint64_t malformed;       /* records skipped; a wrong `size` ends the buffer */
} kvi_applied;

/* Cumulative contiguous depths of one slot, in blocks. depth[KVI_TIERS-1] > 0 in every hit. */
typedef struct kvi_hit {
    uint32_t slot; /* number: slot & KVI_SLOT_NUMBER */
    uint32_t depth[KVI_TIERS];
} kvi_hit;

/* Blocks of one slot, by tier number: a block that lies in two tiers counts in both. */
typedef struct kvi_tier_blocks {
    uint64_t blocks[KVI_TIERS];
} kvi_tier_blocks;

typedef struct kvi_statistics {
    uint64_t slots;
    uint64_t blocks;      /* distinct blocks known, ghosts included */
    uint64_t residencies; /* (slot, block) pairs, counted once however many tiers */
    uint64_t runs;
    uint64_t orphans; /* (slot, block) pairs waiting for a parent */
    uint64_t bytes;   /* memory of the tables */
    uint64_t ghosts;  /* blocks known though nobody holds them or what follows */
    /* Since the beginning: */
    uint64_t moves;     /* hashes stored again for another block; the old one is given up */
    uint64_t conflicts; /* hashes that a slot needs for itself, because the domain's mean another block */
    uint64_t orphans_given_up; /* blocks dropped at orphan_limit or byte_budget */
    uint64_t refused;          /* blocks refused at byte_budget, or of a decision above decision_capacity */
    uint64_t bytes_in_use;     /* of `bytes`, what holds something now */
    uint64_t decisions;        /* alive now: not ended, and no later one of the slot goes as far */
    uint64_t decisions_ended_by_time;     /* since the beginning */
    uint64_t decisions_ended_by_capacity; /* since the beginning */
} kvi_statistics;

/* How far a source of events had been applied when a snapshot began; both numbers are the caller's. */
typedef struct kvi_watermark {
    uint64_t source;
    uint64_t sequence;
} kvi_watermark;

/* A slot in a snapshot. Saving: `slot`, `rank` and `worker` count; the rest is the index's own. */
typedef struct kvi_snapshot_slot {
    uint32_t slot; /* as kvi_slot_open gave it; the same after loading */
    uint32_t domain;
    uint32_t name_space;
    uint32_t rank;   /* the caller's; 0 when it was saved without */
    uint64_t worker; /* the same */
} kvi_snapshot_slot;

typedef struct kvi_snapshot_info {
    uint64_t bytes; /* of the file */
    uint64_t runs;
    uint64_t dropped_runs;  /* load: came or went while it was saved, so they are not in the index */
    uint64_t dropped_names; /* load: moved while it was saved, so only the later place counts */
    uint64_t longest_hold;  /* save: nanoseconds that a writer may have had to wait, at most */
    uint32_t watermarks;    /* load: written to out_watermarks */
    uint32_t slots;         /* load: written to out_slots */
} kvi_snapshot_info;

/* One look-up of several: `count` local hashes from `offset` on in the caller's array. */
typedef struct kvi_query {
    uint64_t offset;
    uint32_t count; /* 0..KVI_MAX_BLOCKS */
    uint32_t name_space;
    uint32_t budget;   /* steps, as kvi_config.query_budget; 0 = the index's */
    uint32_t reserved; /* 0 */
} kvi_query;

/* How a look-up went. */
typedef struct kvi_looked {
    uint32_t cut_short; /* 1: the budget was used up; every depth is held, and may be too small */
    uint32_t steps;     /* spent */
} kvi_looked;

/* What sending a prompt to a slot costs; lower is better.
 *
 *   d[t]   = min(depth[t], most_cached)
 *   cached = credit[0] * d[0] + credit[1] * (d[1] - d[0]) + credit[2] * (d[2] - d[1])
 *            + credit[3] * (d[3] - d[2]) + pool_credit * max(0, min(pool, most_cached) - d[0])
 *   cost   = weight * (max(0, prefill[slot] + prompt - cached * block) / unit) + (base[slot] + added)
 *
 * In double, each operation rounded by itself, in this order from the left. When credit[2] == credit[3] they
 * are one term, credit[2] * (d[3] - d[1]). Source: src/docs/explanation/routing.md, which has it from Dynamo's
 * cost, overlap weight * prefill blocks + decode blocks. The gateway's own numbers, to the last bit, come from:
 * credit 1, host weight, disk weight, disk weight; block = the tokens of a block; unit = those of the smallest
 * block of the fleet; prompt = the prompt's tokens; prefill = booked tokens; base + added = decode blocks *
 * block / unit; weight = overlap weight; most_cached = (prompt tokens - 1) / block tokens.
 *
 * Numbers are at most 1e30 in size and not NaN; all but `added` at least 0; unit at least 1e-30. */
typedef struct kvi_cost {
    double credit[KVI_TIERS]; /* what a block in this tier, and none faster, is worth of a computed one */
    double pool_credit;       /* the same for a block of the shared pool behind those on the device */
    double prompt;            /* prefill work of the whole prompt, in any unit */
    double block;             /* that of one block */
    double unit;
    double weight;
    double added;
    uint32_t most_cached; /* blocks */
    uint32_t pool;        /* blocks from the start of the prompt that the shared pool has */
} kvi_cost;

typedef struct kvi_choice {
    double cost;
    uint32_t slot; /* number: slot & KVI_SLOT_NUMBER */
    uint32_t depth[KVI_TIERS];
    uint32_t reserved; /* 0 */
} kvi_choice;

/* How kvi_best went for one query. */
typedef struct kvi_best_found {
    uint32_t count; /* choices written */
    uint32_t ties;  /* slots that share the least cost, whether written or not: who draws lots needs it */
    kvi_looked how;
} kvi_best_found;

/* KVI_ABI_VERSION of the library. O(1). On any CPU. */
int32_t kvi_abi_version(uint32_t* out_version);

/* Names of what the library needs of the CPU and this one lacks, such as "SSE4.2, POPCNT", cut to fit, ending
 * with 0; empty: it has all. On any CPU, while every function but this and kvi_abi_version may stop the process
 * where something is lacking: the loader asks first. On x86-64 the library needs x86-64-v2. O(1). */
int32_t kvi_cpu_lacks(char* out_names, uint32_t capacity);

/* Static text for a status; never NULL. O(1). */
const char* kvi_status_text(int32_t status);

/* Creates an empty index. `config` NULL = defaults. */
int32_t kvi_open(const kvi_config* config, kvi_index** out_index);

/* Frees it. NULL is allowed. */
int32_t kvi_close(kvi_index* index);

/* A new, empty slot for one incarnation of one (worker, rank); lowest free number.
 *
 * `domain`: slots whose engines give the same block the same hash should share one; it only costs memory and
 * time when they do not (counted as conflicts), never exactness. Hashes of different content that are equal by
 * chance (64 bits; 10^8 blocks in one domain: 3 in 10^4 that any two are) are kept apart where they meet.
 * `name_space`: slots of different ones never see each other's blocks (models). LoRA and salt: see kvi_seed.
 * O(1), but for the first slot of each 1,024. */
int32_t kvi_slot_open(kvi_index* index, uint32_t domain, uint32_t name_space, uint32_t* out_slot);

/* Forgets the slot's blocks: look-ups at once, the tables in O(runs it holds). The number may be given out
 * again afterwards, as another incarnation. KVI_E_SLOT when this incarnation is not open. */
int32_t kvi_slot_close(kvi_index* index, uint32_t slot);

/* Applies packed events in order. O(blocks). `buffer` 8-aligned. Look-ups may see the state between two events.
 * On KVI_E_MEMORY the start of the buffer is applied and the rest is not; the same buffer, applied again,
 * completes it, as long as no hash in it means two blocks. */
int32_t kvi_apply(kvi_index* index, const void* buffer, uint64_t length, kvi_applied* out);

/* As kvi_slot_open, for a worker without events: an approximate slot, which holds what kvi_decide says.
 * `domain`: the one that its events would have, so that content it shares with others lies there once. STORED
 * and REMOVED for it are ignored; CLEARED of GPU memory or of all tiers ends its decisions. A snapshot leaves
 * it out. */
int32_t kvi_slot_open_approximate(kvi_index* index, uint32_t domain, uint32_t name_space, uint32_t* out_slot);

/* A request with these blocks went to the approximate slot at `now_ms`: a clock of the caller's in milliseconds
 * that does not go back (a time before the latest one counts as the latest). From now on the slot holds the
 * blocks in GPU memory. A decision ends
 *   - decision_ttl later, at the first call of kvi_decide or kvi_expire that is told of that time,
 *   - when the slots hold more than decision_capacity pairs: the oldest first, as many as it takes,
 *   - when the slot is cleared or closed.
 * A block is held while one of its slot's decisions holds it. A decision takes the place of older ones of the
 * slot that end on its path: a repeated prompt, or a growing conversation, is one decision, alive as long as
 * its latest.
 *
 * `count` <= KVI_MAX_BLOCKS; `out_new_blocks`: those that the slot did not hold. Blocks that are new to the
 * index while it is over its byte budget, and those behind the first decision_capacity ones, are refused and
 * counted. Ends at most 16 decisions by time. O(count + runs on the way + what is ended, which was paid for
 * when it was laid); about 32..56 bytes a decision and run beside the content. KVI_E_SLOT when the slot is not
 * open or not approximate. On KVI_E_MEMORY the decision is as long as memory lasted, and may be made again. */
int32_t kvi_decide(kvi_index* index, uint32_t slot, const uint64_t* locals, uint32_t count, uint64_t now_ms,
                   uint64_t* out_new_blocks);

/* Ends every decision that is due at `now_ms`; `out_ended`: how many. Other calls come in between. O(what
 * ends); to be called now and then, as nothing here looks at a clock. */
int32_t kvi_expire(kvi_index* index, uint64_t now_ms, uint64_t* out_ended);

/* Hash seed of (lora, salt), UTF-8, NULL or length 0 = absent. */
int32_t kvi_seed(const uint8_t* lora, uint32_t lora_length, const uint8_t* salt, uint32_t salt_length,
                 uint64_t* out_seed);

/* Hashes the complete blocks of a prompt. `out_locals`, `out_sequence`: room for `capacity` values each, may be
 * NULL. KVI_E_CAPACITY when capacity < token_count / block_size and one of them is not NULL. */
int32_t kvi_hash(const uint32_t* tokens, uint32_t token_count, uint32_t block_size, uint64_t seed,
                 uint64_t* out_locals, uint64_t* out_sequence, uint32_t capacity, uint32_t* out_blocks);

/* SGLang's page digests (src/docs/reference/page-keys.md): digest[i] = sha256(digest[i-1] || ids of page i as
 * u32 LE), KVI_PAGE_DIGEST bytes each, for all complete pages. `flags`: 0 or KVI_BIGRAMS, where an element is a
 * token and the one behind it. `seed`: what the first page is chained to; `seed_length` 0 or KVI_PAGE_DIGEST.
 * KVI_E_CAPACITY when there are more than `capacity` pages. O(token_count), allocates nothing. */
int32_t kvi_page_digests(const uint32_t* tokens, uint32_t token_count, uint32_t page_size, uint32_t flags,
                         const uint8_t* seed, uint32_t seed_length, uint8_t* out_digests, uint32_t capacity,
                         uint32_t* out_pages);

/* Tokens in, depths out, ascending by slot number: one call per request. Only the complete blocks are looked
 * up. `out_sequence`: chained hash of EVERY complete block, room for `sequence_capacity`, or NULL (then hashing
 * stops with the match). KVI_E_CAPACITY when there are more than `hit_capacity` hits.
 * Every block below a depth was held at some instant inside the call. O(blocks held + slots that share them).
 */
int32_t kvi_match_tokens(const kvi_index* index, uint32_t name_space, const uint32_t* tokens,
                         uint32_t token_count, uint32_t block_size, uint64_t seed, uint64_t* out_sequence,
                         uint32_t sequence_capacity, kvi_hit* out_hits, uint32_t hit_capacity,
                         uint32_t* out_hit_count);

/* The same from local hashes. */
int32_t kvi_match_locals(const kvi_index* index, uint32_t name_space, const uint64_t* locals, uint32_t count,
                         kvi_hit* out_hits, uint32_t hit_capacity, uint32_t* out_hit_count);

/* The same as rows: out_depths[t * stride + number] for t < tiers (1: GPU only, or KVI_TIERS). `stride`: a
 * multiple of 64, at least kvi_slot_bound(), else KVI_E_CAPACITY. Every number below the bound is written, 0 =
 * no match. */
int32_t kvi_match_dense(const kvi_index* index, uint32_t name_space, const uint64_t* locals, uint32_t count,
                        uint32_t tiers, uint32_t* out_depths, uint32_t stride);

/* kvi_match_dense for several prompts in one call; their cache misses overlap. Query i's row of tier t begins
 * at out_depths + (i * tiers + t) * stride. `locals`: `local_count` hashes, of which every query names a
 * stretch; stretches may overlap. `out_looked`: one for each query, or NULL. At most KVI_MAX_QUERIES. Nothing
 * is written unless every query is right. O(sum of the single look-ups). */
int32_t kvi_match_batch(const kvi_index* index, const kvi_query* queries, uint32_t query_count,
                        const uint64_t* locals, uint64_t local_count, uint32_t tiers, uint32_t* out_depths,
                        uint32_t stride, kvi_looked* out_looked);

/* For each query the `k` open slots that cost least, ascending by cost, equal costs by slot: out_choices[i *
 * k], and how many in out_found[i]. Slots that hold nothing of the prompt take part. `costs`: one for each
 * query. `prefill` (finite) and `base` (finite, or +inf: this slot does not take part, as those of other name
 * spaces should not) hold `stride` numbers, by slot number; `stride`: a multiple of 64, at least
 * kvi_slot_bound(), else KVI_E_CAPACITY. k is 1..KVI_MAX_SLOTS. Queries of one call do not see each other's
 * choice. O(look-ups + query_count * slots). */
int32_t kvi_best(const kvi_index* index, const kvi_query* queries, uint32_t query_count, const uint64_t* locals,
                 uint64_t local_count, const kvi_cost* costs, const double* prefill, const double* base,
                 uint32_t stride, uint32_t k, kvi_choice* out_choices, kvi_best_found* out_found);

/* Open slots have numbers below this multiple of 64; it only grows, in kvi_slot_open. O(1). */
int32_t kvi_slot_bound(const kvi_index* index, uint32_t* out_bound);

/* How many blocks each slot holds in each tier: out_blocks[number] for every number below kvi_slot_bound(),
 * which goes to `out_count`; those that are not open hold 0. KVI_E_CAPACITY when `capacity` is below that
 * bound. Each number was right at some instant inside the call; while events are applied, two may be of two
 * instants. Those of an approximate slot say what its decisions hold. Allocates nothing. O(slots). */
int32_t kvi_slot_blocks(const kvi_index* index, kvi_tier_blocks* out_blocks, uint32_t capacity,
                        uint32_t* out_count);

/* Counts of the index. */
int32_t kvi_stats(const kvi_index* index, kvi_statistics* out);

/* Writes all that is held to the file `path` (UTF-8, ends with 0): beside it first, as `path`.part, and under
 * its name when it is whole and on disk, so that an older file stays until then. Look-ups are not disturbed;
 * writers wait for slices of about 200 us.
 *
 * Take the watermarks before the call. Changes during it are in the file or not, block by block; after loading,
 * apply the events behind the watermarks again, in order: the answers are then those of an index that never
 * stopped, as long as an engine hash means one block. Slots that are opened or closed during the call are not
 * in the file; events that wait for their parent (orphans) never are.
 *
 * `slots`: labels; those of slots that are not open are ignored. `message`: NULL with capacity 0, or gets, on
 * KVI_E_IO, what failed, cut to fit, ending with 0. O(index). */
int32_t kvi_snapshot_save(const kvi_index* index, const char* path, const kvi_watermark* watermarks,
                          uint32_t watermark_count, const kvi_snapshot_slot* slots, uint32_t slot_count,
                          kvi_snapshot_info* out, char* message, uint32_t message_capacity);

/* Takes up a snapshot, in an index that never had a slot, else KVI_E_ARGUMENT. Must not run beside another call
 * on the same handle. Refused for any damage with KVI_E_DAMAGED and a message that says what, and at which
 * byte; for a file of another version, that. KVI_E_CAPACITY when there is more than room (KVI_MAX_WATERMARKS,
 * KVI_MAX_SLOTS always do). After anything but KVI_OK the index is as it was. Slots come ascending by number.
 * O(file); needs memory for the file beside the index. */
int32_t kvi_snapshot_load(kvi_index* index, const char* path, kvi_watermark* out_watermarks,
                          uint32_t watermark_capacity, kvi_snapshot_slot* out_slots, uint32_t slot_capacity,
                          kvi_snapshot_info* out, char* message, uint32_t message_capacity);

#ifdef __cplusplus
} /* extern "C" */

static_assert(sizeof(kvi_event) == 40 && offsetof(kvi_event, parent) == 24, "kvi_event layout");
static_assert(sizeof(kvi_applied) == 40, "kvi_applied layout");
static_assert(sizeof(kvi_hit) == 20, "kvi_hit layout");
static_assert(sizeof(kvi_tier_blocks) == 32, "kvi_tier_blocks layout");
static_assert(sizeof(kvi_statistics) == 120, "kvi_statistics layout");
static_assert(sizeof(kvi_config) == 56, "kvi_config layout");
static_assert(sizeof(kvi_query) == 24, "kvi_query layout");
static_assert(sizeof(kvi_looked) == 8, "kvi_looked layout");
static_assert(sizeof(kvi_cost) == 88, "kvi_cost layout");
static_assert(sizeof(kvi_choice) == 32, "kvi_choice layout");
static_assert(sizeof(kvi_best_found) == 16, "kvi_best_found layout");
static_assert(sizeof(kvi_watermark) == 16, "kvi_watermark layout");
static_assert(sizeof(kvi_snapshot_slot) == 24, "kvi_snapshot_slot layout");
static_assert(sizeof(kvi_snapshot_info) == 48, "kvi_snapshot_info layout");
#endif

#endif
