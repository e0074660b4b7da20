/*
 * A toy engine with a KV cache of a few blocks: where a real one calls the publisher, and what it says.
 *
 *   kvpublisher_engine [--endpoint tcp://127.0.0.1:0] [--replay tcp://127.0.0.1:0 | --no-replay] [--blocks 64]
 *                      [--block-size 4] [--rank 0] [--topic T] [--queue N] [--keep N]
 *
 * Says `ready PORT REPLAY-PORT`, then reads lines:
 *   1 2 3 ...   a prompt's token ids: computes the blocks that are not cached    -> cached C computed N evicted
 * E clear       empties the cache                                                -> cleared burst N     N
 * prompts of one block each, as fast as it can                   -> burst N dropped D stats       -> events E
 * batches B dropped D lost L kept K replays R subscribers S quit        or the end of input: sends what is
 * left, ends
 */
#include "kvpublisher.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 65536, LINE = 1 << 20 };

/* A cached block. Of a prompt, an earlier block is always used later than those behind it, so the block that
 * was used longest ago has no child left. */
typedef struct cached_block {
    uint64_t id;
    uint64_t used; /* 0: this place is free */
} cached_block;

typedef struct engine {
    kvp_publisher* publisher;
    cached_block* cache;
    uint32_t room;
    uint32_t block_size;
    uint64_t clock;
} engine;

static void fail(const char* what, int32_t status) {
    fprintf(stderr, "kvpublisher_engine: %s: status %d (%s)\n", what, (int)status, strerror(errno));
    exit(1);
}

static void check(const char* what, int32_t status) {
    if (status != KVP_OK) {
        fail(what, status);
    }
}

static cached_block* find(engine* e, uint64_t id) {
    for (uint32_t i = 0; i < e->room; i++) {
        if (e->cache[i].used != 0 && e->cache[i].id == id) {
            return &e->cache[i];
        }
    }
    return NULL;
}

/* A free place; when there is none, the block that was used longest ago goes, and the router is told. */
static cached_block* make_room(engine* e, uint32_t* evicted) {
    cached_block* oldest = &e->cache[0];
    for (uint32_t i = 0; i < e->room; i++) {
        if (e->cache[i].used < oldest->used) {
            oldest = &e->cache[i];
        }
    }
    if (oldest->used != 0) {
        check("kvp_removed", kvp_removed(e->publisher, &oldest->id, 1, KVP_TIER_GPU));
        oldest->used = 0;
        ++*evicted;
    }
    return oldest;
}

static void run(engine* e, const uint32_t* tokens, uint32_t n, int quiet) {
    uint32_t blocks = n / e->block_size;
    if (blocks > e->room) {
        blocks = e->room;
    }
    uint32_t cached = 0;
    uint32_t evicted = 0;
    uint64_t parent = 0;
    e->clock += blocks + 1;
    for (uint32_t i = 0; i < blocks; i++) {
        kvp_blocks block = {.size = sizeof block,
                            .count = 1,
                            .block_size = e->block_size,
                            .tier = KVP_TIER_GPU,
                            .has_parent = i > 0,
                            .parent = parent,
                            .tokens = tokens + (size_t)i * e->block_size};
        uint64_t id = 0;
        check("kvp_block_ids", kvp_block_ids(&block, &id));
        cached_block* found = find(e, id);
        if (found != NULL) {
            cached++;
        } else {
            found = make_room(e, &evicted);
            found->id = id;
            check("kvp_stored", kvp_stored(e->publisher, &block, NULL));
        }
        found->used = e->clock - i;
        parent = id;
    }
    if (!quiet) {
        printf("cached %" PRIu32 " computed %" PRIu32 " evicted %" PRIu32 "\n", cached, blocks - cached,
               evicted);
    }
}

static kvp_statistics stats_of(engine* e) {
    kvp_statistics s;
    check("kvp_stats", kvp_stats(e->publisher, &s, sizeof s));
    return s;
}

static void burst(engine* e, uint32_t prompts) {
    static uint32_t token = 1000000;
    uint32_t tokens[256] = {0};
    for (uint32_t i = 0; i < prompts; i++) {
        tokens[0] = token++;
        run(e, tokens, e->block_size, 1);
    }
    printf("burst %" PRIu32 " dropped %" PRIu64 "\n", prompts, stats_of(e).dropped_batches);
}

static int command(engine* e, char* line, uint32_t* tokens) {
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "quit") == 0) {
        return 0;
    }
    if (strcmp(line, "clear") == 0) {
        for (uint32_t i = 0; i < e->room; i++) {
            e->cache[i].used = 0;
        }
        check("kvp_cleared", kvp_cleared(e->publisher));
        puts("cleared");
    } else if (strncmp(line, "burst ", 6) == 0) {
        burst(e, (uint32_t)strtoul(line + 6, NULL, 10));
    } else if (strcmp(line, "stats") == 0) {
        const kvp_statistics s = stats_of(e);
        printf("events %" PRIu64 " batches %" PRIu64 " dropped %" PRIu64 " lost %" PRIu64 " kept %" PRIu64
               " replays %" PRIu64 " subscribers %" PRIu32 "\n",
               s.events, s.batches, s.dropped_batches, s.lost_events, s.kept_batches, s.replays, s.subscribers);
    } else {
        uint32_t n = 0;
        char* at = line;
        while (n < MOST_TOKENS) {
            char* end = at;
            const unsigned long token = strtoul(at, &end, 10);
            if (end == at) {
                break;
            }
            tokens[n++] = (uint32_t)token;
            at = end;
        }
        run(e, tokens, n, 0);
    }
    return 1;
}

int main(int argc, char** argv) {
    kvp_options options = {.size = sizeof options,
                           .endpoint = "tcp://127.0.0.1:0",
                           .replay_endpoint = "tcp://127.0.0.1:0",
                           .batch_events = 1};
    engine e = {.room = 64, .block_size = 4};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-replay") == 0) {
            options.replay_endpoint = "";
            continue;
        }
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
        if (strcmp(argv[i], "--endpoint") == 0) {
            options.endpoint = value;
        } else if (strcmp(argv[i], "--replay") == 0) {
            options.replay_endpoint = value;
        } else if (strcmp(argv[i], "--topic") == 0) {
            options.topic = value;
        } else if (strcmp(argv[i], "--rank") == 0) {
            options.dp_rank = number;
        } else if (strcmp(argv[i], "--queue") == 0) {
            options.queue_batches = number;
        } else if (strcmp(argv[i], "--keep") == 0) {
            options.replay_batches = number;
        } else if (strcmp(argv[i], "--blocks") == 0 && number > 0) {
            e.room = number;
        } else if (strcmp(argv[i], "--block-size") == 0 && number > 0 && number <= 256) {
            e.block_size = number;
        } else {
            fprintf(stderr, "kvpublisher_engine: what is %s %s?\n", argv[i], value);
            return 2;
        }
        i++;
    }
    e.cache = calloc(e.room, sizeof *e.cache);
    uint32_t* tokens = malloc(MOST_TOKENS * sizeof *tokens);
    char* line = malloc(LINE);
    if (e.cache == NULL || tokens == NULL || line == NULL) {
        fail("memory", KVP_E_MEMORY);
    }
    check("kvp_create", kvp_create(&options, &e.publisher));
    setvbuf(stdout, NULL, _IOLBF, 0);
    const kvp_statistics s = stats_of(&e);
    printf("ready %u %u\n", (unsigned)s.port, (unsigned)s.replay_port);
    while (fgets(line, LINE, stdin) != NULL && command(&e, line, tokens)) {
    }
    check("kvp_close", kvp_close(e.publisher, 2000));
    free(line);
    free(tokens);
    free(e.cache);
    return 0;
}
