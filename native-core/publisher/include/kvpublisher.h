/*
 * kvpublisher: tells a KV-cache-aware router which blocks an engine holds. C ABI, no dependency.
 *
 * The engine calls kvp_stored, kvp_removed and kvp_cleared where it changes its cache. A thread of the
 * publisher numbers the events in batches and serves them over ZeroMQ's own protocol (ZMTP 3.0, TCP or unix
 * socket), in the shape that SGLang and vLLM publish: a PUB socket with [topic, sequence, batch], a ROUTER
 * socket that sends the newest batches again on request. See src/docs/how-to/publisher.md.
 *
 * Conventions
 *  1. Handles are opaque pointers; NULL is refused with KVP_E_ARGUMENT, never dereferenced.
 *  2. Every function returns int32_t: KVP_OK (0) or a negative kvp_status. Results go through out
 *     parameters and are written only on success.
 *  3. No exception crosses. Everything handed in is checked; a refused event leaves no trace.
 *  4. The caller owns every buffer; nothing is kept after the call returns; no callback.
 *  5. Threads: everything from any thread. Events reach a router in the order of the calls; of calls that
 *     run at once, in either order. kvp_close must not run beside another call on the same handle.
 *  6. No call but kvp_create and kvp_close waits for the network or for a router: an event costs its
 *     encoding into memory under a lock that is never held over a system call. Memory is bounded:
 *     replay_bytes, and for each router 256 KiB and one batch of what is on its way.
 *  7. Nothing is lost silently. A router that reads too slowly is not sent the oldest batches of its queue
 *     (dropped_batches); it sees the gap in the numbers and asks for them again. When memory runs out, a
 *     number is left out for good (lost_events), so that routers forget what they can no longer rely on.
 *  8. After fork() the child must not use a handle of its parent.
 */
#ifndef WARMPATH_KVPUBLISHER_H
#define WARMPATH_KVPUBLISHER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVP_ABI_VERSION 1u

#define KVP_MAX_BLOCKS 1048576u   /* of one event */
#define KVP_MAX_TOKENS 4194304u   /* of one event: count * block_size */
#define KVP_MAX_BLOCK_SIZE 65536u /* tokens per block */
#define KVP_MAX_TEXT 4096u        /* bytes of a topic, an adapter's name, a salt */
#define KVP_MAX_BATCHES 1048576u  /* replay_batches */

/* Where blocks lie; on the wire GPU, CPU_PINNED, DISK, EXTERNAL. */
#define KVP_TIER_GPU 0u
#define KVP_TIER_HOST 1u
#define KVP_TIER_DISK 2u
#define KVP_TIER_EXTERNAL 3u

typedef enum kvp_status {
    KVP_OK = 0,
    KVP_E_ARGUMENT = -1, /* NULL, zero, out of range, a text that is not UTF-8 */
    KVP_E_MEMORY = -2,   /* out of memory; routers then know too little, never too much */
    KVP_E_ADDRESS = -3,  /* an endpoint that is malformed or cannot be bound, see kvp_create */
    KVP_E_INTERNAL = -4  /* no thread, no descriptor */
} kvp_status;

typedef struct kvp_publisher kvp_publisher;

/* How to publish. `size` = sizeof(kvp_options) of the caller; every other 0 or NULL means the default. */
typedef struct kvp_options {
    uint32_t size;
    uint32_t dp_rank;            /* data-parallel rank of this process; each rank has a publisher */
    const char* endpoint;        /* tcp://HOST:PORT, ipc://PATH; HOST * = all, PORT 0 = any; port 5557, all */
    const char* replay_endpoint; /* the same; "" = no replay: after a gap routers forget; port 5558, all */
    const char* topic;           /* first frame of every message; empty */
    uint64_t replay_bytes;       /* most bytes of batches that are kept; 256 MiB */
    uint32_t replay_batches;     /* most batches that are kept for replay; 10000 */
    uint32_t queue_batches;      /* how far a router may be behind before batches are dropped; replay_batches */
    uint32_t batch_events;       /* most events of one batch; 64 */
    uint32_t reserved;           /* 0 */
} kvp_options;

/* Consecutive blocks of one prompt. `size` = sizeof(kvp_blocks) of the caller. */
typedef struct kvp_blocks {
    uint32_t size;
    uint32_t count;      /* 1..KVP_MAX_BLOCKS */
    uint32_t block_size; /* tokens per block, 1..KVP_MAX_BLOCK_SIZE */
    uint8_t tier;        /* KVP_TIER_... */
    uint8_t has_parent;  /* 1: `parent` names the block before the first one; 0: the start of a prompt */
    uint16_t reserved;   /* 0 */
    uint64_t parent;
    const uint64_t* ids;    /* `count` names, none 0; NULL: those of kvp_block_ids */
    const uint32_t* tokens; /* count * block_size token ids */
    const char* lora;       /* adapter's name; NULL: none */
    const char* salt;       /* cache salt of the request; NULL: none */
} kvp_blocks;

typedef struct kvp_statistics {
    uint64_t events;           /* taken since the beginning */
    uint64_t batches;          /* numbered since the beginning: the next one's sequence */
    uint64_t dropped_batches;  /* not sent to a router that was too slow, summed over routers */
    uint64_t lost_events;      /* for want of memory */
    uint64_t kept_batches;     /* for replay, now */
    uint64_t kept_bytes;       /* of them */
    uint64_t replays;          /* answered */
    uint64_t replayed_batches; /* sent again */
    uint32_t subscribers;      /* now */
    uint16_t port;             /* bound; 0 for a unix socket */
    uint16_t replay_port;      /* bound; 0 for a unix socket, or when there is none */
} kvp_statistics;

/* KVP_ABI_VERSION of the library. O(1). */
int32_t kvp_abi_version(uint32_t* out_version);

/* Binds the endpoints and starts the thread. KVP_E_ADDRESS leaves the system's reason in errno (EINVAL:
 * malformed). May wait for a name server when HOST is a name. */
int32_t kvp_create(const kvp_options* options, kvp_publisher** out);

/* The names of blocks whose engine has none of its own: the same in every process and on every machine for the
 * same tokens, parent, adapter and salt (src/docs/how-to/publisher.md). `ids` is not looked at. O(tokens). */
int32_t kvp_block_ids(const kvp_blocks* blocks, uint64_t* out_ids);

/* These blocks came into a tier. Blocks that move to a slower tier: first kvp_stored there, then kvp_removed
 * from the faster one. out_ids: NULL, or room for `count` names. O(tokens). */
int32_t kvp_stored(kvp_publisher* publisher, const kvp_blocks* blocks, uint64_t* out_ids);

/* These blocks left a tier. O(count). */
int32_t kvp_removed(kvp_publisher* publisher, const uint64_t* ids, uint32_t count, uint32_t tier);

/* Every block of every tier is gone. */
int32_t kvp_cleared(kvp_publisher* publisher);

/* `size` = sizeof(kvp_statistics) of the caller. */
int32_t kvp_stats(kvp_publisher* publisher, kvp_statistics* out, uint32_t size);

/* Sends what routers have not read yet, for at most `linger_millis`, and ends. The handle is gone in any case.
 */
int32_t kvp_close(kvp_publisher* publisher, uint32_t linger_millis);

#ifdef __cplusplus
}
#endif
#endif
