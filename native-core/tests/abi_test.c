/* The header from C: it compiles, its layouts are what Java assumes, and the main job works end to end. */
#include "kvindex.h"
#include "kvtracker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(kvi_event) == 40, "kvi_event");
_Static_assert(offsetof(kvi_event, kind) == 4 && offsetof(kvi_event, tier) == 5, "kvi_event");
_Static_assert(offsetof(kvi_event, flags) == 6 && offsetof(kvi_event, slot) == 8, "kvi_event");
_Static_assert(offsetof(kvi_event, n) == 12 && offsetof(kvi_event, block_size) == 16, "kvi_event");
_Static_assert(offsetof(kvi_event, parent) == 24 && offsetof(kvi_event, seed) == 32, "kvi_event");
_Static_assert(sizeof(kvi_applied) == 40 && offsetof(kvi_applied, malformed) == 32, "kvi_applied");
_Static_assert(sizeof(kvi_hit) == 20 && offsetof(kvi_hit, depth) == 4, "kvi_hit");
_Static_assert(sizeof(kvi_statistics) == 120 && offsetof(kvi_statistics, bytes) == 40, "kvi_statistics");
_Static_assert(offsetof(kvi_statistics, ghosts) == 48 && offsetof(kvi_statistics, moves) == 56,
               "kvi_statistics");
_Static_assert(offsetof(kvi_statistics, decisions) == 96, "kvi_statistics");
_Static_assert(sizeof(kvi_config) == 56 && offsetof(kvi_config, ghost_percent) == 4, "kvi_config");
_Static_assert(offsetof(kvi_config, orphan_limit) == 8 && offsetof(kvi_config, max_blocks) == 16, "kvi_config");
_Static_assert(offsetof(kvi_config, byte_budget) == 24 && offsetof(kvi_config, query_budget) == 48,
               "kvi_config");
_Static_assert(offsetof(kvi_config, decision_ttl) == 32 && offsetof(kvi_config, decision_capacity) == 40,
               "kvi_config");
_Static_assert(sizeof(kvi_query) == 24 && offsetof(kvi_query, count) == 8, "kvi_query");
_Static_assert(offsetof(kvi_query, name_space) == 12 && offsetof(kvi_query, budget) == 16, "kvi_query");
_Static_assert(sizeof(kvi_looked) == 8 && offsetof(kvi_looked, steps) == 4, "kvi_looked");
_Static_assert(sizeof(kvi_cost) == 88 && offsetof(kvi_cost, pool_credit) == 32, "kvi_cost");
_Static_assert(offsetof(kvi_cost, added) == 72 && offsetof(kvi_cost, most_cached) == 80, "kvi_cost");
_Static_assert(sizeof(kvi_choice) == 32 && offsetof(kvi_choice, slot) == 8, "kvi_choice");
_Static_assert(offsetof(kvi_choice, depth) == 12, "kvi_choice");
_Static_assert(sizeof(kvi_best_found) == 16 && offsetof(kvi_best_found, how) == 8, "kvi_best_found");

_Static_assert(sizeof(kvt_config) == 24 && offsetof(kvt_config, max_blocks) == 16, "kvt_config");
_Static_assert(sizeof(kvt_hit) == 8 && offsetof(kvt_hit, blocks) == 4, "kvt_hit");
_Static_assert(sizeof(kvt_statistics) == 32 && offsetof(kvt_statistics, evicted) == 24, "kvt_statistics");

#define CHECK(condition)                                                                                       \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                      \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

enum { BLOCK = 16, BLOCKS = 3, SPACE = 1 };

int main(void) {
    uint32_t version = 0;
    char lacks[64] = "?";
    CHECK(kvi_cpu_lacks(lacks, sizeof lacks) == KVI_OK && kvi_cpu_lacks(NULL, 1) == KVI_E_ARGUMENT);
    if (lacks[0] != 0) {
        printf("this CPU lacks %s\n", lacks);
        return 3;
    }
    CHECK(kvi_abi_version(&version) == KVI_OK && version == KVI_ABI_VERSION);

    kvi_index* index = NULL;
    const kvi_config config = {.size = sizeof config, .ghost_percent = 101, .max_blocks = 1u << 18};
    CHECK(kvi_open(&config, &index) == KVI_OK);
    uint32_t slot = 99;
    uint32_t bound = 99;
    CHECK(kvi_slot_bound(index, &bound) == KVI_OK && bound == 0);
    CHECK(kvi_slot_open(index, 7, SPACE, &slot) == KVI_OK && slot == 0);
    CHECK(kvi_slot_bound(index, &bound) == KVI_OK && bound == 64);

    uint32_t tokens[BLOCK * BLOCKS + 5];
    for (uint32_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        tokens[i] = i;
    }
    uint64_t seed = 0;
    CHECK(kvi_seed((const uint8_t*)"adapter-a", 9, NULL, 0, &seed) == KVI_OK);
    CHECK(seed == 8842669519798868182u);

    struct {
        kvi_event head;
        uint64_t names[BLOCKS];
        uint32_t tokens[BLOCK * BLOCKS];
        kvi_event gone;
        uint64_t gone_name;
    } buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.head.size = (uint32_t)offsetof(__typeof__(buffer), gone);
    buffer.head.kind = KVI_STORED_TOKENS;
    buffer.head.slot = slot;
    buffer.head.n = BLOCKS;
    buffer.head.block_size = BLOCK;
    buffer.head.seed = seed;
    for (uint64_t i = 0; i < BLOCKS; i++) {
        buffer.names[i] = 500 + i;
    }
    memcpy(buffer.tokens, tokens, sizeof buffer.tokens);
    buffer.gone.size = (uint32_t)(sizeof(kvi_event) + sizeof(uint64_t));
    buffer.gone.kind = KVI_REMOVED;
    buffer.gone.slot = slot;
    buffer.gone.n = 1;
    buffer.gone_name = 502;

    kvi_applied applied;
    CHECK(kvi_apply(index, &buffer, buffer.head.size, &applied) == KVI_OK);
    CHECK(applied.applied == 1 && applied.malformed == 0);

    const uint32_t count = (uint32_t)(sizeof tokens / sizeof *tokens);
    uint64_t sequence[BLOCKS] = {0};
    kvi_hit hit;
    uint32_t hits = 0;
    CHECK(kvi_match_tokens(index, SPACE, tokens, count, BLOCK, seed, sequence, BLOCKS, &hit, 1, &hits) ==
          KVI_OK);
    CHECK(hits == 1 && hit.slot == slot && hit.depth[KVI_TIER_GPU] == BLOCKS);
    CHECK(kvi_match_tokens(index, SPACE, tokens, count, BLOCK, 1337, NULL, 0, &hit, 1, &hits) == KVI_OK);
    CHECK(hits == 0); /* another adapter, other content */

    uint64_t locals[BLOCKS];
    uint64_t again[BLOCKS];
    uint32_t blocks = 0;
    CHECK(kvi_hash(tokens, count, BLOCK, seed, locals, again, BLOCKS, &blocks) == KVI_OK);
    CHECK(blocks == BLOCKS && memcmp(sequence, again, sizeof again) == 0 && again[0] == locals[0]);

    CHECK(kvi_apply(index, &buffer.gone, buffer.gone.size, &applied) == KVI_OK);
    CHECK(kvi_match_locals(index, SPACE, locals, BLOCKS, &hit, 1, &hits) == KVI_OK);
    CHECK(hits == 1 && hit.depth[KVI_TIER_EXTERNAL] == BLOCKS - 1);

    CHECK(kvi_match_locals(index, SPACE + 1, locals, BLOCKS, &hit, 1, &hits) == KVI_OK && hits == 0);

    uint32_t depths[64 * KVI_TIERS];
    CHECK(kvi_match_dense(index, SPACE, locals, BLOCKS, KVI_TIERS, depths, 64) == KVI_OK);
    for (uint32_t t = 0; t < KVI_TIERS; t++) {
        CHECK(depths[64 * t] == BLOCKS - 1 && depths[64 * t + 1] == 0);
    }
    CHECK(kvi_match_dense(index, SPACE, locals, BLOCKS, 1, depths, 0) == KVI_E_CAPACITY);

    const kvi_query queries[2] = {{.count = BLOCKS, .name_space = SPACE},
                                  {.offset = 1, .count = BLOCKS - 1, .name_space = SPACE, .budget = 9}};
    uint32_t rows[2 * 64];
    kvi_looked looked[2];
    CHECK(kvi_match_batch(index, queries, 2, locals, BLOCKS, 1, rows, 64, looked) == KVI_OK);
    CHECK(rows[0] == BLOCKS - 1 && rows[64] == 0 && looked[0].cut_short == 0 && looked[0].steps > 0);

    double prefill[64] = {0};
    double base[64] = {0};
    prefill[0] = 8; /* blocks booked; 3 blocks come, 2 of them are cached */
    base[0] = 10;
    const kvi_cost cost = {.credit = {1, 0.75, 0.25, 0.25},
                           .prompt = BLOCKS,
                           .block = 1,
                           .unit = 1,
                           .weight = 2,
                           .added = 0.5,
                           .most_cached = BLOCKS};
    kvi_choice choices[2];
    kvi_best_found found;
    CHECK(kvi_best(index, queries, 1, locals, BLOCKS, &cost, prefill, base, 64, 2, choices, &found) == KVI_OK);
    CHECK(found.count == 1 && found.ties == 1 && found.how.cut_short == 0); /* one slot is open */
    CHECK(choices[0].slot == 0 && choices[0].cost == 2 * (8 + 3 - 2) + 10.5);
    CHECK(choices[0].depth[KVI_TIER_GPU] == BLOCKS - 1);

    kvi_tier_blocks held[64];
    uint32_t slots = 0;
    CHECK(kvi_slot_blocks(index, held, 64, &slots) == KVI_OK && slots == 64);
    CHECK(held[0].blocks[KVI_TIER_GPU] + held[0].blocks[KVI_TIER_HOST] + held[0].blocks[KVI_TIER_DISK] +
              held[0].blocks[KVI_TIER_EXTERNAL] ==
          BLOCKS - 1);
    CHECK(held[1].blocks[KVI_TIER_GPU] == 0);
    CHECK(kvi_slot_blocks(index, held, 63, &slots) == KVI_E_CAPACITY);
    CHECK(kvi_slot_blocks(index, NULL, 64, &slots) == KVI_E_ARGUMENT);

    kvi_statistics stats;
    CHECK(kvi_stats(index, &stats) == KVI_OK);
    CHECK(stats.slots == 1 && stats.blocks == BLOCKS - 1 && stats.residencies == BLOCKS - 1);
    CHECK(stats.runs == 1 && stats.bytes > 0 && stats.ghosts == 0);
    CHECK(kvi_slot_close(index, slot) == KVI_OK && kvi_slot_close(index, slot) == KVI_E_SLOT);
    CHECK(kvi_slot_open(index, 7, SPACE, &slot) == KVI_OK);
    CHECK((slot & KVI_SLOT_NUMBER) == 0 && slot != 0); /* another incarnation */
    CHECK(kvi_stats(index, &stats) == KVI_OK && stats.blocks == 0);
    CHECK(kvi_close(index) == KVI_OK && kvi_close(NULL) == KVI_OK);
    for (int32_t status = -8; status <= 1; status++) {
        CHECK(strlen(kvi_status_text(status)) > 0);
    }
    puts("ok");
    return 0;
}
